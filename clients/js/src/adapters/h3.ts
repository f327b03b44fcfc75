/** What Nuxt's server, h3, gives to its handlers, and takes from them. */
import { FrontendMapError } from "../error.js";

/** What the adapter uses of the `H3Event` of Nuxt 4. */
export interface NuxtEvent {
  /** Decoded: `/a?b` for `/a%3Fb`. */
  path: string;
  method: string;
  headers: Headers;
  context: object;
  node: {
    /** `url` is as the visitor sent it. */
    req: { url?: string | undefined };
    res: { statusCode: number; setHeader(name: string, value: string): unknown };
  };
}

/** The request of an event. A `Host` that is none of a URL counts as absent. */
export function requestOf({ path, method, headers, node }: NuxtEvent): { request: Request; url: URL } {
  const base = `http://${headers.get("host")}`;
  // Of a `Host` with a path, only the host may count.
  const { origin } = new URL(URL.canParse(base) ? base : "http://localhost");
  const url = new URL(origin + (node.req.url ?? path));
  // There is no `Request` of the method TRACE.
  return { request: new Request(url, { method: method === "TRACE" ? "OPTIONS" : method, headers }), url };
}

/** An error that h3 sends with this status. */
export function errorOf(status: number, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { statusCode: status });
}

/**
 * Throws an error without the status that the service sent to the frontend, which h3 would send to the
 * visitor: a 404 of each page where the address of the service is wrong.
 */
export function rethrowWithoutStatus(error: unknown): never {
  throw error instanceof FrontendMapError ? errorOf(500, error.message, error) : error;
}
