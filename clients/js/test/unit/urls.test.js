/** `url`, `urls` and `links`: one request for what is asked in one tick. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap } from "frontend-map-client";
import { failure, send, sendUrls, serve, success } from "../support/server.js";

const uid = "api::article.article";
const ref = (at) => ({ uid, documentId: `d${at}` });
const sizes = (received) => received.map(({ body }) => JSON.parse(body).documents.length);

test("10,000 calls in one tick are ten requests, each with its own result", async (t) => {
  const { url, received } = await serve(t, sendUrls);
  const map = createFrontendMap({ url, site: "main", timeoutMs: 60_000 });
  const calls = Array.from({ length: 10_000 }, (_, at) => map.url(ref(at)));
  const found = await Promise.all(calls);
  assert.deepEqual(sizes(received), Array(10).fill(1000));
  assert.deepEqual(found.map(({ path }) => path), found.map((_, at) => `/en/d${at}`));
});

test("calls after awaited promises of the same tick are one request", async (t) => {
  const { url, received } = await serve(t, sendUrls);
  const map = createFrontendMap({ url, site: "main" });
  const later = async (at) => {
    for (let turn = 0; turn < at; turn += 1) await null;
    return map.url(ref(at));
  };
  await Promise.all([later(0), later(1), later(50)]);
  assert.deepEqual(sizes(received), [3]);
  assert.equal(received[0].url.href.replace(/^.*service/, ""), "/api/frontend-urls?site=main");
  assert.equal(received[0].method, "POST");
});

test("one document in several calls is asked for once, and each caller has its own object", async (t) => {
  const { url, received } = await serve(t, sendUrls);
  const map = createFrontendMap({ url, site: "main" });
  const [first, second, german] = await map.urls([ref(1), { ...ref(1), locale: null }, { ...ref(1), locale: "de" }]);
  assert.deepEqual(sizes(received), [2]);
  assert.deepEqual(first, second);
  assert.notEqual(first, second);
  assert.equal(german.path, "/de/d1");
});

test("batch stays below 256 KiB", async (t) => {
  const { url, received } = await serve(t, sendUrls);
  const map = createFrontendMap({ url, site: "main", timeoutMs: 60_000 });
  const long = { uid: `api::${"ü".repeat(60)}.x`, locale: "en-aaaaaaaa-bbbbbbbb-cccccccc-dddd" };
  const ids = Array.from({ length: 1000 }, (_, at) => String(at).padStart(64, "x"));
  const found = await map.urls(ids.map((documentId) => ({ ...long, documentId })));
  assert.deepEqual(found.map(({ documentId }) => documentId), ids);
  assert.equal(received.length, 2);
  for (const { body } of received) assert.ok(Buffer.byteLength(body) <= 256 * 1024);
});

test("no documents are no request", async (t) => {
  const { url, received } = await serve(t, sendUrls);
  assert.deepEqual(await createFrontendMap({ url, site: "main" }).urls([]), []);
  assert.equal(received.length, 0);
});

test("document without a URL has the reason", async (t) => {
  const result = { ...ref(1), locale: "en", reason: "slug_missing", rule: "/{locale}/{slug}" };
  const { url } = await serve(t, (_, response) => send(response, 200, success({ results: [result] })));
  const found = await createFrontendMap({ url, site: "main" }).url(ref(1));
  assert.deepEqual(found, { ...result, url: null, path: null });
});

for (const [what, results] of [
  ["of other documents", [{ ...ref(2), locale: "en", url: "https://x/2", path: "/2" }]],
  ["too few", []],
  ["without URL and reason", [{ ...ref(1), locale: "en" }]],
]) {
  test(`results ${what} are an error`, async (t) => {
    const { url } = await serve(t, (_, response) => send(response, 200, success({ results })));
    await assert.rejects(createFrontendMap({ url, site: "main" }).url(ref(1)), { name: "InvalidResponseError" });
  });
}

test("failing service is asked at most once by each of four workers", async (t) => {
  const { url, received } = await serve(t, (_, response) => send(response, 500, failure(500, "InternalServerError")));
  const map = createFrontendMap({ url, site: "main", timeoutMs: 60_000 });
  const calls = Array.from({ length: 10_000 }, (_, at) => map.url(ref(at)));
  const settled = await Promise.allSettled(calls);
  assert.ok(settled.every(({ reason }) => reason?.status === 500));
  assert.ok(received.length <= 4, `${received.length} requests`);
});

test("draft is a request of its own with the token", async (t) => {
  const { url, received } = await serve(t, (_, response) =>
    send(response, 200, success({ url: "https://x/en/new", path: "/en/new" })),
  );
  const found = await createFrontendMap({ url, site: "main", token: "t" }).url(ref(1), { draft: true });
  assert.deepEqual(found, { ...ref(1), locale: null, url: "https://x/en/new", path: "/en/new" });
  assert.deepEqual([received[0].url.searchParams.get("status"), received[0].headers.authorization], ["draft", "Bearer t"]);
});

for (const [status, details, expected] of [
  [404, { reason: "slug_missing", rule: "/{slug}" }, { path: null, reason: "slug_missing", rule: "/{slug}" }],
  [501, { path: "/en/new" }, { path: "/en/new", reason: "no_base_url" }],
]) {
  test(`draft without a URL (${status}) has the reason`, async (t) => {
    const { url } = await serve(t, (_, response) => send(response, status, failure(status, "X", details)));
    const found = await createFrontendMap({ url, site: "main" }).url(ref(1), { draft: true });
    assert.deepEqual(found, { ...ref(1), locale: null, url: null, ...expected });
  });
}

test("links of a document are filled in by one request", async (t) => {
  const { url, received } = await serve(t, sendUrls);
  const article = {
    documentId: "a1",
    locale: "de",
    title: "T",
    image: { documentId: "i1", url: "/uploads/i.png" },
    category: { documentId: "c1", locale: "de", parent: { documentId: "c0" } },
    related: [{ documentId: "a2", locale: "en" }, { documentId: "a3", locale: null }, null],
    target: { __type: "api::page.page", documentId: "p1" },
    blocks: [
      { __component: "blocks.teaser", page: { documentId: "p2" } },
      { __component: "blocks.person", page: { documentId: "x1" } },
    ],
    text: [{ type: "paragraph", children: [{ type: "text", text: "x" }] }],
  };
  const before = structuredClone(article);
  const relations = {
    category: "api::category.category",
    parent: "api::category.category",
    related: uid,
    "blocks.teaser.page": "api::page.page",
  };
  const linked = await createFrontendMap({ url, site: "main" }).links(article, { uid, relations, href: "path" });
  assert.deepEqual(article, before);
  assert.equal(linked.href, "/de/a1");
  assert.deepEqual([linked.category.href, linked.category.parent.href], ["/de/c1", "/de/c0"]);
  assert.deepEqual(linked.related.map((one) => one?.href), ["/en/a2", "/de/a3", undefined]);
  assert.equal(linked.target.href, "/de/p1");
  assert.deepEqual(linked.blocks.map(({ page }) => page.href), ["/de/p2", undefined]);
  assert.equal("href" in linked.image, false);
  assert.deepEqual(linked.text, article.text);
  assert.deepEqual(sizes(received), [7]);
});

test("link to a document without a URL is null, and a link is absolute by default", async (t) => {
  const { url } = await serve(t, ({ body }, response) => {
    const results = JSON.parse(body).documents.map((one, at) =>
      at === 0 ? { ...one, locale: "en", reason: "no_version" } : { ...one, locale: "en", url: "https://x/2", path: "/2" },
    );
    send(response, 200, success({ results }));
  });
  const list = await createFrontendMap({ url, site: "main" }).links([ref(1), ref(2)], { uid });
  assert.deepEqual(list.map(({ href }) => href), [null, "https://x/2"]);
});

test("names of members do no harm to links", async (t) => {
  const { url, received } = await serve(t, sendUrls);
  const text = '{"constructor":{"documentId":"a"},"__proto__":{"documentId":"b"},"toString":[{"documentId":"c"}]}';
  const linked = await createFrontendMap({ url, site: "main" }).links(JSON.parse(text), { relations: {} });
  assert.equal(JSON.stringify(linked), text);
  assert.equal(received.length, 0);
});
