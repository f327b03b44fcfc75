/** The client and the service's own binary agree: on the demo's content, and on a CMS that fails. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createFrontendMap } from "frontend-map-client";
import { folder, skip, start, until } from "../support/binary.js";
import { send, serve } from "../support/server.js";

const demo = (name) => readFile(new URL(`../../../../config/demo/${name}`, import.meta.url), "utf8");
const article = (documentId, locale) => ({ uid: "plugin::cms.article", documentId, ...(locale && { locale }) });

/** The demo's settings, with paths that resolve to documents. */
async function settings(more = "") {
  const text = await demo("settings.toml");
  assert.ok(text.includes('key = "main"'));
  return `${text.replace('key = "main"', 'key = "main"\nresolve = "documents"').replace("# path = ", "path = ")}\n${more}`;
}

const files = async (more) => ({ "settings.toml": await settings(more), "content.json": await demo("content.json") });

async function onDemo(t, options = {}, env = {}) {
  const { url, stop } = await start(t, await folder(t, await files()), env);
  const map = createFrontendMap({ url, site: "main", timeoutMs: 60_000, ...options });
  await known(url);
  return { url, stop, map };
}

/** Waits for the first snapshots. */
async function known(url) {
  // Shorter than the `Retry-After` of the service, so that the client does not wait for it.
  const map = createFrontendMap({ url, site: "main", timeoutMs: 4_000 });
  for (const path of ["/en/imprint", "/en/articles/moved"]) {
    await until((page) => page.kind === "document", () => map.resolve(path));
  }
}

test("paths of the demo resolve", { skip }, async (t) => {
  const { map } = await onDemo(t);
  const page = await map.resolve("/de/articles/caf%C3%A9s-in-m%C3%BCnchen");
  assert.deepEqual([page.kind, page.documentId, page.matched.params.slug], ["document", "a6cafe", "cafés-in-münchen"]);
  assert.deepEqual((await map.resolve("/en/nothing")).kind, "none");
  assert.deepEqual((await map.resolve("/x/y/z/none")).matched, null);
  const spelled = await map.resolve("//en/about/");
  assert.deepEqual([spelled.isCanonical, spelled.redirect.path], [false, "/en/about"]);
  assert.equal((await map.resolve("https://other.example/en/about?x#y")).documentId, "p1about");
  assert.deepEqual(await map.alternates("/en/about"), {
    en: "http://127.0.0.1:8081/en/about",
    de: "http://127.0.0.1:8081/de/ueber-uns",
    "x-default": "http://127.0.0.1:8081/en/about",
  });
  assert.deepEqual(await map.breadcrumbs("/en/about"), []);
});

test("paths that the client calls impossible are those that the service refuses", { skip }, async (t) => {
  const { map, url } = await onDemo(t);
  for (const path of ["/a\nb", "/\u0000", "/\u007f", "/\u0085", `/${"a".repeat(2048)}`, `/${"ü".repeat(1024)}`]) {
    assert.equal((await map.resolve(path)).kind, "none", path);
    const response = await fetch(`${url}/api/resolve?site=main&pathname=${encodeURIComponent(path)}`);
    assert.equal(response.status, 400, path);
  }
  for (const path of ["/%FF", "/%c0%ae", "/%00", "/en/%0a", "/%C2%85", "/%", "/%zz", "/%2", "/%20", "/%E2%80%AE", "/a%2Fb", "/%5C", "/..%2F", "/\u00a0", "//evil.example", `/${"a".repeat(2047)}`]) {
    // Not the client decides, but the service.
    const response = await fetch(`${url}/api/resolve?site=main&pathname=${encodeURIComponent(path)}`);
    assert.equal(response.status === 400, false, path);
    assert.equal((await map.resolve(path)).kind, "none", path);
  }
});

