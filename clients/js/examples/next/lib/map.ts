// #region map
// lib/map.ts: one client for all requests, in server code
import { createFrontendMap } from "frontend-map-client";

/** The cache tag of all results of the service. */
export const TAG = "frontend-map";

/** Whether this is `next build`, for which nobody waits. */
export const build = process.env.NEXT_PHASE === "phase-production-build";

export const map = createFrontendMap({
  url: process.env.FRONTEND_MAP_URL ?? "http://127.0.0.1:8080",
  site: "main",
  token: process.env.FRONTEND_MAP_TOKEN, // only for drafts
  timeoutMs: 1_000,
  lastGood: 10_000,
  build,
  init: { next: { tags: [TAG], revalidate: 60 } },
});
// #endregion map
