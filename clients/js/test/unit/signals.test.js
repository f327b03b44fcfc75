/** Callers that give up: what they get, and what becomes of the request. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap } from "frontend-map-client";
import { deferred, document, send, sendUrls, serve, success } from "../support/server.js";

const REASON = new Error("the visitor has gone");
const ref = (documentId) => ({ uid: "api::page.page", documentId });

/** Each function that waits for the service. */
const CALLS = {
  resolve: (map, signal) => map.resolve("/en/a", { signal }),
  "resolve of a draft": (map, signal) => map.resolve("/en/a", { signal, draft: true }),
  alternates: (map, signal) => map.alternates("/en/a", { signal }),
  breadcrumbs: (map, signal) => map.breadcrumbs("/en/a", { signal }),
  url: (map, signal) => map.url(ref("a"), { signal }),
  "url of a draft": (map, signal) => map.url(ref("a"), { signal, draft: true }),
  urls: (map, signal) => map.urls([ref("a"), ref("b")], { signal }),
  links: (map, signal) => map.links(ref("a"), { uid: "api::page.page", signal }),
  pages: (map, signal) => map.pages({ signal })[Symbol.asyncIterator]().next(),
  toStaticParams: (map, signal) => map.pages({ signal }).toStaticParams("/{*path}"),
  changes: (map, signal) => map.changes({ signal }),
  sitemap: (map, signal) => map.sitemap(new Request("https://x/sitemap.xml"), { signal }),
};

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name}: caller who gives up gets the reason, and the request ends`, async (t) => {
    const [arrived, closed] = [deferred(), deferred()];
    const { url } = await serve(t, (_, response) => {
      response.on("close", closed.resolve);
      arrived.resolve();
    });
    const controller = new AbortController();
    const result = call(createFrontendMap({ url, site: "main", timeoutMs: 60_000, token: "t" }), controller.signal);
    await arrived.promise;
    controller.abort(REASON);
    await assert.rejects(result, (error) => error === REASON);
    await closed.promise;
  });

  test(`${name}: caller who has given up before sends nothing`, async (t) => {
    const { url, received } = await serve(t, () => {});
    const map = createFrontendMap({ url, site: "main", lastGood: 10 });
    await assert.rejects(call(map, AbortSignal.abort(REASON)), (error) => error === REASON);
    assert.deepEqual(received, []);
  });
}

test("caller who gives up does not end the request of another", async (t) => {
  const [arrived, held] = [deferred(), deferred()];
  const { url, received } = await serve(t, async (_, response) => {
    arrived.resolve();
    await held.promise;
    send(response, 200, success(document("/en/a")));
  });
  const map = createFrontendMap({ url, site: "main", timeoutMs: 60_000 });
  const controller = new AbortController();
  const gone = assert.rejects(map.resolve("/en/a", { signal: controller.signal }), (error) => error === REASON);
  const others = [map.resolve("/en/a"), map.resolve("/en/a", { signal: new AbortController().signal })];
  await arrived.promise;
  controller.abort(REASON);
  await gone;
  held.resolve();
  assert.deepEqual((await Promise.all(others)).map(({ documentId }) => documentId), ["a1", "a1"]);
  assert.equal(received.length, 1);
});

test("request that all callers have given up is not joined by the next one", async (t) => {
  const arrived = deferred();
  const { url, received } = await serve(t, (_, response) => {
    if (received.length > 1) return send(response, 200, success(document("/en/a")));
    arrived.resolve();
  });
  const map = createFrontendMap({ url, site: "main", timeoutMs: 60_000 });
  const controller = new AbortController();
  const gone = map.resolve("/en/a", { signal: controller.signal });
  await arrived.promise;
  controller.abort(REASON);
  await assert.rejects(gone, (error) => error === REASON);
  assert.equal((await map.resolve("/en/a")).documentId, "a1");
});

test("documents of a caller who gives up in the same tick are not in the batch", async (t) => {
  const { url, received } = await serve(t, sendUrls);
  const map = createFrontendMap({ url, site: "main" });
  const controller = new AbortController();
  const gone = map.url(ref("gone"), { signal: controller.signal });
  const stays = map.url(ref("stays"));
  controller.abort(REASON);
  await assert.rejects(gone, (error) => error === REASON);
  assert.equal((await stays).path, "/en/stays");
  assert.deepEqual(JSON.parse(received[0].body).documents.map(({ documentId }) => documentId), ["stays"]);
});

test("caller who gives up before a batch is sent does not hold up those who come later", async (t) => {
  let hangs = false;
  const { url, received } = await serve(t, (request, response) => hangs || sendUrls(request, response));
  const now = performance.now.bind(performance);
  let ahead = 0;
  t.mock.method(performance, "now", () => now() + ahead);
  const map = createFrontendMap({ url, site: "main", lastGood: 10, timeoutMs: 100 });
  await map.url(ref("kept"));
  hangs = true;
  assert.ok((await map.url(ref("kept"))).lastGood);
  hangs = false;
  ahead = 1_000;
  // The one that finds out whether the service responds again.
  const controller = new AbortController();
  const gone = map.url(ref("gone"), { signal: controller.signal });
  controller.abort(REASON);
  await assert.rejects(gone, (error) => error === REASON);
  await new Promise((done) => setTimeout(done));
  assert.equal((await map.url(ref("kept"))).lastGood, undefined);
  assert.equal(received.length, 3);
});

test("caller who gives up is no failure of the service: nothing from before is repeated", async (t) => {
  const { url, received } = await serve(t, (_, response) => {
    if (received.length === 1) send(response, 200, success(document("/en/a")));
  });
  const map = createFrontendMap({ url, site: "main", lastGood: 10, timeoutMs: 60_000 });
  await map.resolve("/en/a");
  const controller = new AbortController();
  const call = map.resolve("/en/a", { signal: controller.signal });
  controller.abort(REASON);
  await assert.rejects(call, (error) => error === REASON);
});
