/** The adapters of frameworks: real redirects, 404 only where there is no page, 503 while the service fails. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap } from "frontend-map-client";
import * as astro from "frontend-map-client/astro";
import * as nuxt from "frontend-map-client/nuxt";
import * as sveltekit from "frontend-map-client/sveltekit";
import { closedPort, document, failure, send, serve, success } from "../support/server.js";

const moved = (pathname, to) => document(pathname, {
  kind: "redirect",
  redirect: { to, path: "/en/new", status: 308, documentId: "a1", locale: "en", since: null },
});
const PAGES = {
  "/en/a": document("/en/a"),
  "/en/old": moved("/en/old", "https://www.example.com/en/new"),
  "/en/old-without-base-url": moved("/en/old-without-base-url", null),
  "/en/a/": document("/en/a/", { isCanonical: false, redirect: moved("", "https://www.example.com/en/a").redirect }),
  "/en/none": document("/en/none", { kind: "none", documentId: null }),
  "/en/with-query": document("/en/with-query", {
    kind: "redirect",
    redirect: { to: "https://other.example/x?q=1#top", path: "/x?q=1#top", status: 302, documentId: null, locale: "en", since: null, entry: "r1" },
  }),
  "/en/gone": document("/en/gone", { kind: "none", documentId: null, gone: { since: null, status: 410, entry: "r2" } }),
};
const RESERVED = "/en/a%26b%3Dc%3Fd%23e%2520f%2Bg%3Ch%3E%27i%22-%C3%BC";
PAGES[RESERVED] = document(RESERVED);
const DRAFT = document("/en/a", { resolvedBy: "cms" });

/** A file of the service, which says its own name. */
function sendFile(name, response) {
  if (name.endsWith(".txt")) send(response, 200, `Sitemap: ${name}`, { "content-type": "text/plain; charset=utf-8" });
  else send(response, 200, `<?xml ${name}`, { "content-type": "application/xml" });
}

function respond({ url }, response) {
  if (url.pathname.startsWith("/sitemaps/")) return sendFile(url.pathname, response);
  const pathname = url.searchParams.get("pathname");
  if (url.searchParams.get("status") === "draft") return send(response, 200, success(pathname === "/en/a" ? DRAFT : PAGES["/en/none"]));
  if (PAGES[pathname]) return send(response, 200, success(PAGES[pathname]));
  send(response, 404, failure(404, "NotFoundError", { pathname, normalizedPath: pathname }));
}

/**
 * A visitor's request through the hook of each framework, with a page that shows what it gets.
 *
 * @returns the response of the frontend: `page` is what the framework's own page has.
 */
const FRAMEWORKS = {
  astro: (map, options) => {
    const hook = astro.middleware(map, options);
    return async (path, { route = "/[...path]", headers = {}, origin = "https://www.example.com" } = {}) => {
      const request = new Request(origin + path, { headers });
      // As Astro has it: decoded once.
      const url = new URL(request.url);
      url.pathname = decoded(decodeURI, url.pathname);
      const context = { request, url, routePattern: route, isPrerendered: false, locals: {} };
      const response = await hook(context, async () => new Response("rendered"));
      return { response, ...context.locals };
    };
  },
  sveltekit: (map, options) => {
    const hook = sveltekit.handle(map, options);
    return async (path, { route = "/[...path]", headers = {}, origin = "https://www.example.com" } = {}) => {
      const url = new URL(origin + path);
      const event = { request: new Request(url, { headers }), url, route: { id: route }, locals: {} };
      const response = await hook({ event, resolve: () => new Response("rendered") });
      return { response, ...event.locals };
    };
  },
  nuxt: (map, options) => {
    const hook = nuxt.middleware(map, options);
    return async (path, { headers = {}, origin = "https://www.example.com" } = {}) => {
      const event = nuxtEvent(path, { host: new URL(origin).host, ...headers });
      const response = (await hook(event)) ?? new Response("rendered", { status: event.node.res.statusCode, headers: event.sent });
      return { response, ...event.context };
    };
  },
};

/** The text itself where it cannot be decoded. */
function decoded(decode, text) {
  try {
    return decode(text);
  } catch {
    return text;
  }
}

