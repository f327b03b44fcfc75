/** A frontend that declares no sites: every key, locale and content type is a text. */
import { createFrontendMap } from "frontend-map-client";

export async function slugOf(path: string, site: string): Promise<string | undefined> {
  const map = createFrontendMap({ url: "http://127.0.0.1:8080", site });
  const page = await map.resolve(path, { locale: "fr" });
  const { url } = await map.url({ uid: "api::gallery.gallery", documentId: "a" });
  for await (const row of map.pages()) if (row.page === path) return row.path;
  if (page.contentType === "api::gallery.gallery") return page.matched.params.slug;
  return page.kind === "document" ? page.matched.params.slug : url ?? undefined;
}
