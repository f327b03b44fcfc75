/** Reads the error of a response. */
import { FrontendMapError } from "../error.js";
import { parsed } from "./body.js";

/** The longest `Retry-After` that is followed, in seconds. */
const MAX_RETRY_AFTER = 86_400;

/** The error envelope of the service: docs/http-api.md, "Envelopes". */
interface Envelope {
  error?: { name?: unknown; message?: unknown } | null;
}
interface OurError {
  name: string;
  message: string;
  details?: Record<string, unknown> | null;
}

function isOurs(error: Envelope["error"]): error is OurError {
  return typeof error?.name === "string" && typeof error.message === "string";
}

/** What a response with an error status and this body means. */
export function failureOf(response: Response, path: string, body: string): FrontendMapError {
  const said = (parsed(body) as Envelope | null | undefined)?.error;
  const { name, message, details } = isOurs(said) ? said : { name: "HttpError", message: "" };
  const { status } = response;
  const reason = details?.reason;
  return new FrontendMapError(`frontend-map: ${path}: ${status} ${name}${message && `: ${message}`}`, {
    name,
    status,
    reason: typeof reason === "string" ? reason : null,
    details: details ?? {},
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
