/** The functions for Next.js, with requests as Next.js makes them, and with a service that fails. */
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { createFrontendMap, FrontendMapError } from "frontend-map-client";
import { caching, metadata, missingPage, pathname, proxy, revalidate, sitemap, staticParams } from "frontend-map-client/next";
import { closedPort, document, failure, send, serve, success } from "../support/server.js";

const client = (url, more = {}) => createFrontendMap({ url, site: "main", timeoutMs: 2_000, ...more });
const moved = { to: "https://www.example.com/en/new", path: "/en/new", status: 308, documentId: "a1", locale: "en", since: null };

/** What Next.js passes to a proxy. */
function request(path, { host = "www.example.com", cookies = [], basePath = "", language = "" } = {}) {
  const one = new Request(`https://www.example.com${basePath}${path}`, { headers: { host, "accept-language": language } });
  const pathname = new URL(one.url).pathname.slice(basePath.length);
  return Object.assign(one, { nextUrl: { pathname, basePath }, cookies: { has: (name) => cookies.includes(name) } });
}

/** A service with one result for each path. */
async function service(t, results) {
  return serve(t, ({ url }, response) => {
    const result = results[url.searchParams.get("pathname")];
    send(response, result ? 200 : 503, result ? success(result) : failure(503, "ServiceUnavailableError"));
  });
}

