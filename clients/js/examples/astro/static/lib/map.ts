// src/lib/map.ts of a static site
import { createFrontendMap } from "frontend-map-client";

export const map = createFrontendMap({
  url: process.env.FRONTEND_MAP_URL ?? "http://127.0.0.1:8080",
  site: "main",
  build: true, // takes its time, and nothing from before
});
