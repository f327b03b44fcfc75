/** Adapter for SvelteKit: the hook `handle`, and `entries` for prerendered pages. */
import type { FrontendMap } from "../client.js";
import { decoded, fileProblem } from "../pages/left_out.js";
import { distinct } from "../pages/pages.js";
import type { SiteKey } from "../types.js";
import { type AdapterOptions, handlePageRequest, withPageStatus } from "./page_request.js";

/** What this adapter uses of SvelteKit's `RequestEvent`. */
export interface KitEvent {
  request: Request;
  url: URL;
  route: { id: string | null };
  locals: object;
}

/**
 * The hook of `src/hooks.server.ts`. It sends redirects, sitemap files and 503s, and sets
 * `event.locals.page` for routes with a rest parameter such as `[...path]`, and with `locales`
 * `event.locals.locale`. Where the `kind` of the page is `none`, its `load` calls `error(404)`; the
 * status is a 404 in any case.
 */
export function handle<Site extends SiteKey, Event = KitEvent>(
  map: FrontendMap<Site>,
  { isPage = hasRestParameter, ...options }: AdapterOptions<Event & KitEvent> = {},
) {
  return async <E extends Event & KitEvent>({ event, resolve }: {
    event: E;
    resolve: (event: E) => Response | Promise<Response>;
  }): Promise<Response> => {
    const { request } = event;
    // While a page is prerendered, SvelteKit's own URL refuses to have a query.
    const url = new URL(event.url.href);
    const found = await handlePageRequest(map, { request, url, context: event, locals: event.locals }, { isPage, ...options });
    if (found === null) return resolve(event);
    if (found instanceof Response) return found;
    return withPageStatus(await resolve(event), found);
  };
}

const hasRestParameter = ({ route }: KitEvent) => route.id === null || route.id.includes("[...");

/**
 * The `entries` of the route `src/routes/[...path]`: all pages, from one request. A site with several
 * hosts is built for one of them: `{ locale }`. A path with `?` or `#` is left out.
 */
export function entries<Site extends SiteKey>(map: FrontendMap<Site>, options?: Parameters<FrontendMap<Site>["pages"]>[0]) {
  return async (): Promise<{ path: string }[]> => {
    const found = await distinct(map.pages(options).buildable(problem), ({ path }) => ({ path: decoded(path.replace(/\/$/, "")) }));
    return found.map(({ params }) => params);
  };
}

const problem = (path: string) =>
  /[?#]/.test(decoded(path)) ? "SvelteKit cannot prerender a path with `?` or `#`" : fileProblem(path);
