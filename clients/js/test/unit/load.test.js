/** `load`: what is at a path, with its content from Strapi. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap, FrontendMapError } from "frontend-map-client";
import { loader, strapi } from "frontend-map-client/load";
import { closedPort, document, failure, send, serve, success } from "../support/server.js";

const RESOURCE = "/api/pages/a1?locale=en";
const none = (path) => document(path, { kind: "none", matched: null, documentId: null });

/** A client of a service with one result for each path, drafts below `/draft`. */
async function client(t, results = {}) {
  const { url, received } = await serve(t, (request, response) => {
    const { searchParams } = request.url;
    const path = searchParams.get("pathname");
    const isMissing = path.startsWith("/draft") && searchParams.get("status") !== "draft";
    send(response, 200, success(isMissing ? none(path) : results[path] ?? document(path, { resource: RESOURCE })));
  });
  return { map: createFrontendMap({ url, site: "main", token: "t" }), received };
}

/** A Strapi, and the options with which it is reached. */
async function cms(t, respond = (_, response) => send(response, 200, { data: { title: "Title" }, meta: {} })) {
  const { url, received } = await serve(t, respond);
  return { options: { url, token: "secret" }, received };
}

test("document has its content, and the tags of its path", async (t) => {
  const [{ map }, { options, received }] = [await client(t), await cms(t)];
  const query = { populate: "*", "fields[0]": "title" };
  const load = loader(map, { tag: "t", content: { "api::page.page": strapi({ ...options, query }) } });
  const page = await load("/en/a?x");
  assert.deepEqual(page, {
    ...document("/en/a", { resource: RESOURCE }),
    contentType: "api::page.page",
    content: { title: "Title" },
    tags: ["t", "t:/en/a"],
  });
  assert.deepEqual(received.map(({ url, headers }) => [url.pathname, Object.fromEntries(url.searchParams), headers.authorization]), [
    ["/api/pages/a1", { locale: "en", ...query }, "Bearer secret"],
  ]);
});

test("what is no document, or has no fetcher, has no content", async (t) => {
  const results = {
    "/en": document("/en", { kind: "page", page: "home", matched: null, documentId: null }),
    "/old": document("/old", { kind: "redirect", documentId: null, canonicalPath: null }),
    "/none": { ...none("/none"), canonicalPath: null },
  };
  const { map } = await client(t, results);
  const load = loader(map, { content: {} });
  for (const [path, kind] of [["/en", "page"], ["/old", "redirect"], ["/none", "none"], ["/en/a", "document"]]) {
    const page = await load(path);
    assert.deepEqual([page.kind, page.content, page.tags], [kind, undefined, ["frontend-map", `frontend-map:${path}`]]);
  }
});

test("draft is fetched as one, without tags; a path without a draft shows what is published", async (t) => {
  const published = (path) => document(path, { resource: RESOURCE });
  const { map, received } = await client(t);
  const asked = [];
  const content = { "api::page.page": async (page, request) => asked.push([page.pathname, request.draft, request.tags]) };
  const load = loader(map, { content });
  await load("/draft/a", { draft: true });
  assert.deepEqual(asked, [["/draft/a", true, []]]);
  assert.deepEqual(received.map(({ url }) => url.searchParams.get("status")), ["draft"]);

  const both = await serve(t, ({ url }, response) =>
    send(response, 200, success(url.searchParams.get("status") === "draft" ? none("/en/a") : published("/en/a"))));
  const page = await loader(createFrontendMap({ url: both.url, site: "main", token: "t" }), { content })("/en/a", { draft: true });
  assert.deepEqual([page.kind, asked[1]], ["document", ["/en/a", false, ["frontend-map", "frontend-map:/en/a"]]]);
});

test("content of a draft is in no cache; other content has the tags of the page", async (t) => {
  const [{ map }, { options, received }] = [await client(t), await cms(t)];
  const inits = [];
  t.mock.method(globalThis, "fetch", async (url, init) => {
    if (String(url).startsWith(options.url)) inits.push(init);
    return original(url, init);
  });
  const init = { next: { revalidate: 60, tags: ["cms"] }, headers: { "x-own": "1" } };
  const load = loader(map, { content: { "api::page.page": strapi({ ...options, init }) } });
  await load("/en/a");
  await load("/draft/a", { draft: true });
  assert.deepEqual(inits.map(({ next, cache, redirect }) => [next, cache, redirect]), [
    [{ revalidate: 60, tags: ["cms", "frontend-map", "frontend-map:/en/a"] }, undefined, "manual"],
    [undefined, "no-store", "manual"],
  ]);
  assert.deepEqual(received.map(({ url, headers }) => [url.searchParams.get("status"), headers["x-own"]]), [[null, "1"], ["draft", "1"]]);
});
const original = globalThis.fetch;

