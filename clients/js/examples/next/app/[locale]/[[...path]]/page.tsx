// #region catch-all
// app/[locale]/[[...path]]/page.tsx
import { metadata, staticParams } from "frontend-map-client/next";
import { notFound, permanentRedirect } from "next/navigation";
import { ArticlePage, ArticlesPage, HomePage, TextPage } from "@/components/pages";
import { map } from "@/lib/map";
import { type Params, pathname, resolve } from "@/lib/page";

type Props = { params: Promise<Params> };

export const revalidate = 60;
export const generateStaticParams = staticParams(map, "/{locale}/{*path?}");
export const generateMetadata = async ({ params }: Props) => metadata(await resolve(pathname(await params)));

export default async function Page({ params }: Props) {
  const page = await resolve(pathname(await params));
  switch (page.kind) {
    case "document":
      switch (page.matched.collectionType) {
        case "api::article.article":
          return <ArticlePage page={page} />;
        case "api::page.page":
          return <TextPage page={page} />;
        default: // does not compile if a content type is forgotten
          return page.matched satisfies never;
      }
    case "page": // outside the CMS
      return page.page === "articles" ? <ArticlesPage page={page} /> : <HomePage page={page} />;
    case "redirect": // the proxy has done this already, except with drafts
      permanentRedirect(page.redirect.to ?? page.redirect.path);
    case "none":
      notFound();
  }
}
// #endregion catch-all
