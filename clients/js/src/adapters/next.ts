/** For the App Router of Next.js 16. Nothing of Next.js is imported: its functions are passed in. */
import type { FrontendMap } from "../client.js";
import { FrontendMapError } from "../error.js";
import type { Resolution, SiteKey } from "../types.js";

/** Next.js sets it in draft mode. Visitors may send one, too: only the page knows the mode. */
const DRAFT_COOKIE = "__prerender_bypass";
type ProxyRequest = Request & { nextUrl: { pathname: string }; cookies: { has(name: string): boolean } };
/** `hosts`: those of a site with several. `notFound`: the response to a path without a page. */
type ProxyOptions = { hosts?: readonly string[]; notFound?: (request: ProxyRequest) => Response };
/** `secret`: that of the webhook. `tag`: that of the client's `init.next.tags`. */
type RevalidateOptions = { secret: string | readonly string[]; tag: string } & {
  revalidateTag(tag: string, profile: { expire: 0 }): unknown;
  revalidatePath(path: string): unknown;
};

/** A `proxy`: sitemap files, redirects and 404s. While a path is not known, its request passes. */
export function proxy<Site extends SiteKey>(map: FrontendMap<Site>, { hosts = [], notFound }: ProxyOptions = {}) {
  return async (request: ProxyRequest): Promise<Response | undefined> => {
    const host = hosts.find((one) => one === request.headers.get("host"));
    const file = await sitemap(map, host)(request);
    if (file || request.cookies.has(DRAFT_COOKIE)) return file ?? undefined;
    const at = (host ? `https://${host}` : "") + request.nextUrl.pathname;
    const page = await map.resolve(at).catch(onFailure(() => undefined));
    if (page?.kind === "none") return uncached(notFound?.(request) ?? new Response("Not found", { status: 404 }));
    if (!page || !("redirect" in page) || !page.redirect) return undefined;
    const { to, path, status } = page.redirect;
    const location = (to ?? path) + new URL(request.url).search;
    // Browsers would keep a 308 for ever, although documents are renamed back.
    return new Response(null, { status, headers: { location, "cache-control": "public, max-age=60" } });
  };
}
/** A `GET` of sitemap files and robots.txt: 503 while the service fails, null for other paths. */
export function sitemap<Site extends SiteKey>(map: FrontendMap<Site>, host?: string) {
  const failed = () => uncached(new Response(null, { status: 503, headers: { "retry-after": "60" } }));
  return (request: Request): Promise<Response | null> => map.sitemap(request, { host }).catch(onFailure(failed));
}
/** A `generateStaticParams` for a route such as `/{locale}/{*path?}`; throws without all pages. */
export const staticParams = <Site extends SiteKey, const Template extends string>(map: FrontendMap<Site>, template: Template, options?: Parameters<FrontendMap<Site>["pages"]>[0]) =>
  () => map.pages(options).toStaticParams(template);
/** Canonical URL and `hreflang` alternates for `generateMetadata`. */
export const metadata = (page: Resolution) =>
  "canonicalUrl" in page ? { alternates: { canonical: page.canonicalUrl, languages: page.alternates } } : {};
/** A `POST` for the service's webhooks. */
export function revalidate<Site extends SiteKey>(map: FrontendMap<Site>, { secret, tag, ...next }: RevalidateOptions) {
  return async (request: Request): Promise<Response> => {
    const event = await map.verifyWebhook(request, secret).catch(onFailure((error) => error));
    if (event instanceof FrontendMapError) return new Response(event.reason, { status: event.status ?? 500 });
    const { reset, changes } = event.data; // any page may have a link to one with another URL
    if (reset || changes.some(({ type }) => type !== "updated")) next.revalidateTag(tag, { expire: 0 });
    for (const { path } of changes) next.revalidatePath(path);
    return new Response(null, { status: 204 });
  };
}
/** A CDN must not keep it: Next.js would let it keep a static page for a year. */
const uncached = (response: Response) => (response.headers.set("cache-control", "no-store"), response);
const onFailure = <Value>(result: (error: FrontendMapError) => Value) => (error: unknown): Value => {
  if (error instanceof FrontendMapError) return result(error);
  throw error;
};
