/** What `resolve` asks, and what it makes of the responses. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap } from "frontend-map-client";
import { deferred, document, failure, send, serve, success } from "../support/server.js";

const echo = ({ url }, response) => send(response, 200, success(document(url.searchParams.get("pathname"))));

/** Each target, with the pathname and the host that the service is asked for. */
const TARGETS = [
  ["/en/about", "/en/about", null],
  ["/", "/", null],
  ["/en/about?page=2&x=%20#top", "/en/about", null],
  ["/en/caf%C3%A9", "/en/caf%C3%A9", null],
  ["/en/café", "/en/café", null],
  ["/en/a%2Fb%3Fc%23d%26e%3Df", "/en/a%2Fb%3Fc%23d%26e%3Df", null],
  ["/en/a+b&site=other", "/en/a+b&site=other", null],
  ["//evil.example/x", "//evil.example/x", null],
  ["/http://evil.example", "/http://evil.example", null],
  ["https://evil.example/en/about?x", "/en/about", "evil.example"],
  ["HTTP://Example.DE:8080/a", "/a", "example.de:8080"],
  [new URL("https://example.de//evil/x#y"), "//evil/x", "example.de"],
  [new URL("https://user:pass@example.de/"), "/", "example.de"],
  ["/100%", "/100%", null],
  ["/%zz/%2", "/%zz/%2", null],
  ["/%FF%00%c0%ae%0a", "/%FF%00%c0%ae%0a", null],
  ["https:\\\\evil.example", "https:\\\\evil.example", null],
];

for (const [target, pathname, host] of TARGETS) {
  test(`resolve of ${target} asks for the pathname ${pathname}`, async (t) => {
    const { url, received } = await serve(t, echo);
    await createFrontendMap({ url, site: "main" }).resolve(target);
    const query = received[0].url.searchParams;
    assert.deepEqual([...query.keys()], host === null ? ["site", "pathname"] : ["site", "pathname", "host"]);
    assert.deepEqual([query.get("site"), query.get("pathname"), query.get("host")], ["main", pathname, host]);
  });
}

for (const path of ["/a\nb", "/\u0000", "/\u007f", "/\u0085", `/${"a".repeat(2048)}`, `/${"ü".repeat(1024)}`]) {
  test(`resolve of the impossible path ${JSON.stringify(path).slice(0, 30)} is none, without a request`, async (t) => {
    const { url, received } = await serve(t, echo);
    const result = await createFrontendMap({ url, site: "main" }).resolve(path);
    assert.deepEqual([result.kind, result.pathname, received.length], ["none", path, 0]);
  });
}

test("data of the service is the result, with the content type as a member of its own", async (t) => {
  const { url } = await serve(t, echo);
  const result = await createFrontendMap({ url, site: "main" }).resolve("/en/a");
  assert.deepEqual(result, { ...document("/en/a"), contentType: "api::page.page" });
});

for (const kind of ["document", "page", "redirect", "none"]) {
  test(`kind ${kind} is a result, and a document alone has a content type`, async (t) => {
    const { url } = await serve(t, (_, response) => send(response, 200, success(document("/x", { kind }))));
    const page = await createFrontendMap({ url, site: "main" }).resolve("/x");
    assert.deepEqual([page.kind, page.contentType], [kind, kind === "document" ? "api::page.page" : undefined]);
  });
}

test("unknown kind is an error, not none", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 200, success(document("/x", { kind: "gallery" }))));
  await assert.rejects(createFrontendMap({ url, site: "main" }).resolve("/x"), {
    name: "InvalidResponseError",
    message: /unknown kind gallery/,
  });
});

test("path that no rule matches is none, with gone", async (t) => {
  const details = { pathname: "/x", normalizedPath: "/x", gone: { since: "2026-01-01T00:00:00.000Z" } };
  const { url } = await serve(t, (_, response) => send(response, 404, failure(404, "NotFoundError", details)));
  const result = await createFrontendMap({ url, site: "main" }).resolve("/x");
  assert.deepEqual([result.kind, result.matched, result.locale, result.gone], ["none", null, null, details.gone]);
});

test("alternates and breadcrumbs are those of the page, and empty without a page", async (t) => {
  const { url } = await serve(t, ({ url: { searchParams } }, response) => {
    const pathname = searchParams.get("pathname");
    if (pathname === "/en/a") return send(response, 200, success(document(pathname)));
    send(response, 404, failure(404, "NotFoundError", { pathname, normalizedPath: pathname }));
  });
  const map = createFrontendMap({ url, site: "main" });
  assert.deepEqual(await map.alternates("/en/a"), document("/en/a").alternates);
  assert.deepEqual(await map.breadcrumbs("/en/a"), document("/en/a").breadcrumbs);
  assert.deepEqual([await map.alternates("/x"), await map.breadcrumbs("/x")], [{}, []]);
});

test("locale switches in flight each get their own result", async (t) => {
  const locales = ["en", "de", "fr", "en", "de", "fr"];
  const all = deferred();
  const { url, received } = await serve(t, async ({ url: { searchParams } }, response) => {
    if (received.length === 3) all.resolve();
    await all.promise;
    // The last request gets its response first.
    const locale = searchParams.get("locale");
    const later = { en: 2, de: 1, fr: 0 }[locale];
    for (let turn = 0; turn < later; turn += 1) await new Promise(setImmediate);
    send(response, 200, success(document("/about", { locale })));
  });
  const map = createFrontendMap({ url, site: "main" });
  const results = await Promise.all(locales.map((locale) => map.resolve("/about", { locale })));
  assert.deepEqual(results.map(({ locale }) => locale), locales);
  assert.equal(received.length, 3);
});

test("draft has the token and no-store, and a published path has neither", async (t) => {
  const { url, received } = await serve(t, echo);
  const inits = [];
  const map = createFrontendMap({
    url,
    site: "main",
    token: "t0ken",
    init: { next: { revalidate: 60 }, headers: { "x-app": "1" } },
    fetch: (target, init) => (inits.push(init), fetch(target, init)),
  });
  await map.resolve("/en/a", { draft: true });
  await map.resolve("/en/a");
  assert.equal(received[0].url.searchParams.get("status"), "draft");
  assert.deepEqual(received.map(({ headers }) => headers.authorization), ["Bearer t0ken", undefined]);
  assert.deepEqual(received.map(({ headers }) => headers["x-app"]), ["1", "1"]);
  assert.deepEqual(inits.map(({ cache, next }) => ({ cache, next })), [
    { cache: "no-store", next: undefined },
    { cache: undefined, next: { revalidate: 60 } },
  ]);
});
