/** The client in the runtimes that frontends have beside Node.js, each the real one. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { EdgeRuntime } from "edge-runtime";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { document, failure, send, sendUrls, serve, success } from "../support/server.js";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const row = (path) => ({ path, url: `https://x${path}`, locale: "en", lastModified: null, listed: true });
const ndjson = (rows) => rows.map((line) => `${JSON.stringify(line)}\n`).join("");
const SITEMAP = '<?xml version="1.0"?><urlset></urlset>';

/** How many visitors come at once. */
const VISITORS = 20;

/** A service that the checks agree with. */
function service(t, latencyMs = 0) {
  return serve(t, async (request, response) => {
    const { pathname, searchParams } = request.url;
    await new Promise((resolve) => setTimeout(resolve, latencyMs));
    switch (pathname) {
      case "/api/resolve": {
        const path = searchParams.get("pathname");
        if (path !== "/none") return send(response, 200, success(document(request.headers.authorization ?? path)));
        return send(response, 404, failure(404, "NotFoundError", { pathname: path, normalizedPath: path }));
      }
      case "/redirects/api/resolve":
        return send(response, 307, "", { location: "/stolen" });
      case "/hangs/api/resolve":
        return undefined;
      case "/api/frontend-urls":
        return sendUrls(request, response);
      case "/api/pages":
        return send(response, 200, ndjson([row("/en/a"), row("/en/b"), { count: 2 }]));
      case "/half/api/pages":
        return send(response, 200, ndjson([row("/en/a")]));
      case "/api/changes":
        return send(response, 200, success({ cursor: "c1", more: false, reset: false, changes: [] }));
      case "/sitemaps/main/a.xml": {
        const headers = { "content-type": "application/xml", etag: '"1"', vary: "accept-encoding" };
        if (request.headers["if-none-match"] === '"1"') return response.writeHead(304, headers).end();
        const packed = /gzip/.test(request.headers["accept-encoding"]);
        response.writeHead(200, packed ? { ...headers, "content-encoding": "gzip" } : headers);
        return response.end(packed ? gzipSync(SITEMAP) : SITEMAP);
      }
      default:
        return send(response, 500, `not in the script: ${pathname}`);
    }
  });
}

async function bundled(name, format) {
  const { outputFiles } = await build({ entryPoints: [file(name)], bundle: true, format, platform: "browser", write: false });
  return outputFiles[0].text;
}

/** Each check holds, and the token has gone nowhere else. */
async function holds(t, run) {
  const { url, received } = await service(t);
  assert.deepEqual(await run(url), []);
  assert.deepEqual(received.filter((request) => request.url.pathname === "/stolen"), []);
}

/** A runtime with a command line. */
async function processed(command, ...words) {
  const { stdout } = await promisify(execFile)(command, words, { timeout: 120_000 });
  return JSON.parse(stdout);
}

test("Node.js", (t) => holds(t, (url) => processed(process.execPath, file("process.js"), url)));

test("Deno", (t) =>
  holds(t, (url) => processed(file("node_modules/.bin/deno"), "run", "--allow-net=127.0.0.1", "--allow-read", file("process.js"), url)));

test("Bun", (t) => holds(t, (url) => processed(file("node_modules/.bin/bun"), "run", file("process.js"), url)));

const workers = async (t, flags, compatibilityDate) => {
  const worker = new Miniflare({ modules: true, script: await bundled("worker.js", "esm"), compatibilityDate, compatibilityFlags: flags });
  t.after(() => worker.dispose());
  await worker.ready;
  return worker;
};

for (const [what, flags, date] of [
  ["", [], "2026-04-01"],
  [" with the modules of Node.js", ["nodejs_compat"], "2026-04-01"],
  [" of the oldest date", [], "2024-11-11"],
]) {
  test(`Cloudflare Workers${what}`, async (t) => {
    const worker = await workers(t, flags, date);
    await holds(t, async (url) => (await worker.dispatchFetch(`http://x/?service=${url}`)).json());
  });

  test(`Cloudflare Workers${what}: visitors at the same time, of one page and of several`, async (t) => {
    const worker = await workers(t, flags, date);
    // Longer than the others need to arrive.
    const { url } = await service(t, 200);
    const paths = Array.from({ length: VISITORS }, (_, at) => (at % 2 ? "/en" : `/en-${at}`));
    const visits = paths.map(async (path) => {
      const response = await worker.dispatchFetch(`http://x${path}?service=${url}`);
      return response.ok ? response.json() : response.text();
    });
    assert.deepEqual(await Promise.all(visits), paths.map((path) => `a1 /en${path}`));
  });
}

/** What Next.js's edge runtime has as `process`: each function of Node.js's throws. */
const PROCESS = `globalThis.process = { env: {}, getBuiltinModule() { throw new Error("A Node.js API is used (process.getBuiltinModule) which is not supported in the Edge Runtime."); } };`;

for (const [what, before] of [["Vercel's edge runtime", ""], ["Next.js's edge runtime", PROCESS]]) {
  test(what, async (t) => {
    const runtime = new EdgeRuntime({ initialCode: before + (await bundled("edge.js", "iife")) });
    await holds(t, async (url) => (await runtime.dispatchFetch(`http://x/?service=${url}`)).json());
  });
}
