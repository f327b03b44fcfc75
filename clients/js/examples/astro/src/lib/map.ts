// src/lib/map.ts: one client for all requests
import { createFrontendMap } from "frontend-map-client";

export const map = createFrontendMap({
  url: process.env.FRONTEND_MAP_URL ?? "http://127.0.0.1:8080",
  site: "main",
  token: process.env.FRONTEND_MAP_TOKEN, // only for drafts
  timeoutMs: 1_000,
  lastGood: 10_000,
});
