// server/api/page.get.ts: what a page shows, by content type
import type { DocumentPage, Resolution } from "frontend-map-client";
import { pageData } from "frontend-map-client/nuxt";
import { document, documents } from "../../../shared/content";
import { texts } from "../../../shared/texts";

const resolve = pageData(map);

export default defineEventHandler(async (event) => {
  const page = await resolve(event);
  return { page, view: await view(page) };
});

async function view(page: Resolution<"main">) {
  switch (page.kind) {
    case "document":
      return content(page);
    case "page": { // outside the CMS
      const { home, welcome, articles } = texts(page.locale);
      if (page.page === "articles") return { type: page.page, title: articles, list: await links(page.locale) };
      return { type: page.page, title: home, body: welcome, list: await links(page.locale, 3) };
    }
    default:
      return null;
  }
}

async function content({ contentType: type, documentId, locale }: DocumentPage) {
  const found = await document(type, documentId, { locale });
  if (!found) return null;
  switch (type) {
    case "api::article.article":
      return { type, title: found.title, body: found.body };
    case "api::page.page":
      return { type, title: found.title, body: found.body };
    default: // does not compile if a content type is forgotten
      return type satisfies never;
  }
}

/** Links to articles: one request to the service, however many they are. */
async function links(locale: DocumentPage["locale"], limit?: number) {
  const uid = "api::article.article";
  return map.links(await documents(uid, { locale }, limit), { uid, locale, href: "path" });
}
