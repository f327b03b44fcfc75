/** Requests as Next.js passes them to a proxy, and the responses to them. */
import type { FrontendMap } from "../client.js";
import { FrontendMapError } from "../error.js";
import type { RedirectTarget, SiteKey } from "../types.js";
import { withSearch } from "./redirect.js";
import { sitemapFileAt } from "./sitemap_file.js";

/** What the adapter uses of a `NextRequest`; the pathname has no `basePath`. */
export type ProxyRequest = Request & {
  nextUrl: { pathname: string; basePath?: string };
  cookies: { has(name: string): boolean };
};

export interface SitemapFiles {
  /** Whether `/robots.txt` is the service's, in place of `app/robots.ts` or `public/robots.txt`. */
  robots?: boolean | undefined;
  /** `sitemap_path` of the site in the service's settings. */
  sitemapPath?: string | undefined;
}

/** A sitemap file of the service, a 503 while it fails, or null for other paths. */
export async function sitemapFile<Site extends SiteKey>(
  map: FrontendMap<Site>,
  request: Request & Partial<ProxyRequest>,
  host: string | undefined,
  { robots = false, sitemapPath }: SitemapFiles,
): Promise<Response | null> {
  const { pathname } = request.nextUrl ?? new URL(request.url);
  if (pathname === "/robots.txt" && !robots) return null;
  const failed = () => uncached(new Response(null, { status: 503, headers: { "retry-after": "60" } }));
  return sitemapFileAt(map, request, pathname, { host, sitemapPath }).catch(onFailure(failed));
}

/** As `REDIRECT_CACHE` of the other adapters: a document may be renamed back. */
const REDIRECT_CACHE = "no-cache";

/** With the query of the request; a path gets the `basePath`, and its origin, which Next.js takes off. */
export function redirectTo(
  { url, nextUrl }: ProxyRequest,
  { to, path, status }: Pick<RedirectTarget, "to" | "path" | "status">,
  cache = REDIRECT_CACHE,
): Response {
  const { origin, search } = new URL(url);
  const location = withSearch(to ?? origin + (nextUrl.basePath ?? "") + path, search);
  return new Response(null, { status, headers: { location, "cache-control": cache } });
}

/** A CDN must not keep it: Next.js would let it keep a static page for a year. */
export function uncached(response: Response): Response {
  response.headers.set("cache-control", "no-store");
  return response;
}

/** How long a site may take for a page of its own. Milliseconds. */
const OWN_PAGE_MS = 2_000;

/**
 * A page of the site with a status of 404, for `notFound`: with Cache Components, a page has a status
 * of 200 also after `NextResponse.rewrite` with another one. A line of text if the site does not
 * respond in time.
 *
 * @param url of a page that `isPage` leaves alone, as this server reaches it.
 */
export async function missingPage(url: string | URL): Promise<Response> {
  const headers = { "content-type": "text/html; charset=utf-8" };
  try {
    const page = await fetch(url, { cache: "no-store", redirect: "manual", signal: AbortSignal.timeout(OWN_PAGE_MS) });
    if (page.ok) return new Response(await page.text(), { status: 404, headers });
    await page.body?.cancel();
  } catch {
    // The status matters more than the page.
  }
  return new Response("Not found", { status: 404 });
}

/** @throws what is no failure of the service. */
export const onFailure = <Value>(result: (error: FrontendMapError) => Value) => (error: unknown): Value => {
  if (error instanceof FrontendMapError) return result(error);
  throw error;
};