function nuxtEvent(url, headers = {}, method = "GET") {
  const sent = {};
  // As h3 has it: the path is decoded, except for `%25`.
  const [pathname, query] = url.split(/(?=\?)/);
  const path = decoded(decodeURIComponent, pathname.replaceAll("%25", "%2525")) + (query ?? "");
  const res = { statusCode: 200, setHeader: (name, value) => (sent[name] = value) };
  return { path, method, headers: new Headers(headers), context: {}, node: { req: { url }, res }, sent };
}

for (const [name, adapter] of Object.entries(FRAMEWORKS)) {
  const on = async (t, options, settings) => {
    const { url, received } = await serve(t, respond);
    return { visit: adapter(createFrontendMap({ url, site: "main", ...settings }), options), received };
  };

  test(`${name}: document is the page, from one request`, async (t) => {
    const { visit, received } = await on(t);
    const { response, page } = await visit("/en/a?x=1");
    assert.deepEqual([response.status, await response.text(), page], [200, "rendered", { ...PAGES["/en/a"], contentType: "api::page.page" }]);
    assert.deepEqual(received.map(({ url }) => url.search), ["?site=main&pathname=%2Fen%2Fa"]);
  });

  for (const [path, location] of [
    ["/en/old?a=1&b=%2F", "https://www.example.com/en/new?a=1&b=%2F"],
    ["/en/a/", "https://www.example.com/en/a"],
    ["/en/old-without-base-url?x", "/en/new?x"],
  ]) {
    test(`${name}: ${path} is a 308 to ${location}, which no browser keeps`, async (t) => {
      const { visit } = await on(t);
      const { response, page } = await visit(path);
      const { headers, status } = response;
      assert.deepEqual([status, headers.get("location"), headers.get("cache-control"), page], [308, location, "no-cache", undefined]);
    });
  }

  for (const path of ["/en/none", "/no/rule/matches", "/%FF", "//evil.example/x", "/100%25", "/100%2525", "/a%3Fb", "/a%23b", "/a%2Fb", "/%C3%A4%2541"]) {
    test(`${name}: ${path} is a 404`, async (t) => {
      const { visit, received } = await on(t);
      assert.equal((await visit(path)).response.status, 404);
      assert.equal(received[0].url.searchParams.get("pathname"), path);
    });
  }

  test(`${name}: query of the visitor is behind that of the target`, async (t) => {
    const { visit } = await on(t);
    for (const [query, location] of [["", "?q=1#top"], ["?a=2", "?q=1&a=2#top"]]) {
      const { response } = await visit(`/en/with-query${query}`);
      assert.deepEqual([response.status, response.headers.get("location")], [302, `https://other.example/x${location}`]);
    }
  });

  test(`${name}: page that is gone by a redirect of the CMS is a 410`, async (t) => {
    const { visit } = await on(t);
    assert.equal((await visit("/en/gone")).response.status, 410);
  });

  test(`${name}: path with reserved characters is requested from the service as it came`, async (t) => {
    const { visit, received } = await on(t);
    assert.equal((await visit(`${RESERVED}?x=1`)).page.pathname, RESERVED);
    assert.deepEqual(received.map(({ url }) => url.searchParams.get("pathname")), [RESERVED]);
  });

  test(`${name}: status of the service's redirect is that of the response`, async (t) => {
    const { url } = await serve(t, (_, response) => {
      const page = moved("/x", "https://www.example.com/y");
      send(response, 200, success({ ...page, redirect: { ...page.redirect, status: 301 } }));
    });
    const { response } = await adapter(createFrontendMap({ url, site: "main" }))("/x");
    assert.equal(response.status, 301);
  });

  for (const [what, fail, retryAfter] of [
    ["not known yet", (response) => send(response, 503, failure(503, "ServiceUnavailableError"), { "retry-after": "7" }), "7"],
    ["a failing CMS", (response) => send(response, 502, failure(502, "BadGatewayError")), "5"],
    ["a proxy's 404", (response) => send(response, 404, "<h1>404</h1>"), "5"],
    ["HTML in place of JSON", (response) => send(response, 200, "<h1>Welcome</h1>"), "5"],
    ["a hang", () => {}, "5"],
    ["half a body", (response) => response.writeHead(200, { "content-length": 100 }).write("{", () => response.destroy()), "5"],
  ]) {
    test(`${name}: ${what} is a 503 with Retry-After, never a 404`, async (t) => {
      const { url } = await serve(t, (_, response) => fail(response));
      const visit = adapter(createFrontendMap({ url, site: "main", timeoutMs: 300 }));
      const { response, page } = await visit("/en/a");
      const { headers, status } = response;
      assert.deepEqual([status, headers.get("retry-after"), headers.get("cache-control"), page], [503, retryAfter, "no-store", undefined]);
    });
  }

  test(`${name}: stopped service is a 503, also for its sitemap, and the frontend's own response where it has one`, async () => {
    const map = createFrontendMap({ url: await closedPort(), site: "main" });
    for (const path of ["/en/a", "/sitemap.xml"]) assert.equal((await adapter(map)(path)).response.status, 503);
    const unavailable = ({ name }) => new Response(name, { status: 500 });
    const { response } = await adapter(map, { unavailable })("/en/a");
    assert.deepEqual([response.status, await response.text()], [500, "ConnectionError"]);
  });

  test(`${name}: page is still there while the service fails, and a page that was not is a 503`, async (t) => {
    let fails = false;
    const { url } = await serve(t, (request, response) => (fails ? send(response, 500, "") : respond(request, response)));
    const visit = adapter(createFrontendMap({ url, site: "main", lastGood: 10 }));
    await visit("/en/a");
    await visit("/en/none");
    fails = true;
    const { response, page } = await visit("/en/a");
    assert.deepEqual([response.status, page.documentId, page.lastGood.error.status], [200, "a1", 500]);
    assert.equal((await visit("/en/none")).response.status, 503);
  });

  test(`${name}: page is still there while the service refuses requests`, async (t) => {
    let refuses = false;
    const { url } = await serve(t, (request, response) =>
      refuses ? send(response, 400, failure(400, "ValidationError")) : respond(request, response));
    t.mock.method(console, "error", () => {});
    const visit = adapter(createFrontendMap({ url, site: "main", lastGood: 10 }));
    await visit("/en/a");
    refuses = true;
    const { response, page } = await visit("/en/a");
    assert.deepEqual([response.status, page.documentId, page.lastGood.error.status], [200, "a1", 400]);
  });

  test(`${name}: refused request for a page that was not there is an error, because waiting does not help`, async (t) => {
    const { url } = await serve(t, (_, response) => send(response, 400, failure(400, "ValidationError")));
    await assert.rejects(adapter(createFrontendMap({ url, site: "nope" }))("/en/a"), (error) => (error.cause ?? error).status === 400);
  });

  test(`${name}: visitor with the secret sees the draft, and what is published where there is none; no cache keeps it`, async (t) => {
    const draft = (context) => (context.request?.headers ?? context.headers).get("x-secret") === "s";
    const { visit, received } = await on(t, { draft }, { token: "t" });
    const secret = { headers: { "x-secret": "s" } };
    const { response, page } = await visit("/en/a", secret);
    assert.deepEqual([page.resolvedBy, response.headers.get("cache-control")], ["cms", "private, no-store"]);
    const published = await visit("/en/a");
    assert.deepEqual([published.page.resolvedBy, published.response.headers.get("cache-control")], ["documents", null]);
    assert.equal((await visit("/en/none", secret)).response.status, 404);
    const redirect = (await visit("/en/old", secret)).response;
    assert.deepEqual([redirect.status, redirect.headers.get("cache-control")], [308, "no-store"]);
    assert.deepEqual(received.map(({ headers }) => headers.authorization), ["Bearer t", undefined, "Bearer t", undefined, "Bearer t", undefined]);
  });

  test(`${name}: visitor of / is sent to a locale by Accept-Language if the site says so, also while the service fails`, async (t) => {
    const map = createFrontendMap({ url: await closedPort(), site: "main" });
    const visit = adapter(map, { locales: ["en", "de"], redirectRoot: true });
    for (const [language, location] of [["de-AT,en;q=0.5", "/de?x=1"], ["fr", "/en?x=1"]]) {
      const { response } = await visit("/?x=1", { headers: { "accept-language": language } });
      const { status, headers } = response;
      assert.deepEqual([status, headers.get("location"), headers.get("cache-control")], [307, location, "no-store"]);
    }
    assert.equal((await adapter(map, { locales: ["en"] })("/")).response.status, 503);
    const { visit: plain } = await on(t, { redirectRoot: true });
    assert.equal((await plain("/")).response.status, 404);
  });

  test(`${name}: locale is that of the page, else of the path, else of the visitor`, async (t) => {
    const { visit } = await on(t, { locales: ["fr", "de", "en"] });
    const german = { headers: { "accept-language": "de" } };
    const own = await visit("/en/a", german);
    assert.deepEqual([own.response.status, own.locale], [200, "en"]);
    for (const [path, locale] of [["/de/nothing", "de"], ["/fr/nothing", "fr"], ["/nothing", "de"]]) {
      const found = await visit(path, german);
      assert.deepEqual([found.response.status, found.locale], [404, locale]);
    }
    assert.equal((await visit("/nothing")).locale, "fr");
    assert.equal((await (await on(t)).visit("/en/a")).locale, undefined);
  });

  test(`${name}: sitemap file that the service refuses is a 503`, async (t) => {
    for (const status of [400, 401, 403, 404]) {
      const { url } = await serve(t, (_, response) => send(response, status, failure(status, "SomeError")));
      const { response } = await adapter(createFrontendMap({ url, site: "main" }))("/sitemap.xml");
      assert.deepEqual([response.status, response.headers.get("cache-control")], [503, "no-store"]);
    }
  });

  test(`${name}: sitemap files are those of the service`, async (t) => {
    const { visit } = await on(t);
    assert.equal(await (await visit("/sitemap.xml")).response.text(), "<?xml /sitemaps/main/sitemap.xml");
  });

  test(`${name}: with a base path, pages, redirects and sitemap files are those below it`, async (t) => {
    const { visit, received } = await on(t, { basePath: "/docs", locales: ["en"], redirectRoot: true });
    // h3 takes it off.
    const base = name === "nuxt" ? "" : "/docs";
    assert.equal((await visit(`${base}/en/a`)).page.documentId, "a1");
    assert.equal(received[0].url.searchParams.get("pathname"), "/en/a");
    for (const [path, location] of [["/en/old-without-base-url?x", "/docs/en/new?x"], ["/en/old", "https://www.example.com/en/new"], ["/", "/docs/en"]]) {
      assert.equal((await visit(base + path)).response.headers.get("location"), location);
    }
    assert.equal(await (await visit(`${base}/sitemap.xml`)).response.text(), "<?xml /sitemaps/main/sitemap.xml");
    if (base) assert.deepEqual([await (await visit("/docsearch")).response.text(), received.length], ["rendered", 4]);
  });

  test(`${name}: sitemap files may be in another folder`, async (t) => {
    for (const [sitemapPath, path] of [["/maps", "/maps/pages-1.xml"], ["/", "/pages-1.xml"]]) {
      const { visit } = await on(t, { sitemapPath });
      assert.equal(await (await visit(path)).response.text(), "<?xml /sitemaps/main/pages-1.xml");
    }
  });

  test(`${name}: of a site with several hosts, the visitor's host decides, and an unknown one does not`, async (t) => {
    const { visit, received } = await on(t, { hosts: ["example.com", "example.de:8080"] });
    const german = { origin: "http://example.de:8080" };
    assert.equal(await (await visit("/robots.txt", german)).response.text(), "Sitemap: /sitemaps/main/example.de%3A8080/robots.txt");
    await visit("/en/a", german);
    await visit("/en/a", { origin: "http://evil.example" });
    assert.deepEqual(received.slice(1).map(({ url }) => url.searchParams.get("host")), ["example.de:8080", null]);
  });

  test(`${name}: request that is not for a page is left alone`, async () => {
    const map = createFrontendMap({ url: await closedPort(), site: "main" });
    const own = { astro: [["/search", "/search"], ["/_actions/send", "/_actions/[...path]"]], sveltekit: [["/api/x", "/api/[id]"]], nuxt: [["/api/page"], ["/_nuxt/x.js"], ["/__nuxt_error?x"], ["/en/a/_payload.json?1"]] };
    for (const [path, route] of own[name]) assert.equal(await (await adapter(map)(path, { route })).response.text(), "rendered");
    assert.equal(await (await adapter(map, { isPage: () => false })("/en/a")).response.text(), "rendered");
  });
}

