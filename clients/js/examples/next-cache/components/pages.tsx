import type { ContentType, Locale, PageOutside } from "frontend-map-client";
import { draftMode } from "next/headers";
import Link from "next/link";
import { notFound } from "next/navigation";
import { documents } from "../../shared/content";
import { texts } from "../../shared/texts";
import { map } from "@/lib/map";
import { cached, type Loaded } from "@/lib/page";
import { Frame } from "./frame";

/** A page of one content type, with its content. */
type Of<Uid extends ContentType<"main">> = { page: Extract<Loaded, { contentType: Uid }> };

export function ArticlePage({ page }: Of<"api::article.article">) {
  const { title, body } = page.content ?? notFound();
  return (
    <Frame page={page} type={page.contentType} title={title}>
      <article>{body?.split("\n").map((text, at) => <p key={at}>{text}</p>)}</article>
    </Frame>
  );
}

export function TextPage({ page }: Of<"api::page.page">) {
  const { title, body } = page.content ?? notFound();
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

// However many links, they are one request to the service.
async function ArticleList({ locale, limit }: { locale: Locale<"main">; limit?: number }) {
  "use cache";
  cached(); // a list is about no path
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

/** Title and description of a page, for its metadata. */
export function textsOf(page: Loaded) {
  const { home, welcome, articles } = texts(page.locale ?? "en");
  if (page.kind === "page") return page.page === "articles" ? { title: articles } : { title: home, description: welcome };
  return { title: page.content?.title, description: page.content?.body?.split("\n", 1)[0] };
}
