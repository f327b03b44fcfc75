/** Passes the service's sitemap files on, below the frontend's own host. */
import { FrontendMapError } from "./error.js";
import { Deadline } from "./http/deadline.js";
import { nodeHttp, plainResponse } from "./http/plain.js";
import { connected } from "./http/transport.js";
import type { Settings } from "./options.js";

/** What the service needs of the crawler's request, and the crawler of the response. */
const REQUEST_HEADERS = ["accept-encoding", "if-none-match", "if-modified-since"];
const RESPONSE_HEADERS = [
  "age",
  "cache-control",
  "content-encoding",
  "content-length",
  "content-type",
  "etag",
  "last-modified",
  "retry-after",
  "vary",
];

/** Files that each site has. */
const ALWAYS = ["sitemap.xml", "index.xml", "robots.txt"];

export interface SitemapOptions {
  /** Of a site with several hosts: the one whose files these are, `host[:port]`. */
  host?: string | undefined;
}

/**
 * The response to `/sitemap.xml`, `/robots.txt` or `/sitemaps/<file>`; null for any other request,
 * so that the frontend goes on. An error of the service keeps its status, and is never cached.
 *
 * @throws FrontendMapError without a response in time, and for a 404 that does not say that there is
 *   no such file. A body that breaks off later is an error of its stream.
 */
export async function sitemap(
  settings: Settings,
  request: Request,
  { host }: SitemapOptions = {},
): Promise<Response | null> {
  const file = fileOf(new URL(request.url).pathname);
  if (file === null || !["GET", "HEAD"].includes(request.method)) return null;
  const folder = [settings.site, ...(host ? [host] : [])].map(encodeURIComponent).join("/");
  const deadline = new Deadline(settings.timeoutMs);
  const response = await deadline.wait(() =>
    requested(settings, `${settings.base}/sitemaps/${folder}/${file}`, request, deadline.signal),
  );
  const { status, body } = response;
  if (status >= 300 && status < 400 && status !== 304) {
    deadline.abort();
    throw new FrontendMapError("frontend-map: a redirect in place of a sitemap file", { name: "ConnectionError" });
  }
  const headers = taken(response.headers, RESPONSE_HEADERS);
  if (status === 404 && (ALWAYS.includes(file) || !headers.get("content-type")?.startsWith("application/json"))) {
    deadline.abort();
    // Of a proxy, or of a service without this site: a crawler would forget the file.
    throw new FrontendMapError("frontend-map: no sitemap file at this address", { name: "HttpError", status });
  }
  if (status >= 400) headers.set("cache-control", "no-store");
  return new Response(body && bounded(body, settings.timeoutMs, deadline), { status, headers });
}

/** The file's name in the service's folder of the site; null if the path is none of a sitemap. */
function fileOf(pathname: string): string | null {
  const [, file] = /^\/(?:sitemaps\/)?([\w.-]+)$/.exec(pathname) ?? [];
  if (file === undefined) return null;
  return pathname.startsWith("/sitemaps/") || file === "sitemap.xml" || file === "robots.txt" ? file : null;
}

function requested(
  { fetch, platformFetch, init }: Settings,
  url: string,
  request: Request,
  signal: AbortSignal,
): Promise<Response> {
  const headers = new Headers([...new Headers(init.headers), ...taken(request.headers, REQUEST_HEADERS)]);
  const { method } = request;
  const http = platformFetch ? nodeHttp(url) : null;
  if (http) return plainResponse(http, url, { method, headers, signal });
  // What `fetch` decodes cannot be passed on as it was; the frontend's server may compress it.
  headers.set("accept-encoding", "identity");
  const { next, ...rest } = init;
  return connected(fetch(url, { ...rest, cache: "no-store", method, headers, redirect: "error", signal }));
}

function taken(headers: Headers, names: string[]): Headers {
  const found = names.flatMap((name): [string, string][] => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return new Headers(found);
}

/** Ends with an error where the next part takes longer than the time-out. */
function bounded(body: ReadableStream<Uint8Array>, timeoutMs: number, deadline: Deadline): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await new Deadline(timeoutMs).wait(() => reader.read()).catch((error: unknown) => {
        deadline.abort();
        throw error;
      });
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => deadline.abort(),
  });
}
