/** What the client is created with. */
import type { SiteKey } from "./types.js";

export interface Options<Site extends SiteKey = SiteKey> {
  /** The address of the service, such as `http://frontend-map:8080`; may have a path. */
  url: string | URL;
  /** The key of the site in the service's settings. */
  site: Site;
  /** The bearer token for drafts and unlisted pages; it is sent with nothing else. */
  token?: string | undefined;
  /** In place of the platform's `fetch`; called as `fetch(url, init)`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** How long a call may wait for the service, a retry included. Milliseconds, 3,000 by default. */
  timeoutMs?: number | undefined;
  /**
   * Sent with each request that may be cached, such as `{ next: { revalidate: 60 } }`. Method, body
   * and redirect are the client's, and the signal is that of each call.
   */
  init?: (RequestInit & { next?: unknown }) | undefined;
  /**
   * How many results are kept for the time in which the service fails. At most for 24 hours, and at
   * most 32 Mi characters; none by default.
   */
  lastGood?: number | undefined;
  /**
   * Whether this is a build, for which nobody waits: a request may take 10 s and is repeated twice, and
   * nothing is kept, whatever `timeoutMs` and `lastGood` are.
   */
  build?: boolean | undefined;
}

/** The options after the checks. */
export interface Settings {
  /** Without a slash at the end. */
  base: string;
  site: string;
  token: string | undefined;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Whether `fetch` is the platform's. */
  platformFetch: boolean;
  timeoutMs: number;
  /** How often a request is sent again that has failed. */
  repeats: number;
  init: RequestInit & { next?: unknown };
  lastGood: number;
}

const BUILD_TIMEOUT_MS = 10_000;
const BUILD_REPEATS = 2;

/** What setTimeout takes. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** @throws TypeError if an option is unusable; no message has the token or the address. */
export function checked(options: Options): Settings {
  const { url, site, token, timeoutMs = 3_000, lastGood = 0, build } = options;
  const { protocol, username, password, origin, pathname } = new URL(URL.canParse(url) ? url : "none:");
  const isAddress = /^https?:$/.test(protocol) && !username && !password;
  refuseUnless(isAddress, "`url` is no http(s) address, or has a user name: use `init.headers`");
  refuseUnless(site && typeof site === "string", "`site` is not a site's key");
  refuseUnless(timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS, `\`timeoutMs\` is not from 1 to ${MAX_TIMEOUT_MS}`);
  refuseUnless(Number.isInteger(lastGood) && lastGood >= 0, "`lastGood` is not a number of results");
  refuseUnless(!token || !isBrowser(), "`token` is in code that runs in a browser");
  return {
    base: origin + pathname.replace(/\/+$/, ""),
    site,
    token: token || undefined,
    // Looked up for each request: frameworks replace the global one.
    fetch: options.fetch ?? ((target, init) => globalThis.fetch(target, init)),
    platformFetch: !options.fetch,
    timeoutMs: build ? BUILD_TIMEOUT_MS : timeoutMs,
    repeats: build ? BUILD_REPEATS : 0,
    init: options.init ?? {},
    lastGood: build ? 0 : lastGood,
  };
}

function refuseUnless(usable: unknown, problem: string): void {
  if (!usable) throw new TypeError(problem);
}

/** Whether visitors run this code: a page, or a worker of one. */
function isBrowser(): boolean {
  const scope = globalThis as { window?: { document?: unknown }; importScripts?: unknown };
  return Boolean(scope.window?.document ?? scope.importScripts);
}
