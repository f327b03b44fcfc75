// src/middleware.ts: redirects, 404s, sitemap files, Astro.locals.page and Astro.locals.locale
import { middleware } from "frontend-map-client/astro";
import { map } from "./lib/map.ts";
import { seesDrafts } from "./lib/preview.ts";

export const onRequest = middleware(map, { locales: ["en", "de"], redirectRoot: true, draft: seesDrafts });
