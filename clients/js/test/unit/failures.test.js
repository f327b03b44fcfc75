/** Each function of the client against a service that fails in each way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap, FrontendMapError } from "frontend-map-client";
import { closedPort, document, failure, send, serve, success } from "../support/server.js";

const UNAVAILABLE = failure(503, "ServiceUnavailableError");

/** How a service fails, and the error that it causes. */
const FAILURES = {
  "hangs before the head": [() => {}, { name: "TimeoutError", status: null }],
  "hangs after the head": [
    (_, response) => void response.writeHead(200, { "content-type": "application/json" }).flushHeaders(),
    { name: "TimeoutError", status: null },
  ],
  drips: [
    (_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(drip));
    },
    { name: "TimeoutError", status: null },
  ],
  "sends HTML": [
    (_, response) => send(response, 200, "<!doctype html><title>Login</title>", { "content-type": "text/html" }),
    { name: "InvalidResponseError", status: null },
  ],
  "sends half a body": [
    (_, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write('{"data":{"kind":"none"', () => response.destroy());
    },
    { name: "ConnectionError", status: null },
  ],
  "closes the connection": [(_, response) => response.destroy(), { name: "ConnectionError", status: null }],
  "sends another shape": [(_, response) => send(response, 200, { ok: true }), { name: "InvalidResponseError" }],
  "sends data of another shape": [(_, response) => send(response, 200, success({})), { name: "InvalidResponseError" }],
  "sends JSON that is null": [(_, response) => send(response, 200, "null"), { name: "InvalidResponseError" }],
  "is unavailable": [
    (_, response) => send(response, 503, UNAVAILABLE, { "retry-after": "100", "x-request-id": "r-1" }),
    { name: "ServiceUnavailableError", status: 503, retryAfter: 100, requestId: "r-1" },
  ],
  "is unavailable without Retry-After": [
    (_, response) => send(response, 503, UNAVAILABLE),
    { name: "ServiceUnavailableError", status: 503, retryAfter: null },
  ],
  "is behind a proxy that fails": [
    (_, response) => send(response, 502, "<h1>Bad Gateway</h1>"),
    { name: "HttpError", status: 502, reason: null },
  ],
  "is behind a proxy that has no such route": [
    (_, response) => send(response, 404, "default backend - 404"),
    { name: "HttpError", status: 404 },
  ],
  "is of an older version": [
    (_, response) => send(response, 404, failure(404, "NotFoundError")),
    { name: "NotFoundError", status: 404 },
  ],
  "does not know the site": [
    (_, response) => send(response, 400, failure(400, "ValidationError")),
    { name: "ValidationError", status: 400 },
  ],
  "has another token": [
    (_, response) => send(response, 403, failure(403, "ForbiddenError")),
    { name: "ForbiddenError", status: 403 },
  ],
  redirects: [
    (_, response) => send(response, 302, "", { location: "/elsewhere" }),
    { name: "ConnectionError", status: null },
  ],
};

/** Short where the time-out is the point, and no limit where it is not. */
const timeoutFor = (how) => (/hangs|drips/.test(how) ? 150 : 60_000);

const page = { documentId: "a1", uid: "api::page.page" };

/** Each function that sends a request. */
const CALLS = {
  resolve: (map) => map.resolve("/en/a"),
  "resolve of a draft": (map) => map.resolve("/en/a", { draft: true }),
  alternates: (map) => map.alternates("/en/a"),
  breadcrumbs: (map) => map.breadcrumbs("/en/a"),
  url: (map) => map.url(page),
  "url of a draft": (map) => map.url(page, { draft: true }),
  urls: (map) => map.urls([page, { ...page, documentId: "b2" }]),
  links: (map) => map.links({ page }, { relations: { page: page.uid } }),
  pages: (map, timeoutMs) => map.pages({ timeoutMs })[Symbol.asyncIterator]().next(),
  toStaticParams: (map, timeoutMs) => map.pages({ timeoutMs }).toStaticParams("/{*path}"),
  changes: (map) => map.changes({ since: "0" }),
};

