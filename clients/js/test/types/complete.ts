/** Uses every function as a frontend does; compiles. */
import { createFrontendMap, type DocumentPage, type FrontendMapError, type Page } from "frontend-map-client";
import { loader, strapi } from "frontend-map-client/load";

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

type Main = DocumentPage<"main">;

function titleOfDocument(matched: Main["matched"]): string {
  const uid = matched.collectionType;
  switch (uid) {
    case "api::article.article":
      return matched.params.slug;
    case "api::page.page":
      return matched.rule === "/{locale}/{*path}" ? matched.params.path : matched.params.section;
    default:
      return uid satisfies never;
  }
}

const article = (page: DocumentPage<"main", "api::article.article">) => page.matched.params.slug;
const textPage = ({ matched, contentType }: DocumentPage<"main", "api::page.page">): "api::page.page" =>
  matched.rule === "/{locale}/{*path}" && matched.params.path ? contentType : matched.collectionType;

/** The whole page, by its content type. */
export async function componentOf(path: string): Promise<string> {
  const page = await map.resolve(path);
  switch (page.contentType) {
    case "api::article.article":
      return article(page);
    case "api::page.page":
      return textPage(page);
    case undefined:
      return page.kind === "page" ? nameOf(page.page) : page.kind;
    default:
      return page satisfies never;
  }
}

function nameOf(name: "home" | "search"): string {
  return name;
}

/** A row of all pages. */
function rowOf(row: Page<"main">): string {
  if (row.contentType === undefined) return nameOf(row.page);
  const locale: "en" | "de" = row.locale;
  if (row.contentType === "api::article.article") return row.params.slug + row.documentId + locale;
  return row.rule === "/{locale}/{*path}" ? row.params.path : row.params.slug ?? row.params.section;
}

interface Article {
  title: string;
}
const load = loader(map, {
  content: {
    "api::article.article": strapi<Article>({ url: "http://127.0.0.1:1337", init: { next: { revalidate: 60 } } }),
    "api::page.page": async (page, { draft }) => ({ body: textPage(page), draft }),
  },
});

export async function contentOf(path: string): Promise<string> {
  const page = await load(path, { locale: "de", draft: true });
  const tags: string[] = page.tags;
  switch (page.contentType) {
    case "api::article.article":
      return (page.content?.title ?? article(page)) + tags;
    case "api::page.page":
      return page.content.body;
    case undefined:
      return page.kind;
    default:
      return page satisfies never;
  }
}

export async function all(request: Request): Promise<unknown[]> {
  const linked = await map.links(
    { documentId: "a", items: [{ documentId: "b" }] },
    { uid: "api::article.article", relations: { items: "api::page.page" } },
  );
  const href: string | null | undefined = linked.items[0]?.href;
  const params: { locale: string; path: string[] }[] = await map.pages().toStaticParams("/{locale}/{*path}");
  const rows: string[] = [];
  for await (const row of map.pages({ filter: (page) => page.page !== "search" })) rows.push(rowOf(row));
  const event = await map.verifyWebhook(request, "whsec_");
  const paths: string[] = event.data.changes.flatMap(({ path, from }) => (from ? [path, from] : [path]));
  const { url } = await map.url({ uid: "api::page.page", documentId: "a", locale: "en" }, { draft: true });
  return [href, params, rows, paths, url, await map.sitemap(request), (await map.changes({ since: "0" })).cursor];
}
