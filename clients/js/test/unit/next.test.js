/** The functions for Next.js, with requests as Next.js makes them, and with a service that fails. */
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { createFrontendMap, FrontendMapError } from "frontend-map-client";
import { metadata, proxy, revalidate, sitemap, staticParams } from "frontend-map-client/next";
import { closedPort, document, failure, send, serve, success } from "../support/server.js";

const client = (url, more = {}) => createFrontendMap({ url, site: "main", timeoutMs: 2_000, ...more });
const moved = { to: "https://www.example.com/en/new", path: "/en/new", status: 308, documentId: "a1", locale: "en", since: null };

/** What Next.js passes to a proxy. */
function request(path, { host = "www.example.com", cookies = [] } = {}) {
  const one = new Request(`https://www.example.com${path}`, { headers: { host } });
  const { pathname } = new URL(one.url);
  return Object.assign(one, { nextUrl: { pathname }, cookies: { has: (name) => cookies.includes(name) } });
}

/** A service with one result for each path. */
async function service(t, results) {
  return serve(t, ({ url }, response) => {
    const result = results[url.searchParams.get("pathname")];
    send(response, result ? 200 : 503, result ? success(result) : failure(503, "ServiceUnavailableError"));
  });
}

const none = (path) => document(path, { kind: "none", documentId: null, canonicalUrl: null, alternates: {} });

test("proxy redirects with the status, the query and no long life in browsers", async (t) => {
  const { url } = await service(t, {
    "/en/old": document("/en/old", { kind: "redirect", documentId: null, redirect: moved }),
    "/en/new/": document("/en/new/", { isCanonical: false, redirect: { ...moved, to: null } }),
  });
  const handle = proxy(client(url));
  const response = await handle(request("/en/old?a=b&c"));
  assert.deepEqual([response.status, response.headers.get("location")], [308, "https://www.example.com/en/new?a=b&c"]);
  assert.equal(response.headers.get("cache-control"), "public, max-age=60");
  const spelled = await handle(request("/en/new/"));
  assert.deepEqual([spelled.status, spelled.headers.get("location")], [308, "/en/new"]);
});

test("proxy lets pages pass, and is a 404 where there is none", async (t) => {
  const { url } = await service(t, { "/en/a": document("/en/a"), "/en/none": none("/en/none") });
  const map = client(url);
  assert.equal(await proxy(map)(request("/en/a")), undefined);
  assert.equal((await proxy(map)(request("/en/none"))).status, 404);
  const notFound = ({ nextUrl }) => new Response(nextUrl.pathname, { status: 404 });
  const own = await proxy(map, { notFound })(request("/en/none"));
  assert.deepEqual([own.headers.get("cache-control"), await own.text()], ["no-store", "/en/none"]);
});

test("proxy leaves drafts to the page", async (t) => {
  const { url, received } = await service(t, {});
  const draft = request("/en/draft", { cookies: ["__prerender_bypass"] });
  assert.equal(await proxy(client(url))(draft), undefined);
  assert.equal(received.length, 0);
});

test("proxy sends the host of a request only if it is one of the site's", async (t) => {
  const { url, received } = await service(t, { "//en/a": document("//en/a") });
  const handle = proxy(client(url), { hosts: ["www.example.com", "www.example.de"] });
  const hosts = ["www.example.de", "evil.example", "a b"];
  for (const host of hosts) {
    const one = Object.defineProperty(request("//en/a"), "headers", { value: new Headers({ host }) });
    assert.equal(await handle(one), undefined);
  }
  assert.deepEqual(received.map((one) => one.url.searchParams.get("host")), ["www.example.de", null, null]);
});

for (const [name, respond] of [
  ["does not know yet", (response) => send(response, 503, failure(503, "ServiceUnavailableError"))],
  ["responds with HTML", (response) => send(response, 200, "<html>")],
  ["is behind a proxy that has no such route", (response) => send(response, 404, "<html>")],
]) {
  test(`proxy passes while the service ${name}`, async (t) => {
    const { url } = await serve(t, (_, response) => respond(response));
    assert.equal(await proxy(client(url))(request("/en/a")), undefined);
  });
}

test("proxy repeats the last redirect while the service is down, and passes other paths", async (t) => {
  let up = true;
  const { url } = await serve(t, (_, response) => {
    if (!up) return response.destroy();
    send(response, 200, success(document("/en/old", { kind: "redirect", documentId: null, redirect: moved })));
  });
  const handle = proxy(client(url, { lastGood: 10 }));
  await handle(request("/en/old"));
  up = false;
  assert.equal((await handle(request("/en/old"))).status, 308);
  assert.equal(await handle(request("/en/other")), undefined);
  assert.equal(await proxy(client(await closedPort()))(request("/en/old")), undefined);
});