test("URLs of documents, and the reasons of those without one", { skip }, async (t) => {
  const { map } = await onDemo(t);
  const found = await map.urls([
    article("a1welcome", "de"),
    article("a1welcome"),
    article("a6cafe"),
    { uid: "plugin::cms.page", documentId: "p3noslug" },
    { uid: "plugin::cms.nope", documentId: "x" },
    article("a/b"),
    article("a1welcome", "fr"),
  ]);
  assert.deepEqual(found.map(({ path, reason }) => path ?? reason), [
    "/de/articles/willkommen",
    "/en/articles/welcome",
    "no_version",
    "slug_missing",
    "no_rule",
    "invalid",
    "locale_unknown",
  ]);
  const linked = await map.links({ ...article("a1welcome", "de"), about: { documentId: "p1about" } }, {
    uid: "plugin::cms.article",
    relations: { about: "plugin::cms.page" },
    href: "path",
  });
  assert.deepEqual([linked.href, linked.about.href], ["/de/articles/willkommen", "/de/ueber-uns"]);
});

test("10,000 calls in one tick", { skip }, async (t) => {
  const { map } = await onDemo(t);
  const found = await Promise.all(Array.from({ length: 10_000 }, (_, at) => map.url(article(at % 2 ? `x${at}` : "a1welcome", "de"))));
  assert.ok(found.every(({ path, reason }, at) => (at % 2 ? reason === "no_version" : path === "/de/articles/willkommen")));
});

test("drafts need the token, which the client sends", { skip }, async (t) => {
  const env = { FRONTEND_MAP__AUTH__DRAFT_TOKEN: "t0ken-of-this-test" };
  const { map, url } = await onDemo(t, { token: "t0ken-of-this-test" }, env);
  assert.equal((await map.resolve("/en/articles/welcome-back", { draft: true })).documentId, "a1welcome");
  assert.equal((await map.url(article("a1welcome"), { draft: true })).path, "/en/articles/welcome-back");
  assert.equal((await map.url(article("a2moved", "de"), { draft: true })).reason, "no_version");
  for (const [token, status] of [[undefined, 401], ["wrong", 403]]) {
    const other = createFrontendMap({ url, site: "main", token });
    await assert.rejects(other.resolve("/en/articles/welcome-back", { draft: true }), { status });
  }
});

test("all pages, and the params of routes", { skip }, async (t) => {
  const { map } = await onDemo(t);
  const pages = await Array.fromAsync?.(map.pages()) ?? (await collect(map.pages()));
  assert.equal(pages.length, 10);
  assert.deepEqual(await map.pages({ contentType: "plugin::cms.article", locale: "de" }).toStaticParams("/{locale}/articles/{slug}"), [
    { locale: "de", slug: "cafés-in-münchen" },
    { locale: "de", slug: "willkommen" },
  ]);
  await assert.rejects(map.pages({ contentType: "plugin::cms.nope" }).toStaticParams("/{*path}"), { status: 400 });
});

async function collect(pages) {
  const rows = [];
  for await (const page of pages) rows.push(page);
  return rows;
}

test("sitemap files pass through with ETag, 304 and gzip", { skip }, async (t) => {
  const { map, url } = await onDemo(t);
  const ask = (path, headers) => map.sitemap(new Request(`https://x${path}`, { headers }));
  assert.equal(await (await ask("/robots.txt")).text(), "Sitemap: http://127.0.0.1:8081/sitemaps/index.xml\n");
  const index = await ask("/sitemap.xml");
  assert.equal(await index.text(), await (await fetch(`${url}/sitemaps/main/index.xml`)).text());
  const etag = index.headers.get("etag");
  assert.equal((await ask("/sitemap.xml", { "if-none-match": etag })).status, 304);
  const packed = await ask("/sitemaps/plugin.cms.article-1.xml", { "accept-encoding": "gzip" });
  assert.equal(packed.headers.get("content-encoding"), "gzip");
  const bytes = Buffer.from(await packed.arrayBuffer());
  assert.deepEqual([...bytes.subarray(0, 2)], [0x1f, 0x8b]);
  assert.equal((await ask("/sitemaps/nope.xml")).status, 404);
});