test("sveltekit: data of a page in the browser is that of its own URL", async (t) => {
  const { url, received } = await serve(t, respond);
  const hook = sveltekit.handle(createFrontendMap({ url, site: "main" }));
  const request = new Request("https://www.example.com/en/a/__data.json");
  const event = { request, url: new URL("https://www.example.com/en/a"), route: { id: "/[...path]" }, locals: {} };
  await hook({ event, resolve: () => new Response() });
  assert.equal(received[0].url.searchParams.get("pathname"), "/en/a");
});

test("sveltekit: prerendered page has no query, which SvelteKit refuses to read", async (t) => {
  const { url } = await serve(t, respond);
  const hook = sveltekit.handle(createFrontendMap({ url, site: "main" }));
  const own = new Proxy(new URL("http://sveltekit-prerender/en/a"), {
    get(target, name) {
      if (name === "search" || name === "searchParams") throw new Error("Cannot access url.search");
      return target[name];
    },
  });
  const event = { request: new Request("http://sveltekit-prerender/en/a"), url: own, route: { id: "/[...path]" }, locals: {} };
  assert.equal((await hook({ event, resolve: () => new Response() })).status, 200);
});

test("sveltekit: path without a route may be a redirect", async (t) => {
  const { url } = await serve(t, respond);
  const { response } = await FRAMEWORKS.sveltekit(createFrontendMap({ url, site: "main" }))("/en/old", { route: null });
  assert.equal(response.status, 308);
});

