/** The error that every function of the client throws when it has no result. */

/** What is known of a failure. */
export interface Failure {
  /** The HTTP status; null without a response. */
  status?: number | null;
  /** `error.name` of the service, or `TimeoutError`, `ConnectionError`, `InvalidResponseError`. */
  name: string;
  /** `error.details.reason` of the service, such as `no_version`. */
  reason?: string | null;
  /** `error.details` of the service. */
  details?: Record<string, unknown>;
  /** `X-Request-Id` of the response. */
  requestId?: string | null;
  /** `Retry-After` of the response, in seconds. */
  retryAfter?: number | null;
  /** What the platform threw. */
  cause?: unknown;
}

/**
 * The service did not say what was asked: it failed, did not respond in time, or refused the
 * request. It never means that a page or a document does not exist.
 */
export class FrontendMapError extends Error {
  /** The HTTP status; null if there was no response, or none that is complete. */
  declare readonly status: number | null;
  /**
   * `error.name` of the service, or one of the client's own: `TimeoutError`, `ConnectionError`,
   * `InvalidResponseError` (not a response of this service), `HttpError` (an error of a server
   * between, such as a proxy), `WebhookError`.
   */
  declare readonly name: string;
  /** The service's reason, such as `no_version`; for a webhook, why it was refused. */
  declare readonly reason: string | null;
  /** What else the service says of it; empty if the response is not one of this service. */
  declare readonly details: Record<string, unknown>;
  /** `X-Request-Id` of the response, as in the service's log. */
  declare readonly requestId: string | null;
  /** Seconds after which the service wants the next request. */
  declare readonly retryAfter: number | null;

  constructor(message: string, failure: Failure) {
    super(message);
    Object.assign(this, { status: null, reason: null, details: {}, requestId: null, retryAfter: null }, failure);
  }
}

/** The response is not one of this service: HTML, another shape, or a part of it. */
export function invalidResponse(what: string): FrontendMapError {
  return new FrontendMapError(`frontend-map: ${what}`, { name: "InvalidResponseError" });
}

/** There is no connection, it broke off, or leads elsewhere. */
export function connectionError(cause?: unknown): FrontendMapError {
  return new FrontendMapError("frontend-map: no connection, or it broke off, or led elsewhere", { name: "ConnectionError", cause });
}

/** Whether the service fails, so that what it said before is better than nothing. */
export function isOutage(error: unknown): error is FrontendMapError {
  if (!(error instanceof FrontendMapError)) return false;
  const { status, name } = error;
  // A proxy's 404 says nothing about a page.
  if (status === null || name === "HttpError") return true;
  // 501 is a setting that is missing, and does not pass by itself.
  return status === 429 || (status >= 500 && status !== 501);
}
