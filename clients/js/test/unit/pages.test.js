/** `pages` and `toStaticParams`: complete, or an error. And `changes`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap } from "frontend-map-client";
import { getStaticPaths } from "frontend-map-client/astro";
import { staticParams } from "frontend-map-client/next";
import { entries } from "frontend-map-client/sveltekit";
import { deferred, failure, send, serve, success } from "../support/server.js";

const row = (path) => ({ path, url: `https://x${path}`, locale: "en", lastModified: null, listed: true });
const ndjson = (paths, count = paths.length) =>
  [...paths.map(row), { count }].map((line) => `${JSON.stringify(line)}\n`).join("");

async function collect(pages) {
  const paths = [];
  for await (const { path } of pages) paths.push(path);
  return paths;
}

test("rows come in order, however the response is cut", async (t) => {
  const paths = Array.from({ length: 50 }, (_, at) => `/en/ü${at}`);
  const bytes = Buffer.from(ndjson(paths));
  const { url, received } = await serve(t, (_, response) => {
    for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
    response.end();
  });
  const map = createFrontendMap({ url, site: "main" });
  const since = new Date("2026-01-31T12:00:00Z");
  assert.deepEqual(await collect(map.pages({ contentType: "pages", locale: "en", since })), paths);
  assert.equal(received[0].headers.accept, "application/x-ndjson");
  assert.deepEqual(Object.fromEntries(received[0].url.searchParams), {
    site: "main",
    contentType: "pages",
    locale: "en",
    since: "2026-01-31T12:00:00.000Z",
  });
});

test("list with a cursor is requested until an instance has the changes up to it", async (t) => {
  const { url, received } = await serve(t, (_, response) => {
    if (received.length < 3) send(response, 503, failure(503, "ServiceUnavailableError"), { "retry-after": "0" });
    else send(response, 200, ndjson(["/en/a"]));
  });
  const map = createFrontendMap({ url, site: "main" });
  const start = performance.now();
  assert.deepEqual(await collect(map.pages({ cursor: "3f2b9c0d1e5a687412" })), ["/en/a"]);
  assert.ok(performance.now() - start > 990, "the second repeat is not at once");
  assert.equal(received.length, 3);
  assert.equal(received[2].url.searchParams.get("cursor"), "3f2b9c0d1e5a687412");
});

for (const [what, body] of [
  ["without its last line", ndjson(["/a", "/b"]).replace(/\{"count.*\n/, "")],
  ["with half of its last line", ndjson(["/a", "/b"]).slice(0, -5)],
  ["with another count", ndjson(["/a", "/b"], 3)],
  ["with a row after its last line", `${ndjson(["/a"])}${JSON.stringify(row("/b"))}\n`],
  ["with two last lines", `${ndjson(["/a"])}{"count":1}\n`],
  ["with a line that is no JSON", `${JSON.stringify(row("/a"))}\n<html>\n{"count":1}\n`],
  ["that is empty", ""],
  ["with a line of 2 MiB", "x".repeat(2 ** 21)],
]) {
  test(`list ${what} throws`, async (t) => {
    const { url } = await serve(t, (_, response) => send(response, 200, body));
    const map = createFrontendMap({ url, site: "main" });
    await assert.rejects(collect(map.pages()), { name: "InvalidResponseError" });
    await assert.rejects(map.pages().toStaticParams("/{*path?}"), { name: "InvalidResponseError" });
  });
}

test("list that breaks off throws after its rows", async (t) => {
  const { url } = await serve(t, (_, response) => {
    response.writeHead(200);
    response.write(ndjson(["/a", "/b"]), () => response.destroy());
  });
  const seen = [];
  await assert.rejects(async () => {
    for await (const { path } of createFrontendMap({ url, site: "main" }).pages()) seen.push(path);
  }, { name: "ConnectionError" });
  assert.deepEqual(seen, ["/a", "/b"]);
});

test("list that stops in its middle throws, and the time of the reader does not count", async (t) => {
  const { url } = await serve(t, (_, response) => void response.write(`${JSON.stringify(row("/a"))}\n${JSON.stringify(row("/b"))}\n`));
  const seen = [];
  await assert.rejects(async () => {
    for await (const { path } of createFrontendMap({ url, site: "main" }).pages({ timeoutMs: 2_000 })) {
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      seen.push(path);
    }
  }, { name: "TimeoutError" });
  assert.deepEqual(seen, ["/a", "/b"]);
});

test("reader that stops early ends the request", async (t) => {
  const closed = deferred();
  const { url } = await serve(t, (_, response) => {
    response.on("close", closed.resolve);
    response.write(`${JSON.stringify(row("/a"))}\n`);
  });
  for await (const _ of createFrontendMap({ url, site: "main" }).pages()) break;
  await closed.promise;
});

test("unlisted pages are asked for with the token", async (t) => {
  const { url, received } = await serve(t, (_, response) => send(response, 200, ndjson([])));
  const map = createFrontendMap({ url, site: "main", token: "t" });
  await collect(map.pages({ unlisted: true }));
  await collect(map.pages());
  assert.deepEqual(received.map(({ headers }) => headers.authorization), ["Bearer t", undefined]);
  assert.deepEqual(received.map((one) => one.url.searchParams.get("unlisted")), ["true", null]);
});

const PATHS = ["/", "/en", "/en/articles/a", "/en/articles/a", "/de/articles/caf%C3%A9/", "/en/x/articles/b", "/en/a%2Fb"];

for (const [template, expected] of [
  ["/{locale}/articles/{slug}", [{ locale: "en", slug: "a" }, { locale: "de", slug: "café" }]],
  ["/{locale}", [{ locale: "en" }]],
  ["/", [{}]],
  ["/{locale}/{*rest}", [["articles", "a"], ["articles", "café"], ["x", "articles", "b"], ["a/b"]].map((rest, at) => ({ locale: at === 1 ? "de" : "en", rest }))],
  ["/{*path}", [["en"], ["en", "articles", "a"], ["de", "articles", "café"], ["en", "x", "articles", "b"], ["en", "a/b"]].map((path) => ({ path }))],
  ["/{*path?}", [[], ["en"], ["en", "articles", "a"], ["de", "articles", "café"], ["en", "x", "articles", "b"], ["en", "a/b"]].map((path) => ({ path }))],
]) {
  test(`params of ${template} are those of the pages below it, each once`, async (t) => {
    const { url } = await serve(t, (_, response) => send(response, 200, ndjson(PATHS)));
    assert.deepEqual(await createFrontendMap({ url, site: "main" }).pages().toStaticParams(template), expected);
  });
}

test("pages of two hosts that are one route throw, and those of one of them do not", async (t) => {
  const hosts = { en: "https://a", de: "https://b" };
  const { url } = await serve(t, (request, response) => {
    const locale = new URL(request.url, "http://x").searchParams.get("locale");
    const rows = Object.keys(hosts).filter((one) => one === (locale ?? one));
    const lines = [...rows.map((one) => ({ ...row("/about"), url: `${hosts[one]}/about`, locale: one })), { count: rows.length }];
    send(response, 200, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  });
  const map = createFrontendMap({ url, site: "main" });
  const lists = [
    (options) => map.pages(options).toStaticParams("/{*path?}"),
    (options) => staticParams(map, "/{*path?}", options)(),
    (options) => getStaticPaths(map, options)(),
    (options) => entries(map, options)(),
  ];
  for (const list of lists) {
    await assert.rejects(list(), { name: "TypeError", message: /^https:\/\/a\/about and https:\/\/b\/about are one route/ });
    assert.equal((await list({ locale: "de" })).length, 1);
  }
});

/** Ten slugs that no file can have: too long, or with characters that Astro does not decode. */
const LONG = ["a".repeat(300), "b".repeat(247), "%C3%BC".repeat(124)];
const RESERVED = ["100%25", "a%3Fb", "a%23b", "%25", "x%2520y", "%3F"];
/** Those of them that SvelteKit takes for a query or a fragment. */
const QUERY = ["a%3Fb", "a%23b", "%3F"];
const ODD = [...LONG, ...RESERVED, "cafe%CC%81"].map((slug) => `/en/${slug}`);
const GOOD = ["/en", `/en/${"c".repeat(246)}`, "/en/caf%C3%A9"];