test("astro: prerendered page is left alone", async () => {
  const hook = astro.middleware(createFrontendMap({ url: await closedPort(), site: "main" }));
  const url = new URL("https://www.example.com/en/a");
  const context = { request: new Request(url), url, routePattern: "/[...path]", isPrerendered: true, locals: {} };
  assert.equal(await (await hook(context, async () => new Response("rendered"))).text(), "rendered");
});

const row = (path) => ({ path, url: `https://x${path}`, locale: "en", lastModified: null, listed: true });
const ROWS = ["/", "/en", "/en/caf%C3%A9s/a"].map(row);
const list = (rows) => [...rows, { count: ROWS.length }].map((line) => `${JSON.stringify(line)}\n`).join("");

test("astro and sveltekit: all pages are the paths of a static build, from one request", async (t) => {
  const { url, received } = await serve(t, (_, response) => send(response, 200, list(ROWS)));
  const map = createFrontendMap({ url, site: "main" });
  assert.deepEqual(await astro.getStaticPaths(map)(), [
    { params: { path: undefined }, props: { page: ROWS[0] } },
    { params: { path: "en" }, props: { page: ROWS[1] } },
    { params: { path: "en/cafés/a" }, props: { page: ROWS[2] } },
  ]);
  assert.deepEqual(await sveltekit.entries(map)(), [{ path: "" }, { path: "en" }, { path: "en/cafés/a" }]);
  assert.equal(received.length, 2);
});