/** A file of the service, as XML or as robots.txt, with its path. */
function sendFile(response, { pathname }) {
  const [type, text] = pathname.endsWith(".txt") ? ["text/plain", "Sitemap: "] : ["application/xml", "<?xml "];
  send(response, 200, text + pathname, { "content-type": type });
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
  assert.equal(response.headers.get("cache-control"), "no-cache");
  const spelled = await handle(request("/en/new/"));
  assert.deepEqual([spelled.status, spelled.headers.get("location")], [308, "https://www.example.com/en/new"]);
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

test("proxy sends a 410 with the page of the site where a redirect of the CMS says so", async (t) => {
  const gone = { since: null, status: 410, entry: "r1" };
  const { url } = await service(t, { "/en/gone": { ...none("/en/gone"), gone } });
  const notFound = () => new Response("missing", { status: 404 });
  for (const [options, text] of [[{ notFound }, "missing"], [{}, "Not found"]]) {
    const response = await proxy(client(url), options)(request("/en/gone"));
    assert.deepEqual([response.status, await response.text()], [410, text]);
  }
});

test("missing page is a page of the site with a status of 404, in no cache", async (t) => {
  const { url } = await service(t, { "/en/none": none("/en/none") });
  const site = await serve(t, (_, response) => send(response, 200, "<h1>Missing</h1>", { "content-type": "text/html" }));
  const notFound = (_, locale) => missingPage(`${site.url}/missing/${locale}`);
  const response = await proxy(client(url), { locales: ["en"], notFound })(request("/en/none"));
  assert.deepEqual([response.status, await response.text()], [404, "<h1>Missing</h1>"]);
  assert.deepEqual([response.headers.get("cache-control"), response.headers.get("content-type")], ["no-store", "text/html; charset=utf-8"]);
  assert.deepEqual(site.received.map((one) => one.url.pathname), ["/missing/en"]);
});

test("missing page is a line of text with a status of 404 where the site does not have the page", async (t) => {
  const site = await serve(t, ({ url }, response) => {
    if (url.pathname === "/moved") return send(response, 307, "", { location: "/page" });
    if (url.pathname === "/broken") return response.writeHead(200, { "content-length": "9" }).write("<") && response.destroy();
    send(response, url.pathname === "/page" ? 200 : 500, "<html>");
  });
  for (const from of [`${site.url}/error`, `${site.url}/moved`, `${site.url}/broken`, await closedPort(), "http://127.0.0.1:undefined"]) {
    const response = await missingPage(from);
    assert.deepEqual([response.status, await response.text()], [404, "Not found"], from);
  }
});

test("caching: tags of all results and of the path, and a page that stays until there is a new one", () => {
  const year = 365 * 86_400;
  const lives = (about, options) => {
    const calls = {};
    caching({ tag: "t", cacheTag: (...tags) => (calls.tags = tags), cacheLife: (life) => (calls.life = life), ...options })(about);
    return [calls.tags, calls.life.stale, calls.life.revalidate, calls.life.expire];
  };
  assert.deepEqual(lives(), [["t"], 30, 60, year]);
  assert.deepEqual(lives({ pathname: "/a" }, { revalidate: 5 }), [["t", "t:/a"], 30, 5, year]);
  assert.deepEqual(lives(document("/a/", { canonicalPath: "/a" })), [["t", "t:/a"], 30, 60, year]);
  assert.deepEqual(lives(document("/a", { canonicalPath: "/a", lastGood: { ageSeconds: 1 } })), [["t", "t:/a"], 30, 1, year]);
  assert.deepEqual(lives({ ...none("/a"), canonicalPath: null }), [["t", "t:/a"], 30, 1, 300]);
  // A document may be renamed back.
  assert.deepEqual(lives(document("/a", { kind: "redirect", canonicalPath: undefined, redirect: moved })), [["t", "t:/a"], 30, 1, 300]);
  assert.deepEqual(lives({ pathname: `/${"a".repeat(256)}` }), [["t", "t"], 30, 60, year]);
});

test("proxy asks nothing for the site's own routes", async (t) => {
  const { url, received } = await service(t, {});
  const handle = proxy(client(url), { isPage: ({ nextUrl }) => nextUrl.pathname !== "/search" });
  assert.equal(await handle(request("/search")), undefined);
  assert.equal(received.length, 0);
});

test("proxy passes files without a page, and redirects those that have moved", async (t) => {
  const files = ["/next.svg", "/manifest.webmanifest", "/.well-known/security", "/en/v9.9"];
  const { url } = await service(t, {
    ...Object.fromEntries(files.map((path) => [path, none(path)])),
    "/old.html": document("/old.html", { kind: "redirect", documentId: null, redirect: moved }),
  });
  for (const path of files) assert.equal(await proxy(client(url))(request(path)), undefined, path);
  assert.equal((await proxy(client(url))(request("/old.html"))).status, 308);
});

test("proxy leaves robots.txt to the site unless it is told to", async (t) => {
  const { url } = await serve(t, (one, response) =>
    one.url.pathname === "/api/resolve"
      ? send(response, 200, success(none("/robots.txt")))
      : sendFile(response, one.url));
  assert.equal(await proxy(client(url))(request("/robots.txt")), undefined);
  const served = await proxy(client(url), { robots: true })(request("/robots.txt"));
  assert.equal(await served.text(), "Sitemap: /sitemaps/main/robots.txt");
});

test("proxy with basePath: sitemap files, redirects and pages are those below it", async (t) => {
  const { url, received } = await serve(t, (one, response) => {
    const path = one.url.searchParams.get("pathname");
    if (path === null) return sendFile(response, one.url);
    send(response, 200, success(document(path, { isCanonical: false, redirect: { ...moved, to: null } })));
  });
  const handle = proxy(client(url));
  const below = (path) => request(path, { basePath: "/docs" });
  assert.equal(await (await handle(below("/sitemap.xml"))).text(), "<?xml /sitemaps/main/sitemap.xml");
  assert.equal((await handle(below("/en/new/?a"))).headers.get("location"), "https://www.example.com/docs/en/new?a");
  assert.equal(received.at(-1).url.searchParams.get("pathname"), "/en/new/");
});

for (const [sitemapPath, path] of [["/maps", "/maps/pages-1.xml"], ["/", "/pages-1.xml"], ["/maps/", "/maps/pages-1.xml"]]) {
  test(`sitemap files below ${sitemapPath} are those of the service`, async (t) => {
    const { url } = await serve(t, (one, response) => sendFile(response, one.url));
    const response = await proxy(client(url), { sitemapPath })(request(path));
    assert.equal(await response.text(), "<?xml /sitemaps/main/pages-1.xml");
  });
}

test("own file that the service does not have stays, where its folder is that of the site's files", async (t) => {
  const { url } = await serve(t, (one, response) => {
    if (one.url.pathname.endsWith("/feed.xml")) return send(response, 404, failure(404, "NotFoundError", { reason: "no_file" }));
    if (one.url.pathname === "/api/resolve") return send(response, 200, success(none("/feed.xml")));
    sendFile(response, one.url);
  });
  const handle = proxy(client(url), { sitemapPath: "/" });
  assert.equal(await handle(request("/feed.xml")), undefined);
  assert.equal((await handle(request("/pages-1.xml"))).status, 200);
  // A crawler must hear that a file is gone.
  assert.equal((await proxy(client(url))(request("/sitemaps/feed.xml"))).status, 404);
});

for (const [path, language, expected] of [
  ["/", "de-AT,de;q=0.9,en;q=0.5", "/de"],
  ["/", "en;q=0.5, de;q=0.1", "/en"],
  ["/", "fr, pt;q=0.7, de;q=0", "/pt-BR"],
  ["/", "fr,*;q=0.1", "/en"],
  ["/", "", "/en"],
  ["/de/none", "en", "de"],
  ["/none", "de", "de"],
]) {
  test(`visitor of ${path} who reads ${language || "anything"} is sent to ${expected}`, async (t) => {
    const { url } = await service(t, { [path]: none(path) });
    const notFound = (_, locale) => new Response(locale, { status: 404 });
    const handle = proxy(client(url), { locales: ["en", "de", "pt-BR"], redirectRoot: true, notFound });
    const response = await handle(request(path, { language }));
    const location = response.headers.get("location");
    assert.equal(location ? new URL(location).pathname : await response.text(), expected);
    assert.equal(response.headers.get("cache-control"), "no-store");
  });
}

test("visitor of / is sent to a locale also while the service fails, and with the cookie of drafts", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 500, ""));
  for (const one of [await closedPort(), url]) {
    const handle = proxy(client(one), { locales: ["en", "de"], redirectRoot: true });
    for (const cookies of [[], ["__prerender_bypass"]]) {
      const response = await handle(request("/?a=1", { cookies, basePath: "/docs", language: "de" }));
      const { status, headers } = response;
      assert.deepEqual([status, headers.get("location"), headers.get("cache-control")], [307, "https://www.example.com/docs/de?a=1", "no-store"]);
    }
  }
});

