/** Passes the service's sitemap files on, below the frontend's own host. */
import { invalidResponse } from "./error.js";
import { bytesOf } from "./http/body.js";
import { Deadline } from "./http/deadline.js";
import { type Http, nodeHttp, plainResponse } from "./http/plain.js";
import { connected, refusal, unredirected } from "./http/transport.js";
import type { Settings } from "./options.js";

/** What the service needs of the crawler's request, and the crawler of the response. */
const REQUEST_HEADERS = ["accept-encoding", "if-none-match", "if-modified-since"];
const RESPONSE_HEADERS = [
  "age",
  "cache-control",
  "content-type",
  "etag",
  "last-modified",
  "retry-after",
  "vary",
];

/** `fetch` has decoded the body, whatever these say; the frontend's server may compress it. */
const UNDECODED_HEADERS = ["content-encoding", "content-length"];

/** What sitemaps may have (sitemaps.org), in bytes. */
const MAX_BYTES = 50 * 2 ** 20;

export interface SitemapOptions {
  /** Of a site with several hosts: the one whose files these are, `host[:port]`. */
  host?: string | undefined;
  /** Ends the call with its reason. */
  signal?: AbortSignal | undefined;
}

/**
 * The response to `/sitemap.xml`, `/robots.txt` or `/sitemaps/<file>`; null for any other request,
 * so that the frontend goes on. It is a whole file, a 304, or the 404 with which the service says that
 * it has no such file: crawlers forget pages for anything else with such a status.
 *
 * @throws FrontendMapError unless the service sends one of these within `timeoutMs`.
 */
export async function sitemap(
  settings: Settings,
  request: Request,
  { host, signal }: SitemapOptions = {},
): Promise<Response | null> {
  const file = fileOf(new URL(request.url).pathname);
  if (file === null || !["GET", "HEAD"].includes(request.method)) return null;
  const names = host ? [settings.site, host, file] : [settings.site, file];
  const path = `/sitemaps/${names.map(encodeURIComponent).join("/")}`;
  const deadline = new Deadline(settings.timeoutMs, signal);
  return deadline.wait(async () => {
    const url = settings.base + path;
    const http = settings.platformFetch ? nodeHttp(url) : null;
    const response = await unredirected(requested(settings, http, url, request, deadline.signal));
    const { status } = response;
    const headers = taken(response.headers, http ? [...RESPONSE_HEADERS, ...UNDECODED_HEADERS] : RESPONSE_HEADERS);
    if (status === 304) return new Response(null, { status, headers });
    if (status !== 200) {
      const failure = await refusal(response, path);
      if (status !== 404 || failure.reason !== "no_file") throw failure;
      return new Response(null, { status, headers: { "cache-control": "no-store" } });
    }
    const body = await connected(bytesOf(response.body, MAX_BYTES));
    const isHead = request.method === "HEAD";
    if (body === null || !isFile(file, headers, isHead ? null : body)) throw invalidResponse(`${path} is not a sitemap file`);
    return new Response(isHead ? null : body, { status, headers });
  });
}

/** What a file of the service begins with. */
const BEGINNINGS = { xml: "<?xml ", txt: "Sitemap: ", gzip: "\u001f\u008b" };

/** Whether the body is what the file's name says, or, of a HEAD, the type. */
function isFile(file: string, headers: Headers, body: Uint8Array | null): boolean {
  const type = file.endsWith(".txt") ? "txt" : "xml";
  if (!headers.get("content-type")?.startsWith(type === "txt" ? "text/plain" : "application/xml")) return false;
  const beginning = BEGINNINGS[headers.get("content-encoding") === "gzip" ? "gzip" : type];
  return body === null || String.fromCharCode(...body.subarray(0, beginning.length)) === beginning;
}

/** The file's name in the service's folder of the site; null if the path is none of a sitemap. */
function fileOf(pathname: string): string | null {
  const [, inFolder, atRoot] = /^\/(?:sitemaps\/([\w.-]+)|(sitemap\.xml|robots\.txt))$/.exec(pathname) ?? [];
  return inFolder ?? atRoot ?? null;
}

async function requested(
  { fetch, init }: Settings,
  http: Http | null,
  url: string,
  request: Request,
  signal: AbortSignal,
): Promise<Response> {
  const headers = new Headers([...new Headers(init.headers), ...taken(request.headers, REQUEST_HEADERS)]);
  const { method } = request;
  if (http) return plainResponse(http, url, { method, headers, signal });
  headers.set("accept-encoding", "identity");
  const { next, ...rest } = init;
  return fetch(url, { ...rest, cache: "no-store", method, headers, redirect: "manual", signal });
}

function taken(headers: Headers, names: string[]): Headers {
  return new Headers([...headers].filter(([name]) => names.includes(name)));
}
