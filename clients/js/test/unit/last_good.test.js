/** Results while the service fails: which are repeated, and for whom. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createFrontendMap, FrontendMapError } from "frontend-map-client";
import { Hangs } from "../../dist/http/hangs.js";
import { LastGoodResults } from "../../dist/http/last_good.js";
import { deferred, document, failure, send, sendUrls, serve, success } from "../support/server.js";

const UNAVAILABLE = failure(503, "ServiceUnavailableError");
const page = (at) => ({ uid: "api::page.page", documentId: `p${at}` });

/** A service that responds well until it is set to fail in a given way. */
async function failing(t, options = {}) {
  const state = { fail: null, title: 1 };
  const server = await serve(t, (request, response) => {
    if (state.fail) return state.fail(request, response);
    if (request.method === "POST") return sendUrls(request, response);
    const pathname = request.url.searchParams.get("pathname");
    if (request.url.pathname !== "/api/resolve") return send(response, 200, success({ url: "https://x/d", path: "/d" }));
    send(response, 200, success(document(pathname, state.result)));
  });
  const map = createFrontendMap({ url: server.url, site: "main", timeoutMs: 2_000, lastGood: 4, token: "t", ...options });
  return { ...server, state, map };
}

/** Lets time pass without waiting; returns what does. */
function clock(t) {
  const now = performance.now.bind(performance);
  let ahead = 0;
  t.mock.method(performance, "now", () => now() + ahead);
  return (ms) => (ahead += ms);
}

/** The first result that is not a repeated one. */
async function notKept(read) {
  for (;;) {
    const result = await read();
    if (!result.lastGood) return result;
    await new Promise(setImmediate);
  }
}

for (const [how, fail] of Object.entries({
  hangs: () => {},
  "is unavailable": (_, response) => send(response, 503, UNAVAILABLE, { "retry-after": "60" }),
  "closes the connection": (_, response) => response.destroy(),
  "sends HTML": (_, response) => send(response, 200, "<html>"),
  "is overloaded": (_, response) => send(response, 429, failure(429, "X")),
  "is behind an ingress without it": (_, response) => send(response, 404, "default backend - 404"),
})) {
  test(`service ${how}: the last good results are repeated and marked`, async (t) => {
    const { map, state } = await failing(t);
    const pass = clock(t);
    const [was, url] = [await map.resolve("/en/a"), await map.url(page(1))];
    state.fail = fail;
    const { lastGood, ...result } = await map.resolve("/en/a");
    assert.deepEqual(result, was);
    assert.ok(Number.isInteger(lastGood.ageSeconds));
    assert.ok(lastGood.error.message);
    // A framework serializes it for the browser.
    assert.deepEqual(Object.values(lastGood), [lastGood.ageSeconds]);
    await Promise.all([
      map.url(page(1)).then((repeated) => assert.deepEqual([repeated.url, !!repeated.lastGood], [url.url, true])),
      assert.rejects(map.resolve("/en/new")),
      assert.rejects(map.url(page(2))),
      assert.rejects(map.urls([page(1), page(2)])),
    ]);
    state.fail = null;
    pass(1_000);
    assert.equal((await map.resolve("/en/a")).lastGood, undefined);
  });
}

for (const [status, name] of [[400, "ValidationError"], [401, "UnauthorizedError"], [403, "ForbiddenError"], [404, "NotFoundError"], [501, "NotImplementedError"]]) {
  test(`${name}: the last good results are repeated, the log says why once a minute, and what was never seen is an error`, async (t) => {
    const { map, state } = await failing(t);
    const pass = clock(t);
    const log = t.mock.method(console, "error", () => {});
    await map.resolve("/en/a");
    await map.url(page(1));
    state.fail = (_, response) => send(response, status, failure(status, name));
    const found = await map.resolve("/en/a");
    assert.deepEqual([found.documentId, found.lastGood.error.status], ["a1", status]);
    assert.equal((await map.url(page(1))).lastGood.error.name, name);
    await assert.rejects(map.resolve("/en/new"), { status, name });
    await assert.rejects(map.url(page(2)), { status, name });
    assert.equal(log.mock.callCount(), 1);
    assert.match(log.mock.calls[0].arguments[0], new RegExp(`/api/resolve: ${status} ${name}`));
    pass(60_000);
    await map.resolve("/en/a");
    assert.equal(log.mock.callCount(), 2);
  });
}

