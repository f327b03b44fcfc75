// #region page
// lib/page.ts: the page at a path with its content, once for each request
import { loader, strapi } from "frontend-map-client/load";
import { draftMode } from "next/headers";
import { cache } from "react";
import { demo, type Document } from "../../shared/content";
import { build, map } from "./map";

const { STRAPI_URL: url = "", STRAPI_TOKEN: token } = process.env;
/** Kept by Next.js with the tags of the page. */
const init = { next: { revalidate: 60 } };

const loadPage = loader(map, {
  content: {
    "api::article.article": demo ?? strapi<Document>({ url, token, init }),
    "api::page.page": demo ?? strapi<Document>({ url, token, init }),
  },
  timeoutMs: build ? 60_000 : 3_000,
});

export const load = cache(async (pathname: string) => {
  const { isEnabled: draft } = await draftMode();
  return loadPage(pathname, { draft });
});

export type Loaded = Awaited<ReturnType<typeof load>>;
// #endregion page