const NOT_FOUND = { data: null, error: { status: 404, name: "NotFoundError", message: "Not Found", details: {} } };

test("content is null where Strapi does not have the document", async (t) => {
  const [{ map }, { options }] = [await client(t), await cms(t, (_, response) => send(response, 404, NOT_FOUND))];
  assert.equal((await loader(map, { content: { "api::page.page": strapi(options) } })("/en/a")).content, null);
});

for (const [name, respond, message] of [
  ["refuses the token", (response) => send(response, 403, { data: null, error: { name: "ForbiddenError" } }), /\/api\/pages\/a1\?locale=en: 403/],
  ["fails", (response) => send(response, 500, {}), /: 500/],
  ["is behind a proxy that has no such route", (response) => send(response, 404, "<html>"), /: 404/],
  ["sends a redirect", (response) => send(response, 307, "", { location: "/" }), /: 307/],
  ["responds with HTML", (response) => send(response, 200, "<html>"), /no `data`/],
  ["responds with null", (response) => send(response, 200, "null"), /no `data`/],
  ["breaks off", (response) => response.writeHead(200, { "content-length": "99" }).write("{", () => response.destroy()), /terminated|fetch failed/],
  ["does not respond in time", () => {}, /timeout/],
]) {
  test(`load throws where Strapi ${name}, and never says that there is no page`, async (t) => {
    const [{ map }, { options }] = [await client(t), await cms(t, (_, response) => respond(response))];
    const load = loader(map, { timeoutMs: 300, content: { "api::page.page": strapi(options) } });
    await assert.rejects(load("/en/a"), ({ message: text }) => message.test(text) && !text.includes("secret"));
  });
}

test("time that the path takes is not left for the content, whatever a fetcher does", async (t) => {
  const { map } = await client(t);
  const slow = { ...map, resolve: async (...given) => (await new Promise((done) => setTimeout(done, 300)), map.resolve(...given)) };
  const seen = [];
  const content = { "api::page.page": (_, { signal }) => (seen.push(signal.aborted), new Promise(() => {})) };
  await assert.rejects(loader(slow, { timeoutMs: 250, content })("/en/a"), { name: "TimeoutError" });
  assert.deepEqual(seen, [true]);
});

test("load throws without a CMS, without an endpoint, and where the service fails", async (t) => {
  const { map } = await client(t, { "/unknown": document("/unknown") });
  const load = loader(map, { content: { "api::page.page": strapi({ url: await closedPort() }) } });
  await assert.rejects(load("/en/a"), TypeError);
  await assert.rejects(load("/unknown"), /does not know the endpoint/);
  const { url } = await serve(t, (_, response) => send(response, 503, failure(503, "ServiceUnavailableError")));
  await assert.rejects(loader(createFrontendMap({ url, site: "main" }), { content: {} })("/en/a"), FrontendMapError);
});

test("signal ends the call with its reason while Strapi hangs", async (t) => {
  const controller = new AbortController();
  const reason = new RangeError("enough");
  const [{ map }, { options }] = [await client(t), await cms(t, () => controller.abort(reason))];
  const load = loader(map, { content: { "api::page.page": strapi(options) } });
  await assert.rejects(load("/en/a", { signal: controller.signal }), reason);
});

test("signal ends the call with its reason within a response", async (t) => {
  const controller = new AbortController();
  const reason = new RangeError("enough");
  const respond = (_, response) => response.writeHead(200).write("{", () => controller.abort(reason));
  const [{ map }, { options }] = [await client(t), await cms(t, respond)];
  const load = loader(map, { content: { "api::page.page": strapi(options) } });
  await assert.rejects(load("/en/a", { signal: controller.signal }), reason);
});

test("errors of a fetcher are not hidden", async (t) => {
  const { map } = await client(t);
  const content = { "api::page.page": () => Promise.reject(new RangeError("ours")) };
  await assert.rejects(loader(map, { content })("/en/a"), RangeError);
});
