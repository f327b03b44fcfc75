/** A webhook as the service sends it. */
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { NOTIFY_SECRET } from "./service.js";

/** Says that changes are missing, so that the frontend reads all pages again. */
export async function sendReset(url) {
  const [id, timestamp] = [`msg_${randomUUID()}`, String(Math.floor(Date.now() / 1000))];
  const data = { site: "main", changes: [], reset: true };
  const body = JSON.stringify({ type: "frontend-map.changes", timestamp: new Date().toISOString(), data });
  const key = Buffer.from(NOTIFY_SECRET.replace("whsec_", ""), "base64");
  const send = (signature) =>
    fetch(url, {
      method: "POST",
      body,
      headers: { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` },
    });
  assert.equal((await send("AAAA")).status, 401);
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const response = await send(signature);
  assert.ok(response.ok, `${url}: ${response.status} ${await response.text()}`);
}