test("errors that are not the service's are not hidden", async () => {
  const map = { sitemap: async () => null, resolve: () => Promise.reject(new RangeError("ours")) };
  await assert.rejects(proxy(map)(request("/en/a")), RangeError);
});

test("sitemap passes files on, is null for other paths and a 503 while the service is down", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 200, "<urlset/>", { etag: '"1"' }));
  const found = await sitemap(client(url))(request("/sitemap.xml"));
  assert.deepEqual([found.status, found.headers.get("etag"), await found.text()], [200, '"1"', "<urlset/>"]);
  assert.equal(await sitemap(client(url))(request("/en/a")), null);
  const down = client(await closedPort());
  for (const handle of [sitemap(down), proxy(down)]) {
    const failed = await handle(request("/robots.txt"));
    assert.deepEqual([failed.status, failed.headers.get("cache-control")], [503, "no-store"]);
    assert.ok(failed.headers.get("retry-after"));
  }
});

test("staticParams are those of all pages below the route", async (t) => {
  const { url } = await serve(t, (_, response) => {
    const rows = [{ path: "/en" }, { path: "/en/articles/caf%C3%A9" }, { count: 2 }];
    send(response, 200, rows.map((row) => JSON.stringify(row)).join("\n"));
  });
  const params = await staticParams(client(url), "/{locale}/{*path?}")();
  assert.deepEqual(params, [{ locale: "en", path: [] }, { locale: "en", path: ["articles", "café"] }]);
});

test("staticParams throw while the service fails, so that no build lacks pages", async (t) => {
  const cut = await serve(t, (_, response) => send(response, 200, '{"path":"/en"}\n'));
  for (const url of [cut.url, await closedPort()]) {
    await assert.rejects(staticParams(client(url), "/{*path}")(), FrontendMapError);
  }
});

test("metadata has the canonical URL and the alternates, also of a last good result", async (t) => {
  let up = true;
  const { url } = await serve(t, (_, response) => (up ? send(response, 200, success(document("/en/a"))) : response.destroy()));
  const map = client(url, { lastGood: 10 });
  const own = "https://www.example.com/en/a";
  assert.deepEqual(metadata(await map.resolve("/en/a")), { alternates: { canonical: own, languages: { en: own } } });
  up = false;
  assert.deepEqual(metadata(await map.resolve("/en/a")), { alternates: { canonical: own, languages: { en: own } } });
});

const KEY = randomBytes(32);
const SECRET = `whsec_${KEY.toString("base64")}`;

/** A webhook with these changes. */
function webhook(data, key = KEY) {
  const body = JSON.stringify({ type: "frontend-map.changes", timestamp: "x", data: { site: "main", changes: [], ...data } });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", key).update(`msg_1.${timestamp}.${body}`).digest("base64");
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
  return new Request("https://www.example.com/api/changed", { method: "POST", body, headers });
}

/** The response, and the calls of Next.js that a webhook causes. */
async function revalidated(data, { key, more } = {}) {
  const calls = [];
  const handle = revalidate(client("http://127.0.0.1:1"), {
    secret: SECRET,
    tag: "frontend-map",
    revalidateTag: (...args) => calls.push(["tag", ...args]),
    revalidatePath: (...args) => calls.push(["path", ...args]),
    ...more,
  });
  return { status: (await handle(webhook(data, key))).status, calls };
}

test("revalidate expires the changed page alone if no URL has changed, else all results of the service", async () => {
  const tag = ["tag", "frontend-map", { expire: 0 }];
  assert.deepEqual(await revalidated({ changes: [{ type: "updated", path: "/a" }] }), { status: 204, calls: [["path", "/a"]] });
  for (const type of ["added", "moved", "gone"]) {
    assert.deepEqual(await revalidated({ changes: [{ type, path: "/a", from: "/b" }] }), { status: 204, calls: [tag, ["path", "/a"]] });
  }
  assert.deepEqual(await revalidated({ reset: true }), { status: 204, calls: [tag] });
});

test("revalidate refuses a wrong signature, and does not hide an error of Next.js", async () => {
  assert.deepEqual(await revalidated({ reset: true }, { key: randomBytes(32) }), { status: 401, calls: [] });
  const more = { revalidateTag: () => { throw new RangeError("ours"); } };
  await assert.rejects(revalidated({ reset: true }, { more }), RangeError);
});