test("proxy passes / to the page while the service fails, unless it redirects", async () => {
  assert.equal(await proxy(client(await closedPort()), { locales: ["en"] })(request("/")), undefined);
});

test("proxy passes the page at / if there is one", async (t) => {
  const { url } = await service(t, { "/": document("/") });
  assert.equal(await proxy(client(url), { locales: ["en"] })(request("/")), undefined);
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
  const { url } = await serve(t, (_, response) => send(response, 200, "<?xml ?>", { etag: '"1"', "content-type": "application/xml" }));
  const found = await sitemap(client(url))(request("/sitemap.xml"));
  assert.deepEqual([found.status, found.headers.get("etag"), await found.text()], [200, '"1"', "<?xml ?>"]);
  assert.equal(await sitemap(client(url))(request("/en/a")), null);
  const down = client(await closedPort());
  for (const handle of [sitemap(down), proxy(down, { robots: true })]) {
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

test("staticParams leave out what no file can be written for, and name it", async (t) => {
  const long = `/en/${"%C3%A9".repeat(124)}`;
  const { url } = await serve(t, (_, response) => send(response, 200, [{ path: "/en/a" }, { path: long }, { count: 2 }].map((row) => JSON.stringify(row)).join("\n")));
  const named = [];
  const onLeftOut = (pages) => named.push(...pages.map(({ page, reason }) => [page.path, reason]));
  assert.deepEqual(await staticParams(client(url), "/{locale}/{*path}", { onLeftOut })(), [{ locale: "en", path: ["a"] }]);
  assert.deepEqual(named.map(([path]) => path), [long]);
  assert.match(named[0][1], /more than 246 bytes/);
});

test("path of a page is that of its params, as a page and generateMetadata have them", () => {
  for (const [text, path] of [["100%", "/en/100%25"], ["100%25", "/en/100%2525"], ["café", "/en/caf%C3%A9"], ["a?b", "/en/a%3Fb"], ["it's (a) *!", "/en/it%27s%20%28a%29%20%2A%21"]]) {
    assert.equal(pathname(["en", encodeURIComponent(text)]), path);
    assert.equal(pathname(["en", text], "decoded"), path);
  }
});

test("metadata has title, description and Open Graph with the locales", () => {
  const alternates = { en: "https://x/en", "pt-BR": "https://x/pt", "x-default": "https://x/en" };
  const page = document("/pt", { canonicalUrl: "https://x/pt", locale: "pt", alternates });
  const texts = { title: "T", description: "D" };
  assert.deepEqual(metadata(page, { ...texts, openGraph: { images: ["/i"] } }), {
    ...texts,
    alternates: { canonical: "https://x/pt", languages: alternates },
    openGraph: { ...texts, url: "https://x/pt", locale: "pt_BR", alternateLocale: ["en"], images: ["/i"] },
  });
  assert.deepEqual(metadata(none("/x"), texts), texts);
});

test("locale of Open Graph is a language and a territory", () => {
  for (const [code, locale] of [["zh-Hans-CN", "zh_CN"], ["zh-Hans", "zh"], ["pt-BR", "pt_BR"], ["en", "en"]]) {
    const page = document("/a", { canonicalUrl: "https://x/a", alternates: { [code]: "https://x/a" } });
    assert.equal(metadata(page).openGraph.locale, locale);
  }
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
  const expected = {
    alternates: { canonical: own, languages: { en: own } },
    openGraph: { url: own, locale: "en", alternateLocale: [] },
  };
  assert.deepEqual(metadata(await map.resolve("/en/a")), expected);
  up = false;
  assert.deepEqual(metadata(await map.resolve("/en/a")), expected);
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

test("tag of a page that an edit makes stale is that with which it was cached, whatever its slug", async () => {
  // As the service writes it.
  const path = "/en/it%27s%20%28a%29";
  const tags = [];
  caching({ tag: "frontend-map", cacheTag: (...given) => tags.push(...given), cacheLife: () => {} })({ pathname: pathname(["en", "it's (a)"], "decoded") });
  const { calls } = await revalidated({ changes: [{ type: "updated", path }] });
  assert.deepEqual(calls, [["tag", tags[1], "max"]]);
});

test("revalidate makes the changed page stale if no URL has changed, else all results of the service", async () => {
  const tag = ["tag", "frontend-map", "max"];
  const updated = { changes: [{ type: "updated", path: "/a" }] };
  assert.deepEqual(await revalidated(updated), { status: 204, calls: [["tag", "frontend-map:/a", "max"]] });
  for (const type of ["added", "moved", "gone"]) {
    assert.deepEqual(await revalidated({ changes: [{ type, path: "/a", from: "/b" }] }), { status: 204, calls: [tag, ["path", "/a"]] });
  }
  assert.deepEqual(await revalidated({ reset: true }), { status: 204, calls: [tag] });
});

test("revalidate throws away what is kept at a path that is encoded: Next.js decodes all but what ends a segment", async () => {
  const changes = [{ type: "added", path: "/en/a%20b%2Fc%27d%252F%C3%A9" }];
  assert.deepEqual((await revalidated({ changes })).calls.slice(1), [
    ["path", "/en/a%20b%2Fc%27d%252F%C3%A9"],
    ["path", "/en/a b%2Fc'd%252Fé"],
  ]);
});

test("revalidate keeps what is at a path that another page has just left", async () => {
  const changes = [{ type: "moved", path: "/b", from: "/a" }, { type: "moved", path: "/c", from: "/b" }];
  assert.deepEqual((await revalidated({ changes })).calls, [["tag", "frontend-map", "max"], ["path", "/c"]]);
});

test("revalidate throws away what is kept at both paths of a redirect that has changed, not at all paths below one", async () => {
  const changes = [
    { type: "redirect", path: "/old", from: "/older" },
    { type: "redirect", path: "/a", from: "/a" },
    { type: "redirect", path: "/below/*", from: "/below/*" },
  ];
  const paths = ["/old", "/older", "/a"].map((path) => ["path", path]);
  assert.deepEqual((await revalidated({ changes })).calls, [["tag", "frontend-map", "max"], ...paths]);
});

test("revalidate of a path that is too long for a tag makes all results stale", async () => {
  const changes = [{ type: "updated", path: `/${"a".repeat(250)}` }];
  assert.deepEqual((await revalidated({ changes })).calls, [["tag", "frontend-map", "max"]]);
});

test("revalidate refuses a wrong signature, and does not hide an error of Next.js", async () => {
  assert.deepEqual(await revalidated({ reset: true }, { key: randomBytes(32) }), { status: 401, calls: [] });
  const more = { revalidateTag: () => { throw new RangeError("ours"); } };
  await assert.rejects(revalidated({ reset: true }, { more }), RangeError);
});
