/** Verifies the webhooks that the service sends: https://www.standardwebhooks.com. */
import { FrontendMapError } from "./error.js";
import { bytesOf, joined, parsed } from "./http/body.js";
import type { components } from "./openapi.js";

/** How old, or early, a timestamp may be; as the specification's own libraries have it. */
const TOLERANCE_SECONDS = 300;
/** Room for 100 changes with the longest paths. */
const MAX_BODY_BYTES = 4 * 2 ** 20;
/** What the service sends. */
const TYPE = "frontend-map.changes";
/** More deliveries than a frontend gets within the tolerance. */
const MAX_SEEN = 10_000;

/** A verified delivery. With `data.reset`, changes are missing: read all pages again. */
export type WebhookEvent = components["schemas"]["ChangesMessage"] & {
  /** The same for each attempt to deliver this event. */
  id: string;
};

/** Remembers deliveries for as long as their timestamps are valid, to refuse replays. */
export class Webhooks {
  /** When each delivery was seen, in Unix seconds, oldest first. */
  readonly #seen = new Map<string, number>();

  /**
   * @param secret `whsec_` and base64; several while they are exchanged.
   * @throws FrontendMapError `WebhookError` with `status` for the response, and as `reason`
   *   `header_missing`, `timestamp_invalid`, `body_too_long`, `signature_wrong`, `replayed` or
   *   `body_invalid`. TypeError if a secret is unusable.
   */
  async verify(request: Request, secret: string | readonly string[]): Promise<WebhookEvent> {
    const keys = await Promise.all([secret].flat().map(keyOf));
    const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
      request.headers.get(`webhook-${name}`),
    );
    if (!id || !timestamp || !signatures) throw refused("header_missing");
    const now = Date.now() / 1000;
    if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) {
      throw refused("timestamp_invalid");
    }
    const body = await bytesOf(request.body, MAX_BODY_BYTES);
    if (body === null) throw refused("body_too_long", 413);
    const head = new TextEncoder().encode(`${id}.${timestamp}.`);
    if (!(await isSigned(keys, signatures, joined([head, body])))) throw refused("signature_wrong");
    // An attempt to deliver the event again has a new timestamp.
    if (!this.#isFirst(`${timestamp}.${id}`, now)) throw refused("replayed", 409);
    return eventOf(id, body);
  }

  #isFirst(delivery: string, now: number): boolean {
    for (const [old, at] of this.#seen) {
      if (now - at <= 2 * TOLERANCE_SECONDS && this.#seen.size < MAX_SEEN) break;
      this.#seen.delete(old);
    }
    if (this.#seen.has(delivery)) return false;
    this.#seen.set(delivery, now);
    return true;
  }
}

/** Compares in constant time. A secret is exchanged without a gap by sending two signatures. */
async function isSigned(keys: CryptoKey[], signatures: string, content: BufferSource): Promise<boolean> {
  for (const signature of signatures.split(" ")) {
    const [version, text] = signature.split(",");
    const bytes = version === "v1" ? decoded(text ?? "") : null;
    if (bytes === null) continue;
    for (const key of keys) {
      if (await crypto.subtle.verify("HMAC", key, bytes, content)) return true;
    }
  }
  return false;
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = decoded(secret.replace(/^whsec_/, ""));
  if (!bytes || bytes.length < 24 || bytes.length > 64) {
    throw new TypeError("the webhook secret is not `whsec_` and base64 of 24 to 64 bytes");
  }
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** The bytes of base64; null if it is none. */
function decoded(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function eventOf(id: string, body: Uint8Array): WebhookEvent {
  // Signed, and perhaps no JSON.
  const event = parsed(new TextDecoder().decode(body)) as WebhookEvent | null | undefined;
  if (event?.type !== TYPE || !Array.isArray(event.data?.changes)) throw refused("body_invalid", 400);
  return { ...event, id };
}

function refused(reason: string, status = 401): FrontendMapError {
  return new FrontendMapError(`frontend-map: the webhook is refused: ${reason}`, {
    name: "WebhookError",
    status,
    reason,
  });
}
