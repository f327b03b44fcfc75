// #region page
// lib/page.ts: what is at the path of a page, once for each request
import { draftMode } from "next/headers";
import { cache } from "react";
import { map } from "./map";

export const resolve = cache(async (pathname: string) => {
  const { isEnabled: draft } = await draftMode();
  const page = await map.resolve(pathname, { draft });
  // A page that has no draft at this path, such as one outside the CMS.
  return draft && page.kind === "none" ? map.resolve(pathname) : page;
});
// #endregion page
