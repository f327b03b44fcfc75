/** Options, sharing, retries and the token. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap } from "frontend-map-client";
import { deferred, document, failure, send, sendUrls, serve, success } from "../support/server.js";

const good = (response) => send(response, 200, success(document("/a")));
const busy = (response, retryAfter, status = 503) =>
  send(response, status, failure(status, "ServiceUnavailableError"), retryAfter === null ? {} : { "retry-after": retryAfter });

for (const [what, options] of [
  ["url that is none", { url: "service" }],
  ["url of a file", { url: "file:///x" }],
  ["url with a password", { url: "http://u:pa55@x" }],
  ["empty site", { site: "" }],
  ["timeoutMs of 0", { timeoutMs: 0 }],
  ["timeoutMs that is no number", { timeoutMs: Number.NaN }],
  ["timeoutMs that is too long", { timeoutMs: 2 ** 31 }],
  ["negative lastGood", { lastGood: -1 }],
  ["broken lastGood", { lastGood: 1.5 }],
]) {
  test(`${what} is a TypeError without the address`, () => {
    assert.throws(() => createFrontendMap({ url: "http://x", site: "main", ...options }), (error) => {
      assert.ok(error instanceof TypeError);
      assert.ok(!error.message.includes("pa55"));
      return true;
    });
  });
}

for (const [where, scope] of [
  ["page", { window: { document: {} } }],
  ["worker", { importScripts: () => {} }],
]) {
  test(`token in a ${where} of a browser throws, and a client without one does not`, (t) => {
    Object.assign(globalThis, scope);
    t.after(() => Object.keys(scope).forEach((name) => delete globalThis[name]));
    const options = { url: "http://x", site: "main" };
    assert.throws(() => createFrontendMap({ ...options, token: "s3cret" }), (error) => {
      assert.ok(error instanceof TypeError && !error.message.includes("s3cret"));
      return true;
    });
    createFrontendMap(options);
  });
}

test("address may have a path", async (t) => {
  const { url, received } = await serve(t, (_, response) => good(response));
  await createFrontendMap({ url: `${url}/map/`, site: "main" }).resolve("/a");
  assert.equal(received[0].url.pathname, "/map/api/resolve");
});

test("functions need no `this`", async (t) => {
  const { url } = await serve(t, (_, response) => good(response));
  const { resolve } = createFrontendMap({ url, site: "main" });
  assert.equal((await resolve("/a")).kind, "document");
});

test("token does not follow a redirect, to whatever host", async (t) => {
  const other = await serve(t, (_, response) => good(response));
  const { url } = await serve(t, (_, response) => send(response, 307, "", { location: `${other.url}/api/resolve` }));
  const map = createFrontendMap({ url, site: "main", token: "s3cret" });
  await assert.rejects(map.resolve("/a", { draft: true }), { name: "ConnectionError" });
  assert.equal(other.received.length, 0);
});

test("no error has the token", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 403, failure(403, "ForbiddenError")));
  const error = await createFrontendMap({ url, site: "main", token: "s3cret" })
    .resolve("/a", { draft: true })
    .catch((thrown) => thrown);
  assert.ok(!`${error.stack}${JSON.stringify(error)}`.includes("s3cret"));
});

test("callers of one path share one request, and each has its own result", async (t) => {
  const held = deferred();
  const { url, received } = await serve(t, async (_, response) => {
    await held.promise;
    good(response);
  });
  const map = createFrontendMap({ url, site: "main" });
  const calls = [map.resolve("/a"), map.resolve("/a?x"), map.alternates("/a")];
  held.resolve();
  const [first, second] = await Promise.all(calls);
  assert.equal(received.length, 1);
  assert.deepEqual(first, second);
  assert.notEqual(first, second);
  await map.resolve("/a");
  assert.equal(received.length, 2);
});

test("failure is shared, and the next call asks again", async (t) => {
  const { url, received } = await serve(t, (_, response) => (received.length === 1 ? busy(response, null) : good(response)));
  const map = createFrontendMap({ url, site: "main" });
  const results = await Promise.allSettled([map.resolve("/a"), map.resolve("/a")]);
  assert.deepEqual(results.map(({ status }) => status), ["rejected", "rejected"]);
  assert.equal((await map.resolve("/a")).kind, "document");
  assert.equal(received.length, 2);
});

test("drafts and published pages of one path do not share a request", async (t) => {
  const { url, received } = await serve(t, (_, response) => good(response));
  const map = createFrontendMap({ url, site: "main" });
  await Promise.all([map.resolve("/a"), map.resolve("/a", { draft: true })]);
  assert.equal(received.length, 2);
});

test("requests that Next.js ties to a page are not shared", async (t) => {
  const { url, received } = await serve(t, (_, response) => good(response));
  const map = createFrontendMap({ url, site: "main", init: { next: { tags: ["map"] } } });
  await Promise.all([map.resolve("/a"), map.resolve("/a")]);
  assert.equal(received.length, 2);
});

test("fetch is called with a URL and a plain init", async () => {
  const calls = [];
  const fetch = async (...call) => (calls.push(call), Response.json(success(document("/a"))));
  await createFrontendMap({ url: "http://service", site: "main", fetch, init: { next: { tags: ["a"] } } }).resolve("/a");
  const [[to, init, ...rest]] = calls;
  assert.equal(to, "http://service/api/resolve?site=main&pathname=%2Fa");
  assert.deepEqual([init.next, init.redirect, init.method, rest.length], [{ tags: ["a", "a:/a"] }, "manual", "GET", 0]);
});

test("signal of Next.js that a page is not static passes through", async () => {
  const signal = Object.assign(new Error("Dynamic server usage"), { digest: "DYNAMIC_SERVER_USAGE" });
  const map = createFrontendMap({ url: "http://service", site: "main", lastGood: 1, fetch: () => Promise.reject(signal) });
  await assert.rejects(map.resolve("/a", { draft: true }), (error) => error === signal);
});

test("fetch that ignores the signal cannot hold a caller", async () => {
  const map = createFrontendMap({ url: "http://service", site: "main", timeoutMs: 50, fetch: () => new Promise(() => {}) });
  await assert.rejects(map.resolve("/a"), { name: "TimeoutError" });
});

for (const [retryAfter, status, timeoutMs, requests] of [
  ["0", 503, 900, 2],
  ["1", 503, 60_000, 2],
  ["1", 429, 60_000, 2],
  [() => new Date(Date.now() + 1_500).toUTCString(), 503, 60_000, 2],
  ["5", 503, 5_000, 1],
  ["60", 503, 60_000, 1],
  [null, 503, 60_000, 1],
  ["soon", 503, 60_000, 1],
  ["1", 500, 60_000, 1],
]) {
  const text = typeof retryAfter === "function" ? "a date" : retryAfter;
  test(`${status} with Retry-After ${text} and ${timeoutMs} ms leads to ${requests} requests`, async (t) => {
    const { url, received } = await serve(t, (_, response) =>
      received.length === 1 ? busy(response, typeof retryAfter === "function" ? retryAfter() : retryAfter, status) : good(response),
    );
    const call = createFrontendMap({ url, site: "main", timeoutMs }).resolve("/a");
    if (requests === 2) assert.equal((await call).kind, "document");
    else await assert.rejects(call, { status });
    assert.equal(received.length, requests);
  });
}

test("Retry-After is honoured once", async (t) => {
  const { url, received } = await serve(t, (_, response) => busy(response, "0"));
  await assert.rejects(createFrontendMap({ url, site: "main" }).resolve("/a"), { status: 503, retryAfter: 0 });
  assert.equal(received.length, 2);
});

/** A `fetch` that keeps each body with a status of 200 by address and headers, as that of Next.js does. */
function keeping() {
  const kept = new Map();
  return async (url, init) => {
    const key = JSON.stringify([url, init.body, [...init.headers]]);
    if (!kept.has(key)) {
      const response = await fetch(url, init);
      if (response.status !== 200) return response;
      kept.set(key, await response.text());
    }
    return new Response(kept.get(key));
  };
}

for (const [what, body] of [["nothing", ""], ["null", "null"], ["HTML", "<!doctype html><title>Login</title>"]]) {
  test(`page that Next.js keeps of ${what} with a status of 200 is read anew, and a result is not`, async (t) => {
    let isBroken = true;
    const { url, received } = await serve(t, (request, response) => {
      if (isBroken) send(response, 200, body);
      else if (request.method === "POST") sendUrls(request, response);
      else good(response);
    });
    const map = createFrontendMap({ url, site: "main", fetch: keeping(), init: { next: { revalidate: 60 } } });
    const page = { uid: "api::page.page", documentId: "a1" };
    for (const call of [() => map.resolve("/a"), () => map.url(page)]) {
      isBroken = true;
      await assert.rejects(call(), { name: "InvalidResponseError" });
      isBroken = false;
      assert.ok(await call());
    }
    const asked = received.length;
    await map.resolve("/b");
    await map.resolve("/b");
    assert.equal(received.length, asked + 1);
  });
}
