// src/lib/view.ts: what a page shows, by content type
import type { DocumentPage, PageOutside } from "frontend-map-client";
import { document, documents } from "../../../shared/content.ts";
import { texts } from "../../../shared/texts.ts";
import { map } from "./map.ts";

interface View {
  type: string;
  title: string;
  body?: string | undefined;
  list?: { title: string; href?: string | null }[];
}

/** Null if the document is gone from the CMS. */
export async function view(page: DocumentPage | PageOutside, draft: boolean): Promise<View | null> {
  const { locale } = page;
  switch (page.kind) {
    case "document": {
      const type = page.contentType;
      const found = await document(type, page.documentId, { locale, draft });
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
    case "page": { // outside the CMS
      const { home, welcome, articles } = texts(locale);
      if (page.page === "articles") return { type: page.page, title: articles, list: await links(locale, draft) };
      return { type: page.page, title: home, body: welcome, list: await links(locale, draft, 3) };
    }
  }
}

/** Links to articles: one request to the service, however many they are. */
async function links(locale: DocumentPage["locale"], draft: boolean, limit?: number) {
  const uid = "api::article.article";
  return map.links(await documents(uid, { locale, draft }, limit), { uid, locale, href: "path" });
}
