// app/[locale]/[...path]/page.tsx
import { metadata, pathname, staticParams } from "frontend-map-client/next";
import { notFound, permanentRedirect } from "next/navigation";
import { ArticlePage, ArticlesPage, HomePage, TextPage, textsOf } from "@/components/pages";
import { map } from "@/lib/map";
import { load } from "@/lib/page";

type Props = { params: Promise<{ locale: string; path?: string[] }> };

// #region static
// app/[locale]/[...path]/page.tsx, and each other page: in place of `revalidate`
export const ensureStatic = "navigation"; // a first visit waits for the page, with its real status
// #endregion static
export const generateStaticParams = staticParams(map, "/{locale}/{*path}");

export async function generateMetadata({ params }: Props) {
  const { locale, path = [] } = await params;
  const page = await load(pathname([locale, ...path], "decoded"));
  return metadata(page, textsOf(page)); // title and description
}

export default async function Page({ params }: Props) {
  const { locale, path = [] } = await params;
  const page = await load(pathname([locale, ...path]));
  switch (page.kind) {
    case "document":
      switch (page.contentType) {
        case "api::article.article":
          return <ArticlePage page={page} />;
        case "api::page.page":
          return <TextPage page={page} />;
        default: // does not compile if a content type is forgotten
          return page satisfies never;
      }
    case "page": // outside the CMS
      return page.page === "articles" ? <ArticlesPage page={page} /> : <HomePage page={page} />;
    case "redirect": // the proxy has done this already, except with drafts
      permanentRedirect(page.redirect.to ?? page.redirect.path);
    case "none":
      notFound();
  }
}
