/** Each marked line does not compile. */
import { createFrontendMap } from "frontend-map-client";

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

createFrontendMap({ url: "http://127.0.0.1:8080", site: "other" }); // error
map.resolve("/x", { locale: "fr" }); // error
map.url({ uid: "api::gallery.gallery", documentId: "a" }); // error
map.links({}, { relations: { items: "api::gallery.gallery" } }); // error
