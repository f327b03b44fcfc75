/** Each marked line does not compile. */
import { createFrontendMap, type DocumentPage } from "frontend-map-client";
import { loader, strapi } from "frontend-map-client/load";

const map = createFrontendMap({ url: "http://127.0.0.1:8080", site: "main" });

export async function forgetsAContentType(path: string): Promise<string> {
  const page = await map.resolve(path);
  if (page.kind !== "document") return page.kind;
  const { matched } = page;
  const uid = matched.collectionType;
  switch (uid) {
    case "api::article.article":
      return matched.params.slug;
    default:
      return uid satisfies never; // error
  }
}

export async function forgetsAKind(path: string): Promise<string> {
  const page = await map.resolve(path);
  switch (page.kind) {
    case "document":
    case "page":
    case "none":
      return page.kind;
    default:
      return page satisfies never; // error
  }
}

export async function forgetsARule(path: string): Promise<string> {
  const page = await map.resolve(path);
  if (page.contentType !== "api::page.page") return page.kind;
  return page.matched.params.section; // error
}

export async function forgetsAPageOutside(path: string): Promise<string> {
  const page = await map.resolve(path);
  if (page.kind !== "page" || page.page === "home") return page.kind;
  return page.page satisfies never; // error
}

const article = ({ documentId }: DocumentPage<"main", "api::article.article">) => documentId;
export async function takesAnyDocument(path: string): Promise<string> {
  const page = await map.resolve(path);
  return page.kind === "document" ? article(page) : ""; // error
}

const load = loader(map, { content: { "api::article.article": strapi<{ title: string }>({ url: "" }) } });
export async function contentOf(path: string): Promise<string> {
  const page = await load(path);
  if (page.contentType === "api::page.page") return page.content.title; // error
  return page.contentType === "api::article.article" ? page.content.title : ""; // error
}

loader(map, { content: { "api::gallery.gallery": async () => ({}) } }); // error
map.pages({ filter: (page) => page.page === "searhc" }); // error
createFrontendMap({ url: "http://127.0.0.1:8080", site: "other" }); // error
map.resolve("/x", { locale: "fr" }); // error
map.url({ uid: "api::gallery.gallery", documentId: "a" }); // error
map.links({}, { relations: { items: "api::gallery.gallery" } }); // error
