// #region page
// lib/page.ts: the page at a path with its content
import { caching } from "frontend-map-client/next";
import { loader, strapi } from "frontend-map-client/load";
import { cacheLife, cacheTag } from "next/cache";
import { draftMode } from "next/headers";
import { demo, type Document } from "../../shared/content";
import { build, map, TAG } from "./map";

/** In a function with "use cache": its tags and its lifetime. */
export const cached = caching({ tag: TAG, cacheTag, cacheLife });

const { STRAPI_URL: url = "", STRAPI_TOKEN: token } = process.env;

const loadPage = loader(map, {
  content: {
    "api::article.article": demo ?? strapi<Document>({ url, token }),
    "api::page.page": demo ?? strapi<Document>({ url, token }),
  },
  timeoutMs: build ? 60_000 : 3_000,
});

export async function load(pathname: string) {
  "use cache";
  const { isEnabled: draft } = await draftMode();
  const page = await loadPage(pathname, { draft });
  cached(page);
  return page;
}

export type Loaded = Awaited<ReturnType<typeof load>>;
// #endregion page
