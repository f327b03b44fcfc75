/** Sitemap files pass through as the service sends them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get } from "node:http";
import { test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { createFrontendMap } from "frontend-map-client";
import { failure, send, serve } from "../support/server.js";

const XML = `<?xml version="1.0"?><urlset>${"<url/>".repeat(500)}</urlset>`;
const GZIP = gzipSync(XML);
const HEADERS = { "content-type": "application/xml", etag: '"e1"', vary: "Accept-Encoding", "set-cookie": "a=b", server: "x" };

const ROBOTS = "Sitemap: https://www.example.com/sitemaps/index.xml\n";

function respond({ headers, url }, response) {
  if (url.pathname.endsWith("/robots.txt")) return send(response, 200, ROBOTS, { "content-type": "text/plain; charset=utf-8" });
  if (headers["if-none-match"] === '"e1"') return response.writeHead(304, { etag: '"e1"' }).end();
  if (!headers["accept-encoding"]?.includes("gzip")) return send(response, 200, XML, HEADERS);
  response.writeHead(200, { ...HEADERS, "content-encoding": "gzip", "content-length": GZIP.length }).end(GZIP);
}

const ask = (path, init) => new Request(`https://www.example.com${path}`, init);

for (const [path, options, expected] of [
  ["/sitemap.xml", {}, "/sitemaps/main/sitemap.xml"],
  ["/robots.txt", {}, "/sitemaps/main/robots.txt"],
  ["/sitemaps/index.xml?x=1", {}, "/sitemaps/main/index.xml"],
  ["/sitemaps/plugin.cms.article-1.xml", {}, "/sitemaps/main/plugin.cms.article-1.xml"],
  ["/sitemap.xml", { host: "localhost:3000" }, "/sitemaps/main/localhost%3A3000/sitemap.xml"],
]) {
  test(`${path} is ${expected} of the service`, async (t) => {
    const { url, received } = await serve(t, respond);
    const response = await createFrontendMap({ url, site: "main" }).sitemap(ask(path), options);
    assert.equal(await response.text(), path === "/robots.txt" ? ROBOTS : XML);
    assert.equal(received[0].url.pathname, expected);
  });
}

for (const [path, init] of [
  ["/"],
  ["/en/sitemap.xml"],
  ["/sitemaps/"],
  ["/sitemaps/a/b.xml"],
  ["/sitemaps/..%2Fsecret"],
  ["/sitemaps/%2e%2e"],
  ["/index.xml"],
  ["/sitemap.xml", { method: "POST" }],
]) {
  test(`${init?.method ?? "GET"} ${path} is not for the service`, async () => {
    const map = createFrontendMap({ url: "http://127.0.0.1:1", site: "main" });
    assert.equal(await map.sitemap(ask(path, init)), null);
  });
}

test("gzip, ETag and length pass through byte for byte, and cookies do not", async (t) => {
  const { url } = await serve(t, respond);
  const map = createFrontendMap({ url, site: "main", token: "t" });
  const response = await map.sitemap(ask("/sitemap.xml", { headers: { "accept-encoding": "gzip, br", cookie: "c=d" } }));
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), GZIP);
  assert.deepEqual(Object.fromEntries(response.headers), {
    "content-encoding": "gzip",
    "content-length": String(GZIP.length),
    "content-type": "application/xml",
    etag: '"e1"',
    vary: "Accept-Encoding",
  });
});

test("304 passes through", async (t) => {
  const { url, received } = await serve(t, respond);
  const map = createFrontendMap({ url, site: "main", token: "t" });
  const response = await map.sitemap(ask("/sitemap.xml", { headers: { "if-none-match": '"e1"', cookie: "c=d" } }));
  assert.deepEqual([response.status, response.headers.get("etag"), response.body], [304, '"e1"', null]);
  assert.deepEqual([received[0].headers.cookie, received[0].headers.authorization], [undefined, undefined]);
});

test("HEAD passes through without a body", async (t) => {
  const { url, received } = await serve(t, respond);
  const response = await createFrontendMap({ url, site: "main" }).sitemap(ask("/sitemap.xml", { method: "HEAD" }));
  assert.deepEqual([response.status, response.body, received[0].method], [200, null, "HEAD"]);
});

test("fetch of the frontend is used, which has no gzip to pass on", async (t) => {
  const { url, received } = await serve(t, respond);
  const map = createFrontendMap({ url, site: "main", fetch: (to, init) => fetch(to, init) });
  const response = await map.sitemap(ask("/sitemap.xml", { headers: { "accept-encoding": "gzip" } }));
  assert.equal(await response.text(), XML);
  assert.deepEqual([response.headers.get("content-encoding"), received[0].headers["accept-encoding"]], [null, "identity"]);
});

test("redirect is not followed by the fetch of the frontend either", async (t) => {
  const other = await serve(t, respond);
  const { url } = await serve(t, (_, response) => send(response, 302, "", { location: `${other.url}/x` }));
  const map = createFrontendMap({ url, site: "main", fetch: (to, init) => fetch(to, init) });
  await assert.rejects(map.sitemap(ask("/sitemap.xml")), { name: "ConnectionError" });
  assert.equal(other.received.length, 0);
});

test("crawler behind a frontend gets what the service sends", async (t) => {
  const { url } = await serve(t, respond);
  const map = createFrontendMap({ url, site: "main" });
  const frontend = createServer(async (message, response) => {
    const passed = await map.sitemap(ask(message.url, { headers: message.headers }));
    response.writeHead(passed.status, Object.fromEntries(passed.headers));
    for await (const chunk of passed.body) response.write(chunk);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(frontend, "listening");
  t.after(() => frontend.close());
  const [message] = await once(get(`http://127.0.0.1:${frontend.address().port}/sitemap.xml`, { headers: { "accept-encoding": "gzip" } }), "response");
  const chunks = await message.toArray();
  assert.equal(gunzipSync(Buffer.concat(chunks)).toString(), XML);
});

test("404 of the service for a file that it does not have is passed on", async (t) => {
  const { url } = await serve(t, (_, response) => send(response, 404, failure(404, "NotFoundError", { reason: "no_file" })));
  const response = await createFrontendMap({ url, site: "main" }).sitemap(ask("/sitemaps/api.none.none-1.xml"));
  assert.deepEqual([response.status, response.headers.get("cache-control")], [404, "no-store"]);
});

test("file that drips is an error when the time of the call is over", async (t) => {
  const { url } = await serve(t, (_, response) => {
    response.writeHead(200, HEADERS);
    response.write(XML);
    const drip = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(drip));
  });
  await assert.rejects(createFrontendMap({ url, site: "main", timeoutMs: 300 }).sitemap(ask("/sitemap.xml")), { name: "TimeoutError" });
});

test("gzip that fetch has decoded is not labelled as gzip", async (t) => {
  const { url } = await serve(t, (_, response) => {
    response.writeHead(200, { ...HEADERS, "content-encoding": "gzip", "content-length": GZIP.length }).end(GZIP);
  });
  const map = createFrontendMap({ url, site: "main", fetch: (to, init) => fetch(to, init) });
  const response = await map.sitemap(ask("/sitemap.xml"));
  assert.deepEqual([await response.text(), response.headers.get("content-encoding"), response.headers.get("content-length")], [XML, null, null]);
});

test("file of the size that sitemaps may have passes", async (t) => {
  const body = Buffer.alloc(50 * 2 ** 20, " ");
  body.write("<?xml ");
  const { url } = await serve(t, (_, response) => response.writeHead(200, HEADERS).end(body));
  const response = await createFrontendMap({ url, site: "main", timeoutMs: 60_000 }).sitemap(ask("/sitemap.xml"));
  assert.equal((await response.arrayBuffer()).byteLength, body.length);
});