test("outage is not logged: it passes by itself", async (t) => {
  const { map, state } = await failing(t);
  const log = t.mock.method(console, "error", () => {});
  await map.resolve("/en/a");
  state.fail = (_, response) => response.destroy();
  assert.ok((await map.resolve("/en/a")).lastGood);
  assert.equal(log.mock.callCount(), 0);
});

test("document without its members is no result, and not kept", async (t) => {
  const { map, state } = await failing(t);
  await map.resolve("/en/a");
  for (const member of ["matched", "alternates", "breadcrumbs"]) {
    state.result = { [member]: undefined };
    assert.equal((await map.resolve("/en/a")).lastGood.error.name, "InvalidResponseError");
    await assert.rejects(map.resolve("/en/new"), { name: "InvalidResponseError" });
  }
});

for (const [how, fail] of Object.entries({
  "closes the connection": (_, response) => response.destroy(),
  hangs: () => {},
  "refuses the request": (_, response) => send(response, 403, failure(403, "ForbiddenError")),
})) {
  test(`service ${how}: a list has the links that are known, and none for a document that is new`, async (t) => {
    const { map, state } = await failing(t);
    const log = t.mock.method(console, "error", () => {});
    const { uid } = page(1);
    const links = (...refs) => map.links(refs, { uid, href: "path" }).then((list) => list.map(({ href }) => href));
    assert.deepEqual(await links(page(1), page(2)), ["/en/p1", "/en/p2"]);
    state.fail = fail;
    assert.deepEqual(await links(page(1), page(3), page(2)), ["/en/p1", null, "/en/p2"]);
    assert.deepEqual(await links(page(3)), [null]);
    await assert.rejects(map.urls([page(1), page(3)]), { name: /Error$/ });
    assert.equal(log.mock.callCount(), how === "refuses the request" ? 1 : 0);
    state.fail = null;
    const found = await notKept(() => map.url(page(3)).catch(() => ({ lastGood: true })));
    assert.equal(found.path, "/en/p3");
  });
}

test("client without lastGood has no list without its links", async (t) => {
  const { map, state } = await failing(t, { lastGood: 0 });
  await map.url(page(1));
  state.fail = (_, response) => response.destroy();
  await assert.rejects(map.links([page(1)], { uid: page(1).uid }), { name: "ConnectionError" });
});