test("astro and sveltekit: characters that URLs encode are decoded", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 200, `${JSON.stringify(row("/en/a%20b%2Bc%26d"))}\n{"count":1}\n`));
  const map = createFrontendMap({ url, site: "main" });
  const [{ params }] = await astro.getStaticPaths(map)();
  assert.deepEqual([params, await sveltekit.entries(map)()], [{ path: "en/a b+c&d" }, [{ path: "en/a b+c&d" }]]);
});

test("sveltekit: entries of a site whose URLs end with a slash have none", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 200, list(["/", "/en/", "/en/a%2Fb/"].map(row))));
  assert.deepEqual(await sveltekit.entries(createFrontendMap({ url, site: "main" }))(), [{ path: "" }, { path: "en" }, { path: "en/a/b" }]);
});

test("astro and sveltekit: list that is not complete fails the build, as does a failing service", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 200, list(ROWS.slice(1))));
  const short = createFrontendMap({ url, site: "main" });
  const down = createFrontendMap({ url: await closedPort(), site: "main" });
  for (const paths of [astro.getStaticPaths, sveltekit.entries]) {
    await assert.rejects(paths(short)(), { name: "InvalidResponseError" });
    await assert.rejects(paths(down)(), { name: "ConnectionError" });
  }
});

test("nuxt: data of a page is that of the path in the query, redirects and none included", async (t) => {
  const { url, received } = await serve(t, respond);
  const resolve = nuxt.pageData(createFrontendMap({ url, site: "main" }));
  const ask = async (path) => (await resolve(nuxtEvent(`/api/page?path=${encodeURIComponent(path)}`))).kind;
  assert.deepEqual([await ask("/en/a"), await ask("/en/old"), await ask("/en/none")], ["document", "redirect", "none"]);
  await ask("https://evil.example/en/a");
  assert.deepEqual(received.map((one) => one.url.searchParams.get("pathname")), ["/en/a", "/en/old", "/en/none", "/en/a"]);
});

