/** Adapter for Nuxt: a server middleware, and the page at a path for navigation in the browser. */
import type { FrontendMap } from "../client.js";
import { isOutage } from "../error.js";
import type { Resolution, SiteKey } from "../types.js";
import { errorOf, type NuxtEvent, requestOf, rethrowWithoutStatus } from "./h3.js";
import { type AdapterOptions, DRAFT_CACHE, handlePageRequest, resolve, retryAfter } from "./page_request.js";
import { missingStatus } from "./redirect.js";

/**
 * The handler of `server/middleware/pages.ts`. It sends redirects, sitemap files and 503s, sets the
 * status 404 where there is no page, `event.context.page`, and with `locales` `event.context.locale`.
 */
export function middleware<Site extends SiteKey, Event = NuxtEvent>(
  map: FrontendMap<Site>,
  { isPage = isPageRequest, ...options }: AdapterOptions<Event & NuxtEvent> = {},
) {
  return async (event: Event & NuxtEvent): Promise<Response | undefined> => {
    const { request, url } = requestOf(event);
    // h3 has taken it off.
    url.pathname = (options.basePath ?? "") + url.pathname;
    const visit = { request, url, context: event, locals: event.context };
    const found = await handlePageRequest(map, visit, { isPage, ...options }).catch(rethrowWithoutStatus);
    if (found === null || found instanceof Response) return found ?? undefined;
    if (found.draft) event.node.res.setHeader("cache-control", DRAFT_CACHE);
    if (found.page.kind === "none") event.node.res.statusCode = missingStatus(found.page);
    return undefined;
  };
}

/** Not for files of Nuxt, its payloads, its error page, or the routes of the frontend's own API. */
const isPageRequest = ({ path }: NuxtEvent) => /^\/(?!_|api\/)/.test(path) && !/\/_payload\.json($|\?)/.test(path);

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
    if (!isPath.test(path) || !URL.canParse(path, "http://localhost")) throw errorOf(400, "`path` is not a path");
    try {
      const drafts = (await draft?.(event)) ?? false;
      if (drafts) event.node.res.setHeader("cache-control", DRAFT_CACHE);
      return await resolve(map, path, drafts);
    } catch (error) {
      if (!isOutage(error)) return rethrowWithoutStatus(error);
      event.node.res.setHeader("retry-after", retryAfter(error));
      throw errorOf(503, "the page is not available", error);
    }
  };
}

const isPath = /^(\/|https?:\/\/)/i;

export type { NuxtEvent };
