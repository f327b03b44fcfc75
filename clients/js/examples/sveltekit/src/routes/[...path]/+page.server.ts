// src/routes/[...path]/+page.server.ts: what a page shows, by content type
import { error } from "@sveltejs/kit";
import type { DocumentPage } from "frontend-map-client";
import { document, documents } from "../../../../shared/content.ts";
import { texts } from "../../../../shared/texts.ts";
import { map } from "$lib/server/map";
import type { PageServerLoad } from "./$types";

export const load: PageServerLoad = async ({ locals: { page } }) => {
  switch (page.kind) {
    case "document":
      return { page, ...(await content(page)) };
    case "page": { // outside the CMS
      const { home, welcome, articles } = texts(page.locale);
      if (page.page === "articles") return { page, type: page.page, title: articles, list: await links(page.locale) };
      return { page, type: page.page, title: home, body: welcome, list: await links(page.locale, 3) };
    }
    default: // the hook has sent redirects
      error(404);
  }
};

async function content({ contentType: type, documentId, locale }: DocumentPage) {
  const found = (await document(type, documentId, { locale })) ?? error(404);
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