test("site and address that are wrong are errors", { skip }, async (t) => {
  const { url } = await onDemo(t);
  await assert.rejects(createFrontendMap({ url, site: "nope" }).resolve("/en/about"), { status: 400, name: "ValidationError" });
  await assert.rejects(createFrontendMap({ url: `${url}/no`, site: "main" }).resolve("/en/about"), { status: 404, name: "NotFoundError" });
});

test("renamed document redirects, is among the changes, and its webhook is verified", { skip }, async (t) => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const events = [];
  let map;
  const receiver = await serve(t, async ({ headers, body }, response) => {
    const request = new Request("https://x/", { method: "POST", headers, body });
    events.push(await map.verifyWebhook(request, secret).catch((error) => error));
    response.end();
  });
  const notify = `[store]\npath = "store.redb"\n[[notify]]\nurl = "${receiver.url}/hook"\nsecret_file = "secret"\n`;
  const path = await folder(t, { ...(await files(notify)), secret });
  const first = await start(t, path);
  map = createFrontendMap({ url: first.url, site: "main", timeoutMs: 60_000 });
  await known(first.url);
  const { cursor } = await map.changes();
  assert.deepEqual((await map.changes({ since: cursor })).changes, []);
  await first.stop();

  const content = await demo("content.json");
  await writeFile(join(path, "content.json"), content.replace('"slug": "about"', '"slug": "about-us"'));
  const second = await start(t, path);
  await known(second.url);
  map = createFrontendMap({ url: second.url, site: "main", timeoutMs: 60_000 });
  const moved = await until((page) => page.kind === "redirect", () => map.resolve("/en/about"));
  assert.deepEqual([moved.redirect.path, moved.redirect.status], ["/en/about-us", 308]);
  const { changes } = await until((result) => result.changes?.length > 0, () => map.changes({ since: cursor }));
  assert.deepEqual(changes.map(({ type, path: to, from }) => [type, to, from]), [["moved", "/en/about-us", "/en/about"]]);
  await until((length) => length > 0, async () => events.length);
  assert.deepEqual(events[0].data?.changes, changes, String(events[0]));
});

test("while the CMS fails, nothing is none", { skip }, async (t) => {
  const cms = await serve(t, (_, response) => send(response, 500, "<h1>Internal Server Error</h1>"));
  const text = (await settings()).replace('source = "files"', `url = "${cms.url}"`).replace(/^path = .*/m, "");
  const { url } = await start(t, await folder(t, { "settings.toml": text }));
  const map = createFrontendMap({ url, site: "main", timeoutMs: 60_000, lastGood: 10, token: "t" });
  const unknown = (error) => [502, 503, 504].includes(error.status) && error.name !== "HttpError";
  await Promise.all([
    assert.rejects(map.resolve("/en/about"), { status: 503, name: "ServiceUnavailableError" }),
    assert.rejects(map.resolve("/en/about", { draft: true }), unknown),
    assert.rejects(map.alternates("/en/about"), unknown),
    assert.rejects(map.breadcrumbs("/en/about"), unknown),
    assert.rejects(map.url(article("a1welcome")), unknown),
    assert.rejects(map.url(article("a1welcome"), { draft: true }), unknown),
    assert.rejects(map.links({ page: article("a1welcome") }, { relations: { page: "plugin::cms.article" } }), unknown),
    assert.rejects(map.pages().toStaticParams("/{*path}"), unknown),
  ]);
  assert.deepEqual((await map.changes()).changes, []);
  await assert.rejects(map.sitemap(new Request("https://x/sitemap.xml")), unknown);
  assert.equal((await map.resolve("/x/y/z")).kind, "none");
});

test("page survives the death of the service", { skip }, async (t) => {
  const { map, stop } = await onDemo(t, { lastGood: 100 });
  await map.resolve("/en/about");
  await map.url(article("a1welcome"));
  await stop();
  assert.equal((await map.resolve("/en/about")).lastGood.error.name, "ConnectionError");
  assert.ok((await map.url(article("a1welcome"))).lastGood);
  await assert.rejects(map.resolve("/en/imprint"), { name: "ConnectionError" });
});
