/** Adapter for Nuxt: a server middleware, and the page at a path for navigation in the browser. */
import type { FrontendMap } from "../client.js";
import { isOutage } from "../error.js";
import type { Resolution, SiteKey } from "../types.js";
import { type AdapterOptions, resolve, retryAfter, visit } from "./visit.js";

/** What this adapter uses of the `H3Event` of Nuxt 4. */
export interface NuxtEvent {
  path: string;
  method: string;
  headers: Headers;
  context: object;
  node: { req: { originalUrl?: string }; res: { statusCode: number; setHeader(name: string, value: string): unknown } };
}

/**
 * The handler of `server/middleware/pages.ts`. It sends redirects, sitemap files and 503s, sets the
 * status 404 where there is no page, and `event.context.page`.
 */
export function middleware<Site extends SiteKey, Event = NuxtEvent>(
  map: FrontendMap<Site>,
  { isPage = isNotNuxts, ...options }: AdapterOptions<Event & NuxtEvent> = {},
) {
  return async (event: Event & NuxtEvent): Promise<Response | undefined> => {
    const base = `http://${event.headers.get("host")}`;
    // `event.path` is decoded, so that a `?` of the path would begin a query.
    const path = event.node.req.originalUrl ?? event.path;
    const url = new URL((URL.canParse(base) ? base : "http://localhost") + path);
    const request = new Request(url, { method: event.method, headers: event.headers });
    const found = await visit(map, { request, url, context: event }, { isPage, ...options });
    if (found === null || found instanceof Response) return found ?? undefined;
    if (found.draft) event.node.res.setHeader("cache-control", "private, no-store");
    if (found.page.kind === "none") event.node.res.statusCode = 404;
    Object.assign(event.context, { page: found.page });
    return undefined;
  };
}

/** Not for files of Nuxt, its payloads, its error page, or the routes of the frontend's own API. */
const isNotNuxts = ({ path }: NuxtEvent) => /^\/(?!_|api\/)/.test(path) && !/\/_payload\.json($|\?)/.test(path);

/**
 * For a route such as `server/api/page.get.ts`: what is at the path of its parameter `path`,
 * redirects and `none` included. While the service fails it is an error with the status 503.
 */
export function pageData<Site extends SiteKey, Event = NuxtEvent>(
  map: FrontendMap<Site>,
  { draft }: Pick<AdapterOptions<Event & NuxtEvent>, "draft"> = {},
) {
  return async (event: Event & NuxtEvent): Promise<Resolution<Site>> => {
    const path = new URL(event.path, "http://localhost").searchParams.get("path") ?? "/";
    try {
      return await resolve(map, path, (await draft?.(event)) ?? false);
    } catch (error) {
      if (!isOutage(error)) throw error;
      event.node.res.setHeader("retry-after", retryAfter(error));
      throw Object.assign(new Error("the page is not available"), { statusCode: 503, cause: error });
    }
  };
}
