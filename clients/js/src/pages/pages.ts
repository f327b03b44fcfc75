/** `GET /api/pages`: all public pages of a site, for static builds. */
import type { Transport } from "../http/transport.js";
import type { ContentType, Locale, Page, SiteKey } from "../types.js";
import { FILTERED, fileProblem, type LeftOut, warnOfLeftOut } from "./left_out.js";
import { rows } from "./ndjson.js";
import { route, type StaticParams } from "./static_params.js";

/** Longer than the service may take for its first walk over the CMS (`limits.walk_deadline_ms`). */
const TIMEOUT_MS = 180_000;

export interface PagesOptions<Site = SiteKey> {
  /** Only the pages of this content type; `pages` for those outside the CMS. */
  contentType?: ContentType<Site> | "pages" | undefined;
  locale?: Locale<Site> | undefined;
  /** Without pages whose documents were last modified before. */
  since?: Date | undefined;
  /** With the pages that sitemaps leave out; sends the token. */
  unlisted?: boolean | undefined;
  /** That of `changes`: the list has all changes up to it, from whichever instance it comes. */
  cursor?: string | undefined;
  /** The pages for which it is false are left out. */
  filter?: ((page: Page<Site>) => boolean) | undefined;
  /**
   * Called at the end of the list with the pages that were left out, if there are any. Without it, those
   * of a build are named in its log.
   */
  onLeftOut?: ((pages: LeftOut<Site>[]) => void) | undefined;
  /** How long to wait for the service in all. Milliseconds, 180,000 by default. */
  timeoutMs?: number | undefined;
  /** Ends the list with its reason. */
  signal?: AbortSignal | undefined;
}

/** A list of pages; each iteration requests it. */
export class Pages<Site = SiteKey> implements AsyncIterable<Page<Site>> {
  readonly #transport: Transport;
  readonly #options: PagesOptions<Site>;

  constructor(transport: Transport, options: PagesOptions<Site>) {
    this.#transport = transport;
    this.#options = options;
  }

  /** @throws FrontendMapError also after some pages, if the list is not complete. */
  [Symbol.asyncIterator](): AsyncGenerator<Page<Site>, void> {
    return this.#list(() => null);
  }

  /**
   * Those of which a build can write a file; `problem` says why not, null if it can. Requested afresh:
   * an earlier list would lack pages.
   *
   * @throws FrontendMapError also after some pages, if the list is not complete.
   */
  buildable(problem: (path: string) => string | null = fileProblem): AsyncIterable<Page<Site>> {
    return this.#list(problem, warnOfLeftOut);
  }

  async *#list(problem: (path: string) => string | null, report?: (pages: LeftOut<Site>[]) => void): AsyncGenerator<Page<Site>, void> {
    const { filter = () => true, onLeftOut = report } = this.#options;
    const leftOut: LeftOut<Site>[] = [];
    for await (const page of this.#rows()) {
      const reason = filter(page) ? problem(page.path) : FILTERED;
      if (reason === null) yield page;
      else leftOut.push({ page, reason });
    }
    if (leftOut.length > 0) onLeftOut?.(leftOut);
  }

  #rows(): AsyncGenerator<Page<Site>, void> {
    const { contentType, locale, since, unlisted = false, cursor, timeoutMs = TIMEOUT_MS, signal } = this.#options;
    const flag = unlisted ? "true" : null;
    const query = { contentType, locale, since: since?.toISOString(), unlisted: flag, cursor };
    return rows<Page<Site>>(this.#transport, { path: "/api/pages", query, authorized: unlisted, fresh: true, signal }, timeoutMs);
  }

  /**
   * The params of all pages below a route of the frontend, each once and decoded:
   * `/{locale}/articles/{slug}`, `/{*path}` (one or more segments) or `/{*path?}` (any number). Pages of
   * which no file can be written are left out.
   *
   * @throws FrontendMapError unless the list is complete. TypeError for a malformed template, and as
   *   `distinct`.
   */
  async toStaticParams<const Template extends string>(template: Template): Promise<StaticParams<Template>[]> {
    const match = route(template);
    const pages = this.buildable((path) => match(path) && fileProblem(path));
    const found = await distinct(pages, ({ path }) => match(path));
    return found.map(({ params }) => params) as StaticParams<Template>[];
  }
}

/**
 * The params of pages, each once; `paramsOf` returns null for a page that is left out.
 *
 * @throws TypeError if pages of two hosts have the same params, because a build would lack one of them.
 */
export async function distinct<Params, Site>(pages: AsyncIterable<Page<Site>>, paramsOf: (page: Page<Site>) => Params | null) {
  const found = new Map<string, { params: Params; page: Page<Site> }>();
  for await (const page of pages) {
    const params = paramsOf(page);
    if (params === null) continue;
    const key = JSON.stringify(params);
    const other = found.get(key)?.page ?? page;
    if (other.url !== page.url) {
      throw new TypeError(`${other.url} and ${page.url} are one route: build the pages of one \`locale\` at a time`);
    }
    found.set(key, { params, page });
  }
  return [...found.values()];
}
