/** The option `build`: nobody waits, and a page that is missing is missing until the next build. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap } from "frontend-map-client";
import { document, failure, send, sendUrls, serve, success } from "../support/server.js";

const UNAVAILABLE = (_, response) => send(response, 500, failure(500, "InternalServerError"));
const good = ({ url }, response) => send(response, 200, success(document(url.searchParams.get("pathname"))));
const page = { uid: "api::page.page", documentId: "p1" };

test("request of a build that fails is sent again", async (t) => {
  const failures = [
    (_, response) => response.destroy(),
    UNAVAILABLE,
    (_, response) => response.writeHead(200, { "content-length": 1_000 }).write('{"data":', () => response.destroy()),
    (_, response) => send(response, 404, "default backend - 404"),
  ];
  await Promise.all(failures.map(async (fail) => {
    const { url, received } = await serve(t, (request, response) => (received.length === 1 ? fail : good)(request, response));
    assert.equal((await createFrontendMap({ url, site: "main", build: true }).resolve("/a")).kind, "document");
    assert.equal(received.length, 2);
  }));
});

test("request of a build may take 10 s, and is sent again when it is lost", async (t) => {
  const { url, received } = await serve(t, (request, response) => received.length > 1 && good(request, response));
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const map = createFrontendMap({ url, site: "main", build: true, timeoutMs: 1_000 });
  let passed = 0;
  let result;
  map.resolve("/a").then((found) => (result = found));
  while (!result) {
    await new Promise(setImmediate);
    // The first request takes its time, and then the pause.
    if (received.length !== 1) continue;
    passed += 100;
    t.mock.timers.tick(100);
  }
  assert.equal(result.kind, "document");
  assert.ok(passed >= 12_000, `${passed} ms`);
});

test("request of a build is sent three times at most", async (t) => {
  const { url, received } = await serve(t, UNAVAILABLE);
  await assert.rejects(createFrontendMap({ url, site: "main", build: true }).resolve("/a"), { status: 500 });
  assert.equal(received.length, 3);
});

for (const [status, name] of [[400, "ValidationError"], [403, "ForbiddenError"]]) {
  test(`request of a build that is refused with ${status} is sent once`, async (t) => {
    const { url, received } = await serve(t, (_, response) => send(response, status, failure(status, name)));
    await assert.rejects(createFrontendMap({ url, site: "main", build: true }).resolve("/a"), { status });
    assert.equal(received.length, 1);
  });
}

test("build has nothing from before, and no list without its links", async (t) => {
  let respond = (request, response) => (request.method === "POST" ? sendUrls : good)(request, response);
  const { url } = await serve(t, (request, response) => respond(request, response));
  const map = createFrontendMap({ url, site: "main", build: true, lastGood: 10 });
  assert.equal((await map.resolve("/a")).kind, "document");
  assert.equal((await map.links([page], { uid: page.uid }))[0].href, "https://www.example.com/en/p1");
  respond = (_, response) => send(response, 403, failure(403, "ForbiddenError"));
  await assert.rejects(map.resolve("/a"), { status: 403 });
  await assert.rejects(map.links([page], { uid: page.uid }), { status: 403 });
});
