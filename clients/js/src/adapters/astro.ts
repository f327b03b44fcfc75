/** Adapter for Astro: a middleware for pages that are rendered on demand, and `getStaticPaths`. */
import type { FrontendMap } from "../client.js";
import { decoded, fileProblem } from "../pages/left_out.js";
import { distinct } from "../pages/pages.js";
import type { Page, SiteKey } from "../types.js";
import { type AdapterOptions, handlePageRequest, withPageStatus } from "./page_request.js";
import { missingStatus } from "./redirect.js";

/** What this adapter uses of Astro's `APIContext`. */
export interface AstroContext {
  request: Request;
  url: URL;
  routePattern: string;
  isPrerendered: boolean;
  locals: object;
}

/**
 * The middleware of `src/middleware.ts`. It sends redirects, sitemap files, 404s (with the content of
 * `404.astro`) and 503s, and sets `Astro.locals.page` for routes with a rest parameter such as
 * `[...path]`, and with `locales` `Astro.locals.locale`. Prerendered pages are those of `getStaticPaths`, and left alone.
 */
export function middleware<Site extends SiteKey, Context = AstroContext>(
  map: FrontendMap<Site>,
  { isPage = hasRestParameter, ...options }: AdapterOptions<Context & AstroContext> = {},
) {
  return async <C extends Context & AstroContext>(context: C, next: () => Promise<Response>): Promise<Response> => {
    if (context.isPrerendered) return next();
    const { request } = context;
    // `context.url` is decoded once too often for a path with `%25`.
    const found = await handlePageRequest(map, { request, url: new URL(request.url), context, locals: context.locals }, { isPage, ...options });
    if (found === null) return next();
    if (found instanceof Response) return found;
    // Astro renders `404.astro` in place of an empty response with this status alone.
    if (found.page.kind === "none") {
      const status = missingStatus(found.page);
      return new Response(status === 404 ? null : "Gone", { status });
    }
    return withPageStatus(await next(), found);
  };
}

/** Not Astro's own, such as `/_actions/[...path]`. */
const hasRestParameter = ({ routePattern }: AstroContext) => /^\/(?!_).*\[\.\.\./.test(routePattern);

/**
 * The `getStaticPaths` of `src/pages/[...path].astro`: all pages as `props.page`, from one request. A
 * site with several hosts is built for one of them: `{ locale }`. A path that Astro cannot write as a
 * file is left out: with `%`, `?` or `#`, which it does not decode, or not in Unicode's normal form C.
 */
export function getStaticPaths<Site extends SiteKey>(map: FrontendMap<Site>, options?: Parameters<FrontendMap<Site>["pages"]>[0]) {
  return async (): Promise<{ params: { path: string | undefined }; props: { page: Page<Site> } }[]> => {
    const found = await distinct(map.pages(options).buildable(problem), ({ path }) => ({ path: decoded(path) || undefined }));
    return found.map(({ params, page }) => ({ params, props: { page } }));
  };
}

function problem(path: string): string | null {
  const name = decoded(path);
  if (/[%?#]/.test(name)) return "Astro does not decode `%`, `?` and `#`";
  if (name !== name.normalize()) return "Astro writes files in Unicode's normal form C";
  return fileProblem(path);
}
