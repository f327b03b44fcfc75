/** Uses every function as a frontend does; compiles. */
import { createFrontendMap, type FrontendMapError } from "frontend-map-client";

const map = createFrontendMap({ url: "http://127.0.0.1:8080", site: "main", timeoutMs: 1_000, lastGood: 10 });

export async function titleOf(path: string): Promise<string> {
  const page = await map.resolve(path, { locale: "de" });
  const reason: FrontendMapError["reason"] | undefined = page.lastGood?.error.reason;
  switch (page.kind) {
    case "document":
      return `${titleOfDocument(page.matched)} ${page.canonicalUrl} ${reason}`;
    case "page":
      return page.page;
    case "redirect":
      return page.redirect.to ?? page.redirect.path;
    case "none":
      return page.gone?.since ?? "none";
    default:
      return page satisfies never;
  }
}

type Matched = Extract<Awaited<ReturnType<typeof map.resolve>>, { kind: "document" }>["matched"];

function titleOfDocument(matched: Matched): string {
  const uid = matched.collectionType;
  switch (uid) {
    case "api::article.article":
      return matched.params.slug;
    case "api::page.page":
      return matched.params.path;
    default:
      return uid satisfies never;
  }
}

export async function all(request: Request): Promise<unknown[]> {
  const linked = await map.links(
    { documentId: "a", items: [{ documentId: "b" }] },
    { uid: "api::article.article", relations: { items: "api::page.page" } },
  );
  const href: string | null | undefined = linked.items[0]?.href;
  const params: { locale: string; path: string[] }[] = await map.pages().toStaticParams("/{locale}/{*path}");
  const event = await map.verifyWebhook(request, "whsec_");
  const paths: string[] = event.data.changes.flatMap(({ path, from }) => (from ? [path, from] : [path]));
  const { url } = await map.url({ uid: "api::page.page", documentId: "a", locale: "en" }, { draft: true });
  return [href, params, paths, url, await map.sitemap(request), (await map.changes({ since: "0" })).cursor];
}
