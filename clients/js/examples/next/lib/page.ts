// #region page
// lib/page.ts: what is at the path of a page, once for each request
import { draftMode } from "next/headers";
import { cache } from "react";
import { map } from "./map";

export interface Params {
  locale: string;
  path?: string[];
}

export const resolve = cache(async (pathname: string) => {
  const { isEnabled: draft } = await draftMode();
  const page = await map.resolve(pathname, { draft });
  // A page that has no draft at this path, such as one outside the CMS.
  return draft && page.kind === "none" ? map.resolve(pathname) : page;
});

export const pathname = ({ locale, path = [] }: Params) => `/${[locale, ...path].map(encoded).join("/")}`;

/** Next.js passes segments as they are in a URL, but decoded to `generateMetadata` in a build. */
const encoded = (segment: string) =>
  /^([\w.~!$&'()*+,;=:@-]|%[\da-f]{2})*$/i.test(segment) ? segment : encodeURIComponent(segment);
// #endregion page
