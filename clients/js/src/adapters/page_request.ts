/** What the adapters do with a request before the framework renders its page. */
import type { FrontendMap } from "../client.js";
import { FrontendMapError, isOutage } from "../error.js";
import type { RedirectTarget, Resolution, SiteKey } from "../types.js";
import { languageOf } from "./language.js";
import { missingStatus, withSearch } from "./redirect.js";
import { sitemapFileAt } from "./sitemap_file.js";

/**
 * Browsers keep a 308 for ever without it. A document may be renamed back: with a redirect that a
 * browser has kept, and the new one, its visitor would be sent in a circle.
 */
const REDIRECT_CACHE = "no-cache";

/** No cache may show a draft to other visitors. */
export const DRAFT_CACHE = "private, no-store";

/** What each adapter can be given; `Context` is what the framework gives to its hook. */
export interface AdapterOptions<Context> {
  /**
   * Whether this visitor sees drafts: check a secret. The client needs the token of the service. A
   * path without a draft shows what is published.
   */
  draft?: ((context: Context) => boolean | Promise<boolean>) | undefined;
  /** The first segments of paths. With them, the context has the `locale` of each request. */
  locales?: readonly string[] | undefined;
  /** There is no page at `/`: it leads to the one of `locales` that `Accept-Language` prefers. */
  redirectRoot?: boolean | undefined;
  /** The path below which the framework has the site, without a slash at its end; `front_end_url` ends with it. */
  basePath?: string | undefined;
  /** `sitemap_path` of the site in the service's settings. */
  sitemapPath?: string | undefined;
  /** Which requests are for pages of the service; others are left alone. Each adapter has a default. */
  isPage?: ((context: Context) => boolean) | undefined;
  /** Those of a site with several, as `host[:port]`: each has its own paths and sitemap files. */
  hosts?: readonly string[] | undefined;
  /** In place of the 503 while the service fails, or does not know yet, and there is no last good result. */
  unavailable?: ((error: FrontendMapError, context: Context) => Response | Promise<Response>) | undefined;
}

/** A page to render, or, with `kind: "none"`, the 404 page. */
export interface PageResult<Site extends SiteKey> {
  page: Resolution<Site>;
  draft: boolean;
}

/** What an adapter gives to the frontend's own code. */
interface Locals {
  page?: Resolution<SiteKey>;
  /** Of the page; where there is none, that of the path or of the visitor. Only with `locales`. */
  locale?: string;
}

/** A request for a URL; in some frameworks, that of `request` is another one. */
export interface PageRequest<Context> {
  request: Request;
  url: URL;
  context: Context;
  /** Where the framework has what the frontend reads. */
  locals: Locals;
}

/**
 * The page at a URL, or the whole response: a sitemap file, a redirect, or a 503. Null for a request
 * that is for none of these.
 *
 * @throws FrontendMapError where the service refuses the request, such as for a wrong token.
 */
export async function handlePageRequest<Site extends SiteKey, Context>(
  map: FrontendMap<Site>,
  { request, url, context, locals }: PageRequest<Context>,
  { draft, locales = [], redirectRoot, basePath = "", sitemapPath, isPage, hosts = [], unavailable = respond503 }: AdapterOptions<Context>,
): Promise<Response | PageResult<Site> | null> {
  if (!`${url.pathname}/`.startsWith(`${basePath}/`)) return null;
  const pathname = url.pathname.slice(basePath.length) || "/";
  const redirect = ({ to, path, status }: Pick<RedirectTarget, "to" | "path" | "status">, cache: string) =>
    new Response(null, { status, headers: { location: withSearch(to ?? basePath + path, url.search), "cache-control": cache } });
  const language = languageOf(pathname, request.headers, locales);
  if (language) locals.locale = language;
  // The service is not asked: its failure must not hide the site.
  if (redirectRoot && language && pathname === "/") return redirect({ to: null, path: `/${language}`, status: 307 }, "no-store");
  const host = hosts.find((one) => one === url.host);
  let file: Response | null;
  try {
    file = await sitemapFileAt(map, request, pathname, { host, sitemapPath });
  } catch (error) {
    // A crawler would take the status of a refused request for the end of the file.
    if (!(error instanceof FrontendMapError)) throw error;
    return unavailable(error, context);
  }
  if (file) return file;
  try {
    if (!isPage?.(context)) return null;
    const drafts = (await draft?.(context)) ?? false;
    const page = await resolve(map, host ? Object.assign(new URL(url), { pathname }) : pathname, drafts);
    if ("redirect" in page && page.redirect) return redirect(page.redirect, drafts ? "no-store" : REDIRECT_CACHE);
    locals.page = page;
    if (language && page.locale) locals.locale = page.locale;
    return { page, draft: drafts };
  } catch (error) {
    if (!isOutage(error)) throw error;
    return unavailable(error, context);
  }
}

/** With drafts, what is published where there is no draft. @throws FrontendMapError */
export async function resolve<Site extends SiteKey>(
  map: FrontendMap<Site>,
  at: string | URL,
  draft: boolean,
): Promise<Resolution<Site>> {
  const page = draft ? await map.resolve(at, { draft }) : null;
  return page && page.kind !== "none" ? page : map.resolve(at);
}

/** Where the service does not say when to come back. */
const RETRY_AFTER_SECONDS = 5;

/** In whole seconds, for the header of a 503. */
export function retryAfter(error: FrontendMapError): string {
  return String(Math.ceil(error.retryAfter ?? RETRY_AFTER_SECONDS));
}

function respond503(error: FrontendMapError): Response {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "retry-after": retryAfter(error),
  };
  const text = "<!doctype html><title>503</title><p>This page is not available at the moment. Please try again soon.</p>\n";
  return new Response(text, { status: 503, headers });
}

/** The rendered page with its status: never a 200 where there is none, and never a draft in a cache. */
export function withPageStatus<Site extends SiteKey>(response: Response, { page, draft }: PageResult<Site>): Response {
  const headers = new Headers(response.headers);
  if (draft) headers.set("cache-control", DRAFT_CACHE);
  const isMissing = page.kind === "none" && (response.ok || response.status === 404);
  const status = isMissing ? missingStatus(page) : response.status;
  return new Response(response.body, { status, headers });
}