for (const [what, list, expected] of [
  ["toStaticParams", (map, options) => map.pages(options).toStaticParams("/{*path?}"), LONG],
  ["entries", (map, options) => entries(map, options)(), [...LONG, ...QUERY]],
  ["getStaticPaths", (map, options) => getStaticPaths(map, options)(), ODD],
]) {
  test(`${what}: odd slugs do not stop a build, and each is named with its reason`, async (t) => {
    const { url } = await serve(t, (_, response) => send(response, 200, ndjson([...GOOD, ...ODD])));
    const map = createFrontendMap({ url, site: "main" });
    const named = [];
    const built = await list(map, { onLeftOut: (pages) => named.push(...pages) });
    assert.equal(built.length, GOOD.length + ODD.length - expected.length);
    assert.deepEqual(named.map(({ page }) => page.path.replace("/en/", "")), expected.map((path) => path.replace("/en/", "")));
    assert.ok(named.every(({ reason }) => reason.length > 10));

    const warn = t.mock.method(console, "warn", () => {});
    await list(map);
    const [[text]] = warn.mock.calls.map(({ arguments: words }) => words);
    assert.equal(warn.mock.callCount(), 1);
    for (const path of expected) assert.ok(text.includes(`${path}: `), path);
  });
}

test("filter leaves pages out of each list, which says so", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 200, ndjson(["/en/a", "/en/b"])));
  const map = createFrontendMap({ url, site: "main" });
  const named = [];
  const options = { filter: ({ path }) => path !== "/en/a", onLeftOut: (pages) => named.push(pages.map(({ page, reason }) => [page.path, reason])) };
  assert.deepEqual(await collect(map.pages(options)), ["/en/b"]);
  for (const list of [map.pages(options).toStaticParams("/{*path}"), staticParams(map, "/{*path}", options)(), getStaticPaths(map, options)(), entries(map, options)()]) {
    assert.equal((await list).length, 1);
  }
  assert.deepEqual(named, Array(5).fill([["/en/a", "the filter"]]));
});

