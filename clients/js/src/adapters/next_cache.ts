/** Cache Components of Next.js: tags and lifetime of what a function with "use cache" returns. */
import { pathTag } from "../http/transport.js";

interface CachingOptions {
  /** The first of the client's `init.next.tags`. */
  tag: string;
  cacheTag(...tags: string[]): void;
  cacheLife(profile: { stale: number; revalidate: number; expire: number }): void;
  /** Seconds until it is read again without a webhook; 60 by default. */
  revalidate?: number | undefined;
}

/** A result of `resolve`; or the path that something is about; or nothing, of a list. */
interface About {
  pathname?: string;
  canonicalPath?: string | null;
  kind?: string;
  lastGood?: unknown;
}

/** The least with which Next.js keeps a result in a static page, in seconds. */
const MIN_STALE = 30;
const MIN_EXPIRE = 300;
const YEAR = 365 * 86_400;

/**
 * What a function with "use cache" calls once, with what its result is about. A page stays until there
 * is a new one. What is there while the service fails, or while there is no page or a redirect, is
 * read again with the next visit.
 */
export const caching =
  ({ tag, cacheTag, cacheLife, revalidate = 60 }: CachingOptions) =>
  ({ pathname, canonicalPath, kind, lastGood }: About = {}): void => {
    const path = canonicalPath ?? pathname;
    cacheTag(tag, ...(path === undefined ? [] : [pathTag(tag, path)]));
    // A document may be renamed back: with an old redirect and the new one, visitors would go in a circle.
    const isPage = kind !== "none" && kind !== "redirect";
    cacheLife({
      stale: MIN_STALE,
      revalidate: isPage && !lastGood ? revalidate : 1,
      expire: isPage ? YEAR : MIN_EXPIRE,
    });
  };
