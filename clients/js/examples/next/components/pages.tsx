import type { DocumentPage, Locale, PageOutside, Resolution } from "frontend-map-client";
import { draftMode } from "next/headers";
import Link from "next/link";
import { notFound } from "next/navigation";
import { document, documents } from "../../shared/content";
import { texts } from "../../shared/texts";
import { map } from "@/lib/map";
import { Frame } from "./frame";

export async function ArticlePage({ page }: { page: DocumentPage<"main", "api::article.article"> }) {
  const { title, body } = await content(page);
  return (
    <Frame page={page} type={page.contentType} title={title}>
      <article>{body?.split("\n").map((text, at) => <p key={at}>{text}</p>)}</article>
    </Frame>
  );
}

export async function TextPage({ page }: { page: DocumentPage<"main", "api::page.page"> }) {
  const { title, body } = await content(page);
  return (
    <Frame page={page} type={page.contentType} title={title}>
      <p>{body}</p>
    </Frame>
  );
}

export function HomePage({ page }: { page: PageOutside }) {
  const { home, welcome } = texts(page.locale);
  return (
    <Frame page={page} type={page.page} title={home}>
      <p>{welcome}</p>
      <ArticleList locale={page.locale} limit={3} />
    </Frame>
  );
}

export function ArticlesPage({ page }: { page: PageOutside }) {
  return (
    <Frame page={page} type={page.page} title={texts(page.locale).articles}>
      <ArticleList locale={page.locale} />
    </Frame>
  );
}

// #region links
// components/pages.tsx: however many links, they are one request to the service
async function ArticleList({ locale, limit }: { locale: Locale<"main">; limit?: number }) {
  const uid = "api::article.article";
  const { isEnabled: draft } = await draftMode();
  const articles = await map.links(await documents(uid, { locale, draft }, limit), { uid, locale, href: "path" });
  return (
    <ul className="list" data-list>
      {articles.map(({ documentId, title, href }) => (
        <li key={documentId}>{href ? <Link prefetch={false} href={href}>{title}</Link> : <span>{title}</span>}</li>
      ))}
    </ul>
  );
}
// #endregion links

/** The document of a page. */
async function content({ contentType, documentId, locale }: DocumentPage) {
  const { isEnabled: draft } = await draftMode();
  return (await document(contentType, documentId, { locale, draft })) ?? notFound();
}

/** Title and description of a page, for its metadata. */
export async function textsOf(page: Resolution<"main">) {
  const { home, welcome, articles } = texts(page.locale ?? "en");
  if (page.kind === "page") return page.page === "articles" ? { title: articles } : { title: home, description: welcome };
  if (page.kind !== "document") return {};
  const { title, body } = await content(page);
  return { title, description: body?.split("\n", 1)[0] };
}
