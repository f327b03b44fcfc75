/** Sends requests to the service, and reads its envelopes. */
import { connectionError, FrontendMapError, invalidResponse, isOutage } from "../error.js";
import type { Settings } from "../options.js";
import { bytesOf, parsed } from "./body.js";
import { Deadline } from "./deadline.js";
import { failureOf } from "./failure.js";

/** One request to the service. */
export interface Call {
  /** The route: `/api/resolve`. */
  path: string;
  /** Its parameters beside the site; those that are null or undefined are left out. */
  query: Record<string, string | null | undefined>;
  /** JSON; makes it a POST. */
  body?: string;
  /** By default `application/json`. */
  accept?: string;
  /** Sends the token, if there is one. Implies `fresh`. */
  authorized?: boolean;
  /** No cache may have or keep the response. */
  fresh?: boolean;
  /** Whether to wait for `Retry-After`; true by default. */
  retry?: boolean;
  /** The path that the result is about: its tag in the cache of Next.js is `pathTag`. */
  about?: string;
  /** Makes it another request for a cache. */
  cacheKey?: number;
  /** With it the caller gives up. */
  signal?: AbortSignal | undefined;
}

/** Until a build repeats a request: the service may be restarting. */
const REPEAT_MS = 2_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The longest tag of Next.js; it drops others. */
const MAX_TAG = 256;

/** The tag of results about one path; for a path that is too long, the tag of all results. */
export function pathTag(tag: string, path: string): string {
  const own = `${tag}:${path}`;
  return own.length <= MAX_TAG ? own : tag;
}

export class Transport {
  readonly #settings: Settings;
  /** What all requests are about. */
  readonly site: string;

  constructor(settings: Settings) {
    this.site = settings.site;
    this.#settings = settings;
  }

  /** The URL of a request; it never has a token. */
  url({ path, query }: Call): string {
    const given = Object.entries({ site: this.site, ...query }).filter(([, value]) => value != null);
    return `${this.#settings.base}${path}?${new URLSearchParams(given as [string, string][])}`;
  }

  /**
   * The body of a 2xx.
   *
   * @throws FrontendMapError for any other status, and without a complete response in time.
   */
  async text(call: Call, repeats = this.#settings.repeats): Promise<string> {
    const deadline = new Deadline(this.#settings.timeoutMs, call.signal);
    try {
      return await deadline.wait(async () => {
        const text = await bodyOf(await this.open(call, deadline));
        // Next.js keeps each body with a status of 200, also one that is no result: with another header, it asks.
        if (dataIn(text) || !this.#settings.init.next) return text;
        return bodyOf(await this.open({ ...call, cacheKey: performance.now() }, deadline));
      });
    } catch (error) {
      if (!repeats || !isOutage(error)) throw error;
      await pause(REPEAT_MS);
      return this.text(call, repeats - 1);
    }
  }

  /**
   * A response with a status of 2xx, whose body has not been read.
   *
   * @throws FrontendMapError for any other status, and without a connection.
   */
  async open(call: Call, deadline: Deadline, minPause = 0): Promise<Response> {
    try {
      const response = await unredirected(this.#settings.fetch(this.url(call), this.#init(call, deadline)));
      if (response.ok) return response;
      throw await refusal(response, call.path);
    } catch (error) {
      const { status, retryAfter } = error instanceof FrontendMapError ? error : {};
      const pauseMs = Math.max(retryAfter ?? Infinity, minPause) * 1_000;
      if (call.retry === false || (status !== 503 && status !== 429) || pauseMs >= deadline.leftMs) throw error;
      await pause(pauseMs);
      // Once, but with a cursor until the time is over: an instance may not have the changes up to it yet.
      return this.open({ ...call, retry: !!call.query.cursor }, deadline, 1);
    }
  }

  #init(call: Call, deadline: Deadline): RequestInit {
    const { init: { next, ...init }, token } = this.#settings;
    const headers = new Headers(init.headers);
    headers.set("accept", call.accept ?? "application/json");
    if (call.body) headers.set("content-type", "application/json");
    if (call.cacheKey) headers.set("x-cache-key", `${call.cacheKey}`);
    if (call.authorized && token) headers.set("authorization", `Bearer ${token}`);
    const fresh = call.authorized || call.fresh;
    return {
      ...init,
      // `next` has a lifetime, which contradicts `no-store`.
      ...(fresh ? { cache: "no-store" as const } : { next: tagged(next, call.about) }),
      method: call.body ? "POST" : "GET",
      body: call.body ?? null,
      headers,
      redirect: "manual",
      signal: deadline.signal,
    };
  }
}

/** The option `next` of a request, with the tag of the path. */
function tagged(next: unknown, path: string | undefined): unknown {
  const { tags = [] } = (next ?? {}) as { tags?: string[] };
  return path && tags[0] ? { ...(next as object), tags: [...tags, pathTag(tags[0], path)] } : next;
}

const dataIn = (text: string) => (parsed(text) as { data?: unknown } | null | undefined)?.data;

/** `data` of the envelope. @throws FrontendMapError if it is not one of this service. */
export function dataOf(text: string): Record<string, unknown> {
  const data = dataIn(text);
  if (typeof data !== "object" || data === null) throw invalidResponse("the response has no `data`");
  return data as Record<string, unknown>;
}

/** More than any result of the service has, in bytes. */
const MAX_BODY_BYTES = 64 * 2 ** 20;

/** @throws FrontendMapError if the response breaks off, or is endless. */
async function bodyOf(response: Response): Promise<string> {
  const bytes = await connected(bytesOf(response.body, MAX_BODY_BYTES));
  if (bytes === null) throw invalidResponse("the response is too long");
  return new TextDecoder().decode(bytes);
}

/** What a response with an error status means; it says enough if the body does not arrive. */
export async function refusal(response: Response, path: string): Promise<FrontendMapError> {
  return failureOf(response, path, await bodyOf(response).catch(() => ""));
}

/**
 * The response to a request with `redirect: "manual"`: a token must not reach another server. Cloudflare
 * Workers refuse the value `error`.
 *
 * @throws FrontendMapError `ConnectionError` for a redirect, too.
 */
export async function unredirected(step: Promise<Response>): Promise<Response> {
  const response = await connected(step);
  const { status, type, body } = response;
  // Browsers hide the status.
  if (type !== "opaqueredirect" && (status < 300 || status === 304 || status >= 400)) return response;
  await connected(Promise.resolve(body?.cancel()));
  throw connectionError();
}

/** The result of a step of `fetch`. @throws FrontendMapError `ConnectionError` if the step fails. */
export async function connected<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (cause) {
    // Next.js throws such errors to say that a page is not static.
    if ((cause as { digest?: unknown } | null)?.digest) throw cause;
    throw connectionError(cause);
  }
}
