/** What a frontend was asked for, as the service wants it. */

/** The longest pathname that the service takes, in bytes. */
const MAX_BYTES = 2_048;

export interface Target {
  /** Without query and fragment, percent-encoded as it came. */
  pathname: string;
  /** `host[:port]`, if the whole URL is known. */
  host: string | null;
}

/** Splits a path or an absolute URL. Of a URL of another host, the path counts. */
export function target(from: string | URL): Target {
  if (typeof from !== "string" || /^https?:\/\//i.test(from)) return new URL(from);
  return { pathname: from.replace(/[?#].*/s, ""), host: null };
}

/**
 * Whether no page can have this path: it is too long, or has a control character that is not
 * percent-encoded. The service refuses such a path (400). Visitors send them, so they are no error.
 */
export function isImpossible(pathname: string): boolean {
  return /\p{Cc}/u.test(pathname) || new TextEncoder().encode(pathname).length > MAX_BYTES;
}
