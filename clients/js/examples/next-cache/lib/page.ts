// #region page
// lib/page.ts: what is at the path of a page
import { caching } from "frontend-map-client/next";
import { cacheLife, cacheTag } from "next/cache";
import { draftMode } from "next/headers";
import { map, TAG } from "./map";

/** In a function with "use cache": its tags and its lifetime. */
export const cached = caching({ tag: TAG, cacheTag, cacheLife });

export async function resolve(pathname: string) {
  "use cache";
  const { isEnabled: draft } = await draftMode();
  const page = await map.resolve(pathname, { draft });
  cached(page);
  // A page that has no draft at this path, such as one outside the CMS.
  return draft && page.kind === "none" ? map.resolve(pathname) : page;
}
// #endregion page