test("nuxt: data of a draft is for the visitor with the secret", async (t) => {
  const { url } = await serve(t, respond);
  const draft = ({ headers }) => headers.get("x-secret") === "s";
  const resolve = nuxt.pageData(createFrontendMap({ url, site: "main", token: "t" }), { draft });
  const event = nuxtEvent("/api/page?path=/en/a", { "x-secret": "s" });
  assert.equal((await resolve(event)).resolvedBy, "cms");
  assert.equal(event.sent["cache-control"], "private, no-store");
  assert.equal((await resolve(nuxtEvent("/api/page?path=/en/a"))).resolvedBy, "documents");
});

// h3 takes the status of an error for that of its own response.
for (const [what, status, error] of [
  ["the address leads to another route", 404, failure(404, "NotFoundError")],
  ["the site is not known", 400, failure(400, "ValidationError")],
  ["the token is wrong", 403, failure(403, "ForbiddenError")],
]) {
  test(`nuxt: it is an error with the status 500 where ${what}`, async (t) => {
    const { url } = await serve(t, (_, response) => send(response, status, error));
    const map = createFrontendMap({ url, site: "main" });
    for (const hook of [nuxt.middleware(map)(nuxtEvent("/en/a")), nuxt.pageData(map)(nuxtEvent("/api/page?path=/en/a"))]) {
      await assert.rejects(hook, (thrown) => thrown.statusCode === 500 && thrown.status === undefined && thrown.cause.status === status);
    }
  });
}

test("nuxt: a Host with a path does not change the path", async (t) => {
  const { url, received } = await serve(t, respond);
  const hook = nuxt.middleware(createFrontendMap({ url, site: "main" }));
  for (const host of ["x/en/none?", "x/en/none#", "user@x", "a b", ""]) {
    const event = nuxtEvent("/en/a", { host });
    assert.equal(await hook(event), undefined);
    assert.equal(event.context.page.kind, "document");
  }
  assert.deepEqual([...new Set(received.map((one) => one.url.search))], ["?site=main&pathname=%2Fen%2Fa"]);
});

test("nuxt: requests of each method have their page, and only GET and HEAD have sitemap files", async (t) => {
  const { url } = await serve(t, respond);
  const hook = nuxt.middleware(createFrontendMap({ url, site: "main" }));
  for (const method of ["HEAD", "POST", "TRACE", "PROPFIND"]) {
    const event = nuxtEvent("/en/a", {}, method);
    await hook(event);
    assert.equal(event.context.page.kind, "document", method);
  }
  assert.equal(await hook(nuxtEvent("/robots.txt", {}, "TRACE")), undefined);
});

test("nuxt: data of a path that is none is an error with the status 400", async (t) => {
  const { url, received } = await serve(t, respond);
  const resolve = nuxt.pageData(createFrontendMap({ url, site: "main" }));
  for (const path of ["en/a", "https://", "http://[::1]:99999/", "javascript:alert(1)"]) {
    await assert.rejects(resolve(nuxtEvent(`/api/page?path=${encodeURIComponent(path)}`)), { statusCode: 400 });
  }
  assert.equal(received.length, 0);
});

test("nuxt: data of a page while the service fails is an error with the status 503 and Retry-After", async () => {
  const resolve = nuxt.pageData(createFrontendMap({ url: await closedPort(), site: "main" }));
  const event = nuxtEvent("/api/page?path=/en/a");
  await assert.rejects(resolve(event), { statusCode: 503 });
  assert.equal(event.sent["retry-after"], "5");
});
