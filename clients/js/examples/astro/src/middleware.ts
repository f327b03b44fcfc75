// src/middleware.ts: redirects, 404s, sitemap files, and Astro.locals.page
import { middleware } from "frontend-map-client/astro";
import { map } from "./lib/map.ts";
import { seesDrafts } from "./lib/preview.ts";

export const onRequest = middleware(map, { draft: seesDrafts });
