// server/middleware/pages.ts: redirects, 404s and sitemap files
import { middleware } from "frontend-map-client/nuxt";

export default defineEventHandler(middleware(map, { locales: ["en", "de"], redirectRoot: true }));
