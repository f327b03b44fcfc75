/** Pages of the App Router: their params, their paths and their metadata. */
import type { FrontendMap } from "../client.js";
import type { StaticParams } from "../pages/static_params.js";
import type { Resolution, SiteKey } from "../types.js";

/**
 * A `generateStaticParams` for a route such as `/{locale}/{*path}`. Pages that no file can be written
 * for are left out: Next.js renders them when they are visited.
 *
 * @throws FrontendMapError in a build without all pages.
 */
export const staticParams =
  <Site extends SiteKey, const Template extends string>(
    map: FrontendMap<Site>,
    template: Template,
    options: Parameters<FrontendMap<Site>["pages"]>[0] = {},
  ) =>
  (): Promise<StaticParams<Template>[]> =>
    map.pages(options).toStaticParams(template);

/**
 * The path of a page, as the service knows it, from the segments in its `params`. Next.js passes them
 * percent-encoded to a page, and decoded to `generateMetadata`: `"decoded"`.
 */
export function pathname(segments: readonly string[], as: "encoded" | "decoded" = "encoded"): string {
  const text = (segment: string) => (as === "decoded" ? segment : decodeURIComponent(segment));
  return `/${segments.map((segment) => encoded(text(segment))).join("/")}`;
}

/** As the service does: `encodeURIComponent` leaves five characters that RFC 3986 reserves. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** What the page knows itself; `openGraph` may have more, such as images. */
interface OwnMetadata {
  title?: string | null | undefined;
  description?: string | null | undefined;
  openGraph?: object | undefined;
}

/**
 * For `generateMetadata`: title and description, canonical URL and `hreflang` alternates, and those of
 * Open Graph. A path without a page has none of the page.
 */
export function metadata(page: Resolution, { title, description, openGraph }: OwnMetadata = {}) {
  const own = { ...(title && { title }), ...(description && { description }) };
  if (page.kind !== "document" && page.kind !== "page") return own;
  const { canonicalUrl: url, alternates } = page;
  const languages = Object.entries(alternates).filter(([code]) => code !== "x-default");
  const locale = languages.find(([, other]) => other === url)?.[0] ?? page.locale;
  const others = languages.flatMap(([code]) => (code === locale ? [] : [openGraphLocale(code)]));
  return {
    ...own,
    alternates: { canonical: url, languages: alternates },
    openGraph: { ...own, ...(url && { url }), locale: openGraphLocale(locale), alternateLocale: others, ...openGraph },
  };
}

/** `pt_BR` for `pt-BR`, `zh_CN` for `zh-Hans-CN`: https://ogp.me/#optional. */
const openGraphLocale = (code: string) => code.replace(/-[a-z]{4}(?=-|$)/i, "").replace("-", "_");
