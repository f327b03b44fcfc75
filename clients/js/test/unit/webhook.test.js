/** Webhooks that are right, wrong, old and repeated. */
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { createFrontendMap, FrontendMapError } from "frontend-map-client";

const KEY = randomBytes(32);
const SECRET = `whsec_${KEY.toString("base64")}`;
const EVENT = {
  type: "frontend-map.changes",
  timestamp: "2026-11-02T01:00:00.000Z",
  data: {
    site: "main",
    changes: [{ type: "gone", contentType: "x", documentId: "a", locale: "de", path: "/ü", at: "2026-11-02T01:00:00.000Z" }],
  },
};

/** A delivery as the service sends it; each part can be another one. */
function delivery({ id = "msg_1", at = Date.now() / 1000, body = JSON.stringify(EVENT), key = KEY, headers = {} } = {}) {
  const timestamp = String(Math.floor(at));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  const signed = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}`, ...headers };
  const given = Object.entries(signed).filter(([, value]) => value !== null);
  return new Request("https://www.example.com/hooks", { method: "POST", body, headers: given });
}

const client = () => createFrontendMap({ url: "http://127.0.0.1:1", site: "main" });

function refused(request, reason, status = 401, map = client()) {
  return assert.rejects(map.verifyWebhook(request, SECRET), (error) => {
    assert.ok(error instanceof FrontendMapError);
    assert.deepEqual([error.name, error.reason, error.status], ["WebhookError", reason, status]);
    return true;
  });
}

test("vector of the specification is accepted", async (t) => {
  t.mock.method(Date, "now", () => 1_614_265_330_000);
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const request = new Request("https://x/", { method: "POST", body: '{"test": 2432232314}', headers });
  // Its signature is right; it is no event of this service.
  await assert.rejects(client().verifyWebhook(request, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), {
    reason: "body_invalid",
  });
});

test("event of a right signature is returned with its id", async () => {
  assert.deepEqual(await client().verifyWebhook(delivery(), SECRET), { ...EVENT, id: "msg_1" });
});

test("one of several signatures, and one of several secrets, is enough", async () => {
  const { headers } = delivery();
  const several = `v1a,xxx v1,AAAA v2,BBBB ${headers.get("webhook-signature")}`;
  const request = delivery({ at: Number(headers.get("webhook-timestamp")), headers: { "webhook-signature": several } });
  const old = `whsec_${randomBytes(24).toString("base64")}`;
  assert.equal((await client().verifyWebhook(request, [old, SECRET])).id, "msg_1");
});

test("wrong signatures are refused", async () => {
  const other = randomBytes(32);
  await refused(delivery({ key: other }), "signature_wrong");
  for (const signature of ["v1,", "v1,!!!", "v1", "x", "v2,AAAA"]) {
    await refused(delivery({ headers: { "webhook-signature": signature } }), "signature_wrong");
  }
  const { headers } = delivery();
  const changed = JSON.stringify({ ...EVENT, data: { site: "other", changes: [] } });
  await refused(new Request("https://x/", { method: "POST", body: changed, headers }), "signature_wrong");
  await refused(delivery({ headers: { "webhook-id": "msg_2" } }), "signature_wrong");
});

test("old, early and malformed timestamps are refused", async () => {
  const now = Date.now() / 1000;
  await refused(delivery({ at: now - 310 }), "timestamp_invalid");
  await refused(delivery({ at: now + 310 }), "timestamp_invalid");
  for (const text of ["NaN", "1e9", "-1", "9".repeat(13)]) {
    await refused(delivery({ headers: { "webhook-timestamp": text } }), "timestamp_invalid");
  }
  await client().verifyWebhook(delivery({ at: now - 290 }), SECRET);
});

for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"]) {
  test(`delivery without ${name} is refused`, () => refused(delivery({ headers: { [name]: null } }), "header_missing"));
}

test("replay is refused, and another attempt of the service is not", async () => {
  const map = client();
  const at = Date.now() / 1000;
  await map.verifyWebhook(delivery({ at }), SECRET);
  await refused(delivery({ at }), "replayed", 409, map);
  assert.equal((await map.verifyWebhook(delivery({ at: at + 1 }), SECRET)).id, "msg_1");
});

test("refused delivery does not block the right one", async () => {
  const map = client();
  const at = Date.now() / 1000;
  await refused(delivery({ at, key: randomBytes(32) }), "signature_wrong", 401, map);
  await map.verifyWebhook(delivery({ at }), SECRET);
});

test("signed body that is no event is refused", async () => {
  for (const body of ["", "null", "{", "[]", '{"type":"x","data":{}}', '{"type":"frontend-map.changes"}']) {
    await refused(delivery({ body }), "body_invalid", 400);
  }
});

test("body that is too long is refused before its end", async () => {
  let sent = 0;
  const endless = new ReadableStream({
    pull(controller) {
      sent += 1;
      controller.enqueue(new Uint8Array(2 ** 20));
    },
  });
  const { headers } = delivery();
  const request = new Request("https://x/", { method: "POST", body: endless, headers, duplex: "half" });
  await refused(request, "body_too_long", 413);
  assert.ok(sent < 10);
});

for (const secret of ["", "whsec_", "whsec_!", "whsec_c2hvcnQ=", `whsec_${randomBytes(65).toString("base64")}`]) {
  test(`unusable secret of ${secret.length} characters is a TypeError without it`, async () => {
    await assert.rejects(client().verifyWebhook(delivery(), secret), (error) => {
      assert.ok(error instanceof TypeError);
      assert.ok(secret.length < 8 || !error.message.includes(secret));
      return true;
    });
  });
}