test("log of a build counts the pages that the filter leaves out, and names the others", async (t) => {
  const [long] = LONG;
  const { url } = await serve(t, (_, response) => send(response, 200, ndjson(["/en/a", "/en/b", `/en/${long}`])));
  const warn = t.mock.method(console, "warn", () => {});
  await createFrontendMap({ url, site: "main" }).pages({ filter: ({ path }) => path !== "/en/a" }).toStaticParams("/{*path}");
  const [[text]] = warn.mock.calls.map(({ arguments: words }) => words);
  assert.equal(text, `frontend-map leaves out 2 pages:\n  /en/${long}: a segment has more than 246 bytes`);
});

test("list without its last line is an error also where all its pages are left out", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 200, `${JSON.stringify(row("/en/a"))}\n`));
  const onLeftOut = t.mock.fn();
  const map = createFrontendMap({ url, site: "main" });
  await assert.rejects(map.pages({ filter: () => false, onLeftOut }).toStaticParams("/{*path}"), { name: "InvalidResponseError" });
  assert.equal(onLeftOut.mock.callCount(), 0);
});

test("list is requested afresh, with none of the lifetimes of the client", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 200, ndjson(["/en/a"])));
  const inits = [];
  const init = { next: { revalidate: 60 }, cache: "force-cache" };
  const map = createFrontendMap({ url, site: "main", init, fetch: (to, how) => (inits.push(how), fetch(to, how)) });
  await collect(map.pages());
  await map.pages().toStaticParams("/{*path}");
  assert.deepEqual(inits.map(({ cache, next }) => [cache, next]), Array(2).fill(["no-store", undefined]));
});

for (const template of ["", "en", "/{*path}/x", "/{slug?}", "/{slug", "/x{slug}", "/{}", "/{a b}"]) {
  test(`template ${JSON.stringify(template)} is a TypeError`, async () => {
    const map = createFrontendMap({ url: "http://127.0.0.1:1", site: "main" });
    await assert.rejects(map.pages().toStaticParams(template), TypeError);
  });
}

test("changes are those since the cursor, never cached, and with the token only for unlisted pages", async (t) => {
  const data = { cursor: "c2", more: false, reset: false, changes: [] };
  const { url, received } = await serve(t, (_, response) => send(response, 200, success(data)));
  const inits = [];
  const map = createFrontendMap({ url, site: "main", token: "t", fetch: (to, init) => (inits.push(init), fetch(to, init)) });
  assert.deepEqual(await map.changes({ since: "c1" }), data);
  await map.changes({ unlisted: true });
  assert.deepEqual(received.map((one) => one.url.search), ["?site=main&since=c1", "?site=main"]);
  assert.deepEqual(received.map(({ headers }) => headers.authorization), [undefined, "Bearer t"]);
  assert.deepEqual(inits.map(({ cache }) => cache), ["no-store", "no-store"]);
});

test("changes of a failing service are an error, although there were some before", async (t) => {
  let fail = false;
  const data = { cursor: "c", more: false, reset: false, changes: [] };
  const { url } = await serve(t, (_, response) =>
    fail ? send(response, 503, failure(503, "ServiceUnavailableError")) : send(response, 200, success(data)),
  );
  const map = createFrontendMap({ url, site: "main", lastGood: 10 });
  await map.changes({ since: "0" });
  fail = true;
  await assert.rejects(map.changes({ since: "0" }), { status: 503 });
});
