/** Requests a file without decoding it, where the platform can: `fetch` always decodes gzip. */
import type { IncomingMessage } from "node:http";
import { connectionError } from "../error.js";
import { isWorkers } from "./workers.js";

export type Http = typeof import("node:http");
/** TypeScript does not know it. */
type Streams = { from(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> };

/** The module of Node.js; null on other platforms. An import would break bundles for them. */
export function nodeHttp(url: string): Http | null {
  if (isWorkers) return null;
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const name = url.startsWith("https:") ? "node:https" : "node:http";
  try {
    return (process?.getBuiltinModule?.(name) as Http | undefined) ?? null;
  } catch {
    // Next.js's edge runtime has the function, which throws.
    return null;
  }
}

/** The response as the service sends it. @throws FrontendMapError `ConnectionError`. */
export async function plainResponse(
  http: Http,
  url: string,
  init: { method: string; headers: Headers; signal: AbortSignal },
): Promise<Response> {
  const headers = Object.fromEntries(init.headers);
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = http.request(url, { method: init.method, headers }, resolve);
    request.on("error", reject).end();
    // The option `signal` destroys a connection that is idle again with an error, which ends the process.
    init.signal.addEventListener("abort", () => request.destroy());
  }).catch((cause: unknown) => {
    throw connectionError(cause);
  });
  const status = message.statusCode as number;
  const bodiless = init.method === "HEAD" || status === 204 || status === 304;
  if (bodiless) message.resume();
  // The body reports it; before the first read, an abort would end the process.
  message.on("error", () => {});
  // Fails where the response breaks off, so that a part of a file is never taken for the whole.
  const body = bodiless ? null : (ReadableStream as unknown as Streams).from(message);
  return new Response(body, { status, headers: new Headers(message.headers as Record<string, string>) });
}
