/** Sends requests to the service, and reads its envelopes. */
import { FrontendMapError, invalidResponse } from "../error.js";
import type { Settings } from "../options.js";
import { Deadline } from "./deadline.js";
import { ServiceError } from "./failure.js";

/** One request to the service. */
export interface Call {
  /** The route: `/api/resolve`. */
  path: string;
  /** Its parameters; those that are null or undefined are left out. */
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
}

export class Transport {
  constructor(private readonly settings: Settings) {}

  /** The URL of a request; it never has a token. */
  url({ path, query }: Call): string {
    const given = Object.entries(query).filter(([, value]) => value != null);
    return `${this.settings.base}${path}?${new URLSearchParams(given as [string, string][])}`;
  }

  /**
   * The body of a 2xx.
   *
   * @throws FrontendMapError for any other status, and without a complete response in time.
   */
  text(call: Call): Promise<string> {
    const deadline = new Deadline(this.settings.timeoutMs);
    return deadline.wait(async () => bodyOf(await this.open(call, deadline)));
  }

  /**
   * A response with a status of 2xx, whose body has not been read.
   *
   * @throws FrontendMapError for any other status, and without a connection.
   */
  async open(call: Call, deadline: Deadline): Promise<Response> {
    try {
      return await this.#once(call, deadline);
    } catch (error) {
      const pauseMs = call.retry === false ? null : pauseBeforeRetry(error);
      if (pauseMs === null || pauseMs >= deadline.leftMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      return this.#once(call, deadline);
    }
  }

  async #once(call: Call, deadline: Deadline): Promise<Response> {
    const response = await connected(this.settings.fetch(this.url(call), this.#init(call, deadline)));
    if (response.ok) return response;
    // Its status says enough if the body does not arrive.
    const body = await response.text().catch(() => "");
    throw ServiceError.of(response, call.path, body);
  }

  #init(call: Call, deadline: Deadline): RequestInit {
    const { init, token } = this.settings;
    const headers = new Headers(init.headers);
    headers.set("accept", call.accept ?? "application/json");
    if (call.body !== undefined) headers.set("content-type", "application/json");
    if (call.authorized && token) headers.set("authorization", `Bearer ${token}`);
    // `next` has a lifetime, which contradicts `no-store`.
    const { next, ...rest } = init;
    const fresh = call.authorized || call.fresh;
    return {
      ...(fresh ? { ...rest, cache: "no-store" as const } : init),
      method: call.body === undefined ? "GET" : "POST",
      body: call.body ?? null,
      headers,
      // A token must not reach another server.
      redirect: "error",
      signal: deadline.signal,
    };
  }
}

/** `data` of the envelope. @throws FrontendMapError if it is not one of this service. */
export function dataOf(text: string): Record<string, unknown> {
  let envelope: { data?: unknown } | null;
  try {
    envelope = JSON.parse(text) as { data?: unknown } | null;
  } catch (cause) {
    throw invalidResponse("the response is not JSON", cause);
  }
  const data = envelope?.data;
  if (typeof data !== "object" || data === null) throw invalidResponse("the response has no `data`");
  return data as Record<string, unknown>;
}

/** @throws FrontendMapError if the response breaks off. */
export function bodyOf(response: Response): Promise<string> {
  return connected(response.text());
}

/** The result of a step of `fetch`. @throws FrontendMapError `ConnectionError` if the step fails. */
export async function connected<T>(step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (cause) {
    // Next.js throws such errors to say that a page is not static.
    if (typeof cause === "object" && cause !== null && "digest" in cause) throw cause;
    const message = "frontend-map: no connection, or it broke off, or a redirect";
    throw new FrontendMapError(message, { name: "ConnectionError", cause });
  }
}

/** Milliseconds until the service wants the request again; null if it does not say so. */
function pauseBeforeRetry(error: unknown): number | null {
  if (!(error instanceof FrontendMapError) || error.retryAfter === null) return null;
  return error.status === 503 || error.status === 429 ? error.retryAfter * 1000 : null;
}