test("caller that gives up gets its reason, and no list without links", async (t) => {
  const { map, state } = await failing(t);
  await map.url(page(1));
  state.fail = () => {};
  const reason = new Error("enough");
  const controller = new AbortController();
  const list = map.links([page(2)], { uid: page(1).uid, signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(list, (error) => error === reason);
});

test("drafts are never repeated", async (t) => {
  const { map, state } = await failing(t);
  await map.resolve("/en/a", { draft: true });
  await map.url(page(1), { draft: true });
  state.fail = (_, response) => response.destroy();
  await assert.rejects(map.resolve("/en/a", { draft: true }));
  await assert.rejects(map.resolve("/en/a"));
  await assert.rejects(map.url(page(1), { draft: true }));
  await assert.rejects(map.url(page(1)));
});

test("none is never repeated, and ends what was known of the path", async (t) => {
  const { map, state } = await failing(t);
  await map.resolve("/en/a");
  state.result = { kind: "none", documentId: null };
  assert.equal((await map.resolve("/en/a")).kind, "none");
  state.fail = (_, response) => response.destroy();
  await assert.rejects(map.resolve("/en/a"), { name: "ConnectionError" });
});

test("path that no rule matches any more ends what was known of it", async (t) => {
  const { map, state } = await failing(t);
  await map.resolve("/en/a");
  state.fail = (_, response) => send(response, 404, failure(404, "NotFoundError", { pathname: "/en/a", normalizedPath: "/en/a" }));
  assert.equal((await map.resolve("/en/a")).kind, "none");
  state.fail = (_, response) => response.destroy();
  await assert.rejects(map.resolve("/en/a"));
});

test("as many results are kept as the option says, the newest ones", async (t) => {
  const { map, state } = await failing(t);
  for (const path of ["/1", "/2", "/3", "/4", "/1", "/5"]) await map.resolve(path);
  state.fail = (_, response) => response.destroy();
  for (const path of ["/3", "/4", "/1", "/5"]) assert.ok((await map.resolve(path)).lastGood);
  await assert.rejects(map.resolve("/2"));
});

test("nothing is kept without the option", async (t) => {
  const { map, state } = await failing(t, { lastGood: undefined });
  await map.resolve("/1");
  state.fail = (_, response) => response.destroy();
  await assert.rejects(map.resolve("/1"));
});

test("caller that changes a result does not change the kept one", async (t) => {
  const { map, state } = await failing(t);
  (await map.resolve("/1")).breadcrumbs.length = 0;
  state.fail = (_, response) => response.destroy();
  assert.equal((await map.resolve("/1")).breadcrumbs.length, 1);
});

test("last good result comes without waiting for Retry-After", async (t) => {
  const { map, state, received } = await failing(t, { timeoutMs: 60_000 });
  await map.resolve("/1");
  state.fail = (_, response) => send(response, 503, UNAVAILABLE, { "retry-after": "30" });
  assert.ok((await map.resolve("/1")).lastGood);
  assert.equal(received.length, 2);
});

test("while the service hangs, one request waits for it and the others have the last good result", async (t) => {
  const { map, state, received } = await failing(t, { timeoutMs: 300 });
  const pass = clock(t);
  for (const path of ["/1", "/2", "/3"]) await map.resolve(path);
  const held = deferred();
  state.fail = async (_, response) => {
    await held.promise;
    send(response, 200, success(document("/1")));
  };
  assert.equal((await map.resolve("/1")).lastGood.error.name, "TimeoutError");
  const asked = received.length;
  pass(1_000);
  const probe = map.resolve("/1");
  const others = await Promise.all([map.resolve("/2"), map.resolve("/3"), map.resolve("/2")]);
  assert.ok(others.every(({ lastGood }) => lastGood.error.name === "TimeoutError"));
  held.resolve();
  state.fail = null;
  assert.equal((await probe).lastGood, undefined);
  assert.equal(received.length, asked + 1);
  assert.equal((await map.resolve("/2")).lastGood, undefined);
});

test("missing page costs one time-out, also with links, and the next one comes a second later", async (t) => {
  const { map, state, received } = await failing(t, { timeoutMs: 50 });
  const pass = clock(t);
  state.fail = () => {};
  await assert.rejects(map.resolve("/none"), { name: "TimeoutError" });
  await assert.rejects(map.resolve("/none"), { name: "TimeoutError" });
  await assert.rejects(map.url(page(1)), { name: "TimeoutError" });
  assert.equal(received.length, 1);
  pass(1_000);
  await assert.rejects(map.resolve("/none"), { name: "TimeoutError" });
  assert.equal(received.length, 2);
});

test("service that is slow: a page that has been there waits once, and the late result is that of the next one", async (t) => {
  const { map, state, received } = await failing(t, { timeoutMs: 60_000 });
  for (let visit = 0; visit < 2; visit += 1) await Promise.all([map.resolve("/1"), map.url(page(1))]);
  const [arrived, held] = [deferred(), deferred()];
  state.fail = async ({ method }, response) => {
    arrived.resolve();
    await held.promise;
    assert.equal(method, "GET");
    send(response, 200, success(document("/1", { documentId: "new" })));
  };
  const pass = clock(t);
  const asked = received.length;
  // The proxy, the page and its links.
  for (const read of [() => map.resolve("/1"), () => map.resolve("/1"), () => map.url(page(1))]) {
    assert.equal((await read()).lastGood.error.name, "TimeoutError");
    pass(1_000);
  }
  assert.equal(received.length, asked + 1);
  await arrived.promise;
  held.resolve();
  state.fail = null;
  assert.equal((await notKept(() => map.resolve("/1"))).kind, "document");
  assert.equal(received.length, asked + 2);
});

test("late answer that there is no page ends what was known of the path", async (t) => {
  const { map, state } = await failing(t, { timeoutMs: 60_000 });
  await map.resolve("/1");
  const held = deferred();
  state.fail = async (_, response) => {
    await held.promise;
    send(response, 200, success(document("/1", { kind: "none", documentId: null })));
  };
  assert.ok((await map.resolve("/1")).lastGood);
  held.resolve();
  const found = await notKept(() => map.resolve("/1"));
  assert.equal(found.kind, "none");
});

/** Responds with a redirect from each path of `to` to its target, and with a page at each other one. */
const redirects = (to) => ({ url }, response) => {
  const pathname = url.searchParams.get("pathname");
  const host = url.searchParams.get("host");
  const path = to[pathname];
  const redirect = path && { to: host && `https://${host}${path}`, path, status: 308, documentId: "a1", locale: "en", since: null };
  send(response, 200, success(document(pathname, path && { kind: "redirect", documentId: null, redirect })));
};

for (const [how, at, fail] of [
  ["away", (path) => path, (_, response) => response.destroy()],
  ["slow", (path) => path, () => {}],
  ["away, on a host of several", (path) => `https://www.example.com${path}`, (_, response) => response.destroy()],
]) {
  test(`page was renamed, and back: while the service is ${how}, no visitor is sent in a circle`, async (t) => {
    const { map, state } = await failing(t, { timeoutMs: 200 });
    state.fail = redirects({ "/a": "/b" });
    assert.equal((await map.resolve(at("/a"))).redirect.path, "/b");
    state.fail = redirects({ "/b": "/a" });
    assert.equal((await map.resolve(at("/b"))).redirect.path, "/a");
    state.fail = fail;
    const kept = await map.resolve(at("/b"));
    assert.deepEqual([kept.redirect.path, !!kept.lastGood], ["/a", true]);
    await assert.rejects(map.resolve(at("/a")));
  });
}

test("pages were renamed in a circle, one after another: no kept redirects lead in a circle", async (t) => {
  const { map, state } = await failing(t);
  for (const [from, to] of [["/a", "/b"], ["/b", "/c"], ["/c", "/a"]]) {
    state.fail = redirects({ [from]: to });
    await map.resolve(from);
  }
  state.fail = (_, response) => response.destroy();
  assert.equal((await map.resolve("/b")).redirect.path, "/c");
  assert.equal((await map.resolve("/c")).redirect.path, "/a");
  await assert.rejects(map.resolve("/a"));
});

test("page stays that a redirect leads to, and so do other redirects to it", async (t) => {
  const { map, state } = await failing(t);
  state.fail = redirects({ "/a": "/b", "/c": "/b" });
  for (const path of ["/b", "/a", "/c"]) await map.resolve(path);
  state.fail = (_, response) => response.destroy();
  assert.deepEqual(await Promise.all(["/a", "/b", "/c"].map(async (path) => (await map.resolve(path)).kind)), ["redirect", "document", "redirect"]);
});

test("redirect that arrives late counts as well: a kept one from its target is from before", async (t) => {
  const { map, state } = await failing(t, { timeoutMs: 60_000 });
  state.fail = redirects({ "/a": "/b", "/b": "/c" });
  await map.resolve("/a");
  await map.resolve("/b");
  const held = deferred();
  state.fail = async (request, response) => {
    await held.promise;
    redirects({ "/b": "/a" })(request, response);
  };
  assert.equal((await map.resolve("/b")).redirect.path, "/c");
  held.resolve();
  assert.equal((await notKept(() => map.resolve("/b"))).redirect.path, "/a");
  state.fail = (_, response) => response.destroy();
  await assert.rejects(map.resolve("/a"));
});

test("time-out of one path is none of the others: a build goes on", async (t) => {
  const { map, state, received } = await failing(t, { timeoutMs: 50 });
  state.fail = ({ url }, response) => {
    const path = url.searchParams.get("pathname");
    if (path !== "/lost") send(response, 200, success(document(path)));
  };
  await assert.rejects(map.resolve("/lost"), { name: "TimeoutError" });
  assert.equal((await map.resolve("/other")).kind, "document");
  state.fail = null;
  // It responds again.
  assert.equal((await map.resolve("/lost")).kind, "document");
  assert.ok((await map.url(page(1))).url);
  assert.equal(received.length, 4);
});

test("request that finds out whether the service responds again may be forgotten by the platform", async (t) => {
  const hangs = new Hangs();
  const pass = clock(t);
  hangs.isLate(new FrontendMapError("late", { name: "TimeoutError" }));
  assert.ok(hangs.known);
  pass(5_000);
  assert.equal(hangs.known, null);
  void hangs.watch("a", () => new Promise(() => {}));
  assert.ok(hangs.known);
  pass(5_000);
  assert.equal(hangs.known, null);
});

test("clients of Next.js share the last good results, those of another address do not", async (t) => {
  const init = { next: { tags: ["a"] } };
  const { map, state, url } = await failing(t, { init });
  await map.resolve("/1");
  state.fail = (_, response) => response.destroy();
  const other = (more) => createFrontendMap({ url, site: "main", lastGood: 4, init, ...more });
  assert.ok((await other().resolve("/1")).lastGood);
  await assert.rejects(other({ site: "other" }).resolve("/1"), { name: "ConnectionError" });
  await assert.rejects(other({ init: { ...init, headers: { host: "b" } } }).resolve("/1"), { name: "ConnectionError" });
  await assert.rejects(other({ init: {} }).resolve("/1"), { name: "ConnectionError" });
});

for (const [what, ask] of [
  ["drafts", (map) => map.resolve("/1", { draft: true })],
  ["URLs", (map) => map.url(page(1))],
]) {
  test(`pages are read anew while ${what} hang, which wait for the CMS`, async (t) => {
    const { map, state, received } = await failing(t);
    const pass = clock(t);
    await map.resolve("/1");
    state.fail = ({ method, url }, response) => {
      if (method === "GET" && !url.searchParams.has("status")) send(response, 200, success(document("/1")));
    };
    await assert.rejects(ask(map), { name: "TimeoutError" });
    pass(1_000);
    const asked = received.length;
    const hanging = ask(map).catch((error) => error);
    while (received.length === asked) await new Promise((done) => setTimeout(done, 1));
    assert.equal((await map.resolve("/1")).lastGood, undefined);
    assert.equal((await hanging).name, "TimeoutError");
  });
}

test("kept results are bounded by their characters too", () => {
  const results = new LastGoodResults(100, 20);
  results.set("a", "x".repeat(9));
  results.set("b", "x".repeat(9));
  results.set("c", "x".repeat(9));
  assert.deepEqual(["a", "b", "c"].map((key) => results.get(key)?.text.length), [undefined, 9, 9]);
  results.set("d", "x".repeat(20));
  assert.deepEqual(["b", "c", "d"].map((key) => results.get(key)), [undefined, undefined, undefined]);
});

test("result of a day ago is not repeated", (t) => {
  let now = 1_000;
  t.mock.method(performance, "now", () => now);
  const results = new LastGoodResults(10);
  results.set("a", "x");
  now += 24 * 3_600_000;
  assert.equal(results.get("a").text, "x");
  now += 1;
  assert.equal(results.get("a"), undefined);
});