for (const [name, call] of Object.entries(CALLS)) {
  for (const [how, [respond, expected]] of Object.entries(FAILURES)) {
    test(`${name}: the service ${how}`, async (t) => {
      const { url } = await serve(t, respond);
      const timeoutMs = timeoutFor(how);
      const map = createFrontendMap({ url, site: "main", timeoutMs, lastGood: 100 });
      await assert.rejects(call(map, timeoutMs), (error) => isFailure(error, expected));
    });
  }
  test(`${name}: nothing listens`, async () => {
    const map = createFrontendMap({ url: await closedPort(), site: "main" });
    await assert.rejects(call(map), (error) => isFailure(error, { name: "ConnectionError", status: null }));
  });
}

function isFailure(error, expected) {
  assert.ok(error instanceof FrontendMapError, String(error));
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, error[key]])), expected);
  return true;
}

/** Of files alone: what a server between, or another one at the address, sends with a status of 200. */
const FILES = {
  "sends HTML as XML": [(_, response) => send(response, 200, "<!doctype html>", { "content-type": "application/xml" }), { name: "InvalidResponseError" }],
  "sends null as XML": [(_, response) => send(response, 200, "null", { "content-type": "application/xml" }), { name: "InvalidResponseError" }],
  "sends nothing": [(_, response) => send(response, 200, "", { "content-type": "application/xml" }), { name: "InvalidResponseError" }],
  "sends 204": [(_, response) => send(response, 204, "", { "content-type": "application/xml" }), { name: "HttpError", status: 204 }],
  "sends no gzip as gzip": [
    (_, response) => send(response, 200, "<?xml ?>", { "content-type": "application/xml", "content-encoding": "gzip" }),
    { name: "InvalidResponseError" },
  ],
  "sends a file without an end": [(_, response) => stream(response, "x".repeat(2 ** 20)), { name: "InvalidResponseError" }],
  "sends robots.txt": [(_, response) => send(response, 200, "Sitemap: x", { "content-type": "text/plain" }), { name: "InvalidResponseError" }],
  "has no such route": [(_, response) => send(response, 404, failure(404, "NotFoundError", { reason: "no_route" })), { name: "NotFoundError", status: 404 }],
  "has another site at this path": [(_, response) => send(response, 404, failure(404, "NotFoundError", { reason: "no_site" })), { name: "NotFoundError", status: 404 }],
};

/** As fast as it is read, until the reader stops. */
function stream(response, part) {
  response.writeHead(200, { "content-type": "application/xml" });
  const write = () => {
    while (!response.destroyed && response.write(part));
  };
  response.on("drain", write);
  write();
}

for (const [how, [respond, expected]] of Object.entries({ ...FAILURES, ...FILES })) {
  for (const [by, options] of [["", {}], [", by fetch", { fetch: (to, init) => fetch(to, init) }]]) {
    // What `fetch` has decoded has no magic number of gzip; it fails on its own.
    if (by && how === "sends no gzip as gzip") continue;
    test(`sitemap${by}: the service ${how}`, async (t) => {
      const { url } = await serve(t, respond);
      const map = createFrontendMap({ url, site: "main", timeoutMs: timeoutFor(how), ...options });
      const call = map.sitemap(new Request("https://www.example.com/sitemap.xml"));
      await assert.rejects(call, (error) => isFailure(error, expected));
    });
  }
}

test("resolve: the service sends a body without an end", async (t) => {
  const { url } = await serve(t, (_, response) => stream(response, " ".repeat(2 ** 20)));
  const map = createFrontendMap({ url, site: "main", timeoutMs: 60_000 });
  await assert.rejects(map.resolve("/en/a"), { name: "InvalidResponseError" });
});

test("result after a failure is used", async (t) => {
  let failing = true;
  const { url } = await serve(t, (request, response) =>
    failing ? send(response, 503, UNAVAILABLE) : send(response, 200, success(document(request.url.searchParams.get("pathname")))),
  );
  const map = createFrontendMap({ url, site: "main" });
  await assert.rejects(map.resolve("/en/a"));
  failing = false;
  assert.equal((await map.resolve("/en/a")).kind, "document");
});
