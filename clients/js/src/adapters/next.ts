/** For the App Router of Next.js 16. Nothing of Next.js is imported: its functions are passed in. */
import type { FrontendMap } from "../client.js";
import type { SiteKey } from "../types.js";
import { languageOf } from "./language.js";
import { missingStatus } from "./redirect.js";
import { onFailure, type ProxyRequest, redirectTo, sitemapFile, type SitemapFiles, uncached } from "./next_request.js";

export { caching } from "./next_cache.js";
export { metadata, pathname, staticParams } from "./next_pages.js";
export { missingPage } from "./next_request.js";
export { revalidate } from "./next_revalidate.js";

/** Next.js sets it in draft mode. Visitors may send one, too: only the page knows the mode. */
const DRAFT_COOKIE = "__prerender_bypass";
/** What Next.js serves from `public/` and from files such as `app/manifest.ts`. */
const FILE = /^\/\.well-known\/|\.[a-z0-9]+$/i;

interface ProxyOptions<Request extends ProxyRequest> extends SitemapFiles {
  /** Those of a site with several. */
  hosts?: readonly string[] | undefined;
  /** Which requests are for pages of the service; those for the site's own routes are left alone. */
  isPage?: ((request: Request) => boolean) | undefined;
  /** The first segments of paths. */
  locales?: readonly string[] | undefined;
  /** There is no page at `/`: it leads to the one of `locales` that `Accept-Language` prefers. */
  redirectRoot?: boolean | undefined;
  /** The response to a path without a page; `locale` is one of `locales`, by path or language. */
  notFound?: ((request: Request, locale: string) => Response | Promise<Response>) | undefined;
}

/**
 * A `proxy`: sitemap files, redirects and 404s. While a path is not known, its request passes, and so
 * does a path of a file, such as `/logo.svg`, at which the service has no page.
 */
export function proxy<Site extends SiteKey, Request extends ProxyRequest = ProxyRequest>(
  map: FrontendMap<Site>,
  { hosts = [], isPage, locales = [], redirectRoot, notFound, ...files }: ProxyOptions<Request> = {},
) {
  return async (request: Request): Promise<Response | undefined> => {
    const { pathname } = request.nextUrl;
    const locale = languageOf(pathname, request.headers, locales);
    // The service is not asked: its failure, or a cookie, would make a 404 of it.
    if (redirectRoot && locale && pathname === "/") return redirectTo(request, { to: null, path: `/${locale}`, status: 307 }, "no-store");
    const host = hosts.find((one) => one === request.headers.get("host"));
    const file = await sitemapFile(map, request, host, files);
    if (file || request.cookies.has(DRAFT_COOKIE) || isPage?.(request) === false) return file ?? undefined;
    const page = await map.resolve((host ? `https://${host}` : "") + pathname).catch(onFailure(() => undefined));
    if (page && "redirect" in page && page.redirect) return redirectTo(request, page.redirect);
    if (page?.kind !== "none" || (FILE.test(pathname) && !page.gone?.status)) return undefined;
    const response = (await notFound?.(request, locale)) ?? new Response("Not found", { status: 404 });
    const { body, headers, status } = response;
    return uncached(status === 404 ? new Response(body, { headers, status: missingStatus(page) }) : response);
  };
}

/** A `GET` of sitemap files and robots.txt: 503 while the service fails, null for other paths. */
export const sitemap = <Site extends SiteKey>(map: FrontendMap<Site>, host?: string, sitemapPath?: string) =>
  (request: Request): Promise<Response | null> => sitemapFile(map, request, host, { robots: true, sitemapPath });
