/** Reads the error of a response. */
import { FrontendMapError } from "../error.js";
import { parsed } from "./body.js";

/** The longest `Retry-After` that is followed, in seconds. */
const MAX_RETRY_AFTER = 86_400;

/** The error envelope of the service: docs/http-api.md, "Envelopes". */
interface Envelope {
  error?: { name?: unknown; message?: unknown; details?: Record<string, unknown> | null } | null;
}

/** What a response with an error status and this body means. */
export function failureOf(response: Response, path: string, body: string): FrontendMapError {
  const { name, message, details } = (parsed(body) as Envelope | null | undefined)?.error ?? {};
  const ours = typeof name === "string" && typeof message === "string";
  const { status } = response;
  const said = ours ? `${name}: ${message}` : "HttpError";
  return new FrontendMapError(`frontend-map: ${path}: ${status} ${said}`, {
    name: ours ? name : "HttpError",
    status,
    reason: ours && typeof details?.reason === "string" ? details.reason : null,
    details: (ours && details) || {},
    requestId: response.headers.get("x-request-id"),
    retryAfter: retryAfter(response.headers.get("retry-after")),
  });
}

/** Seconds, from a number or a date (RFC 9110, section 10.2.3); null if it is neither. */
export function retryAfter(value: string | null): number | null {
  if (value === null) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER);
}
