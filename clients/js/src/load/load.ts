/** One page load: what is at a path, and its content from the CMS. */
import type { FrontendMap } from "../client.js";
import { unlessAborted } from "../http/abort.js";
import { pathTag } from "../http/transport.js";
import type { ContentType, DocumentPage, LastGood, Locale, Resolution, SiteKey } from "../types.js";

export { strapi, type StrapiOptions } from "./strapi.js";

/** What a fetcher is given beside the page. */
export interface ContentRequest {
  /** Whether to fetch the draft; no cache may keep it. */
  draft: boolean;
  /** Those of the page, for a cache that is revalidated by tags. Empty for a draft. */
  tags: string[];
  /** Aborted when the caller gives up, and when the time is over. */
  signal: AbortSignal;
}

/** Fetches the content of a page; null if the CMS does not have the document (any more). */
type Fetcher<Page> = (page: Page, request: ContentRequest) => Promise<unknown>;
type Fetchers<Site> = { [Uid in ContentType<Site>]?: Fetcher<DocumentPage<Site, Uid>> };
/** What the fetcher of a content type returns; undefined without one. */
type ContentOf<Content, Uid> = Uid extends keyof Content
  ? Content[Uid] extends (...given: never[]) => Promise<infer Result> ? Result : undefined
  : undefined;

/** A result of `resolve` with `tags`, and, if it is a document, with `content`. */
export type Loaded<Site, Content> = WithContent<Resolution<Site> & { lastGood?: LastGood }, Content>;
type WithContent<Page, Content> = Page extends { contentType: infer Uid extends string }
  ? Page & { content: ContentOf<Content, Uid>; tags: string[] }
  : Page & { content?: never; tags: string[] };

interface LoaderOptions<Content> {
  /** How the content of each content type is fetched; a document of another one has `content: undefined`. */
  content: Content;
  /** The tag of all results; the first of the client's `init.next.tags`. `frontend-map` by default. */
  tag?: string | undefined;
  /** When the content must be there, after the beginning of the call. Milliseconds, 3,000 by default. */
  timeoutMs?: number | undefined;
}

export interface LoadOptions<Site> {
  /** For a path that does not determine its locale. */
  locale?: Locale<Site> | null | undefined;
  /** Drafts; where a path has none, what is published. */
  draft?: boolean | undefined;
  /** Ends the call with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * The function `load(path)`: `resolve`, and the content of a document by the fetcher of its content type.
 * It throws a FrontendMapError where `resolve` does, and what the fetcher throws.
 */
export function loader<Site extends SiteKey, const Content extends Fetchers<Site>>(
  map: FrontendMap<Site>,
  { content, tag = "frontend-map", timeoutMs = 3_000 }: LoaderOptions<Content>,
) {
  return async (path: string | URL, { draft = false, locale, signal }: LoadOptions<Site> = {}): Promise<Loaded<Site, Content>> => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const until = signal ? AbortSignal.any([signal, timeout]) : timeout;
    const found = draft ? await map.resolve(path, { draft, locale, signal }) : null;
    const isDraft = found !== null && found.kind !== "none";
    const page = isDraft ? found : await map.resolve(path, { locale, signal });
    const about = ("canonicalPath" in page && page.canonicalPath) || page.pathname;
    const tags = isDraft ? [] : [...new Set([tag, pathTag(tag, about)])];
    if (page.kind !== "document") return { ...page, tags } as Loaded<Site, Content>;
    const fetcher = (content as Record<string, Fetcher<unknown> | undefined>)[page.contentType];
    const fetched = fetcher && (await unlessAborted(fetcher(page, { draft: isDraft, tags, signal: until }), until));
    return { ...page, content: fetched, tags } as Loaded<Site, Content>;
  };
}
