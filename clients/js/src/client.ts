/** The client of one site. */
import { type Changes, changes, type ChangesOptions } from "./changes.js";
import { FrontendMapError } from "./error.js";
import { Reads } from "./http/reads.js";
import { isWorkers } from "./http/workers.js";
import { Transport } from "./http/transport.js";
import { type Linked, links, type LinkOptions } from "./links.js";
import { checked, type Options } from "./options.js";
import { Pages, type PagesOptions } from "./pages/pages.js";
import { resolve, type ResolveOptions } from "./resolve.js";
import { sitemap, type SitemapOptions } from "./sitemap.js";
import type { ContentType, DocumentRef, DocumentUrl, LastGood, Locale, Resolution, SiteKey } from "./types.js";
import { Urls } from "./urls.js";
import { type WebhookEvent, Webhooks } from "./webhook.js";

/**
 * The functions of a client; they need no `this`. Each throws FrontendMapError where the service
 * fails or refuses the request, and never takes that for "no such page".
 */
export interface FrontendMap<Site extends SiteKey = SiteKey> {
  /** What is at a path; the site needs `resolve = "documents"`. Of a URL the host counts, too. */
  resolve(path: string | URL, options?: ResolveOptions<Locale<Site>>): Promise<Resolution<Site> & { lastGood?: LastGood }>;
  /** The absolute URLs of all versions of the page at a path, by `hreflang`, and `x-default`. */
  alternates(path: string | URL, options?: ResolveOptions<Locale<Site>>): Promise<Resolution<Site>["alternates"]>;
  /** The pages above the one at a path, the topmost first. */
  breadcrumbs(path: string | URL, options?: ResolveOptions<Locale<Site>>): Promise<Resolution<Site>["breadcrumbs"]>;
  /** The URL of a document, or why it has none. The calls of one tick are one request. */
  url(document: DocumentRef<Site>, options?: { draft?: boolean | undefined; signal?: AbortSignal | undefined }): Promise<DocumentUrl>;
  /** The same for many documents, in their order. */
  urls(documents: readonly DocumentRef<Site>[], options?: { signal?: AbortSignal | undefined }): Promise<DocumentUrl[]>;
  /**
   * A copy of a document of Strapi, or of a list of them, with `href` in each relation. With `lastGood`,
   * a service that fails takes no list away: `href` is null of a document that it had not been asked for.
   */
  links<T>(document: T, options: LinkOptions<ContentType<Site>, Locale<Site>>): Promise<Linked<T>>;
  /** All public pages, for static builds. */
  pages(options?: PagesOptions<Site>): Pages<Site>;
  /** What has changed since a cursor. */
  changes(options?: ChangesOptions): Promise<Changes>;
  /** The event of a webhook of the service, if its signature is right and it is no replay. */
  verifyWebhook(request: Request, secret: string | readonly string[]): Promise<WebhookEvent>;
  /**
   * The response to a request for a sitemap file or robots.txt; null for any other request. A file is
   * whole and of the service, or an error: send a 503.
   */
  sitemap(request: Request, options?: SitemapOptions): Promise<Response | null>;
}

/**
 * Creates the client of a site. Create it once for all requests: callers share what is in flight,
 * and what is kept for the time in which the service fails.
 *
 * @throws TypeError if an option is unusable, or if a browser would run code that has a token.
 */
export function createFrontendMap<Site extends SiteKey>(options: Options<Site>): FrontendMap<Site> {
  const settings = checked(options);
  const transport = new Transport(settings);
  const { base, site, lastGood, init } = settings;
  const isNext = init.next !== undefined && settings.platformFetch;
  const reads = isNext
    ? Reads.shared(JSON.stringify([base, site, lastGood, [...new Headers(init.headers)]]), lastGood)
    : new Reads(lastGood, init.next === undefined && !isWorkers);
  const batches = new Urls(transport, reads);
  const webhooks = new Webhooks();

  const at: FrontendMap<Site>["resolve"] = (path, how) => resolve<Site>(transport, reads, path, how);
  const url: FrontendMap<Site>["url"] = (ref, how) => (how?.draft ? batches.draft(ref, how.signal) : batches.published(ref, how?.signal));
  const urls = (refs: readonly DocumentRef<string>[], how?: { signal?: AbortSignal | undefined }) =>
    Promise.all(refs.map((ref) => batches.published(ref, how?.signal)));
  const withoutLink = (error: unknown) => {
    if (!(lastGood && batches.known && error instanceof FrontendMapError)) throw error;
    reads.log(error);
    return null;
  };
  const linked = (refs: readonly DocumentRef<string>[], signal?: AbortSignal) =>
    Promise.all(refs.map((ref) => batches.published(ref, signal).catch(withoutLink)));
  return {
    resolve: at,
    alternates: async (path, how) => (await at(path, how)).alternates,
    breadcrumbs: async (path, how) => (await at(path, how)).breadcrumbs,
    url,
    urls,
    links: (document, how) => links(linked, document, how),
    pages: (how = {}) => new Pages<Site>(transport, how),
    changes: (how) => changes(transport, how),
    verifyWebhook: (request, secret) => webhooks.verify(request, secret),
    sitemap: (request, how) => sitemap(settings, request, how),
  };
}
