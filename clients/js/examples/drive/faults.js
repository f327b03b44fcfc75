#!/usr/bin/env node
/**
 * What visitors of the example sites get while the service fails, and afterwards.
 *
 *   node faults.js --binary FILE [--only FAULT,…] [--edited] [--installed] [--built] next nuxt …
 *
 * During each fault, 20 pages that were visited before are visited twice, all stale where the site has
 * a webhook, and 10 paths without a page. Then these are published and visited again. Prints a table of
 * the wrong ones of each fault and site: `live`, pages that were not shown as before; `404`, paths that
 * were called missing although the service has not said so; `slow`, those that took longer than 3 s;
 * `kept`, pages that were not there 5 s after the fault. Ends with status 0 if there are none.
 *
 * `--edited` visits the pages once more after the edit: the list has links to documents that the site
 * has never asked for. `--installed` leaves out the installation, `--built` the build too.
 */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Example } from "./example.js";
import { mapAtOnce } from "./process.js";
import { CountingProxy } from "./service.js";
import { article, Site } from "./site.js";
import { sendReset } from "./webhook.js";

const SLOWEST_MS = 3_000;
const KEPT_MS = 5_000;

/** Shorter than the time-out of the examples. */
const SLOW_MS = 1_900;
const json = { "content-type": "application/json" };
const html = { "content-type": "text/html" };

const failure = (status, name, details = {}) => JSON.stringify({ data: null, error: { status, name, message: name, details } });
const sends = (status, headers, body) => ({ respond: (_, to) => void to.writeHead(status, headers).end(body) });
/** Another request than that of the client. */
const changed = (change) => ({ respond: (from, to, proxy) => proxy.pass(from, to, { path: change(from.url) }) });

/**
 * Name → what the site reaches in place of the service: `begin` and `end` change the service or the
 * proxy, `respond` is in place of the proxy's own; `answers`: its results are right.
 */
const FAULTS = {
  stopped: { begin: ({ service }) => service.pause(), end: ({ service }) => service.resume() },
  frozen: { begin: ({ service }) => service.freeze(), end: ({ service }) => service.thaw() },
  refused: { begin: ({ proxy }) => proxy.stop(), end: ({ proxy }) => proxy.listen(new URL(proxy.url).port) },
  reset: { respond: (from) => void from.socket.resetAndDestroy() },
  slow: { respond: (from, to, proxy) => void setTimeout(() => proxy.pass(from, to), SLOW_MS), answers: true },
  "slow head": { respond: (from) => drip(from.socket, "HTTP/1.1 200 OK\r\nx-header: ") },
  "endless body": { respond: (_, to) => pour(to.writeHead(200, json), '{"data":'.padEnd(2 ** 16)) },
  "half a body": { respond: (_, to) => void to.writeHead(200, { ...json, "content-length": 1000 }).write('{"data":{"kind":', () => to.destroy()) },
  "empty body": sends(200, json, ""),
  null: sends(200, json, "null"),
  "no JSON": sends(200, json, '{"data":\u0000]'),
  "HTML with 200": sends(200, html, "<!doctype html><title>Login</title>"),
  "content type": { respond: (from, to, proxy) => proxy.pass(from, to, { headers: html }), answers: true },
  "status 500": sends(500, html, "<h1>Internal Server Error</h1>"),
  "status 503": sends(503, { ...json, "retry-after": "30" }, failure(503, "ServiceUnavailableError")),
  "status 429": sends(429, { ...json, "retry-after": "30" }, failure(429, "TooManyRequestsError")),
  "wrong token": sends(403, json, failure(403, "ForbiddenError")),
  "wrong site": changed((url) => url.replace("site=main", "site=other")),
  "wrong route": changed((url) => `/elsewhere${url}`),
  redirect: sends(302, { location: "/login" }),
  // What a server of TLS responds to a request in plain HTTP.
  TLS: { respond: (from) => void from.socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 70])) },
};

function drip(socket, text) {
  socket.write(text);
  const timer = setInterval(() => socket.write("x"), 100);
  socket.once("close", () => clearInterval(timer));
}

/** As fast as it is read, until the reader stops. */
function pour(to, part) {
  const write = () => {
    while (!to.destroyed && to.write(part));
  };
  to.on("drain", write);
  write();
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: "string", default: process.env.FRONTEND_MAP_BINARY },
    only: { type: "string", default: Object.keys(FAULTS).join() },
    edited: { type: "boolean", default: false },
    installed: { type: "boolean", default: false },
    built: { type: "boolean", default: false },
  },
});

class FaultyProxy extends CountingProxy {
  fault = {};

  respond(from, to) {
    if (this.fault.respond) this.fault.respond(from, to, this);
    else this.pass(from, to);
  }

  async begin(fault, service) {
    this.fault = fault;
    await fault.begin?.({ service, proxy: this });
  }

  async end(service) {
    await this.fault.end?.({ service, proxy: this });
    this.fault = {};
    this.server.closeAllConnections();
  }
}

/** 16 articles beside the roots and lists of both locales; some with names that are not usual. */
const SLUGS = ["v1.2", "a b", "100%", "what?", "no#1", "it's", "cafés-in-münchen", "日本", ..."abcdefgh"];
const articles = () => SLUGS.map((slug, at) => article(`live-${at}`, slug, at % 3 === 2 ? "de" : "en"));

/** A site that was built by an earlier run may have kept pages of it. */
const RUN = Date.now().toString(36);

async function tryFault(name, site, live) {
  const { service, proxy, example } = site;
  const fault = FAULTS[name];
  // Path → what was wrong.
  const wrong = { live: new Map(), edited: new Map(), 404: new Map(), slow: new Map(), kept: new Map() };
  const missing = Array.from({ length: 10 }, (_, at) => article(`${name}-${at}`, `${RUN}-${name}-${at}`.replaceAll(" ", "-")));
  const paths = missing.map(({ slug }) => `/en/articles/${slug}`);
  const visit = async (path, isWrong) => {
    const visited = await site.visit(path);
    isWrong(visited);
    if (visited.ms > SLOWEST_MS) wrong.slow.set(path, `${visited.ms.toFixed(0)} ms`);
  };
  const visitLive = (kind) => mapAtOnce([...live], ([path, heading]) => visit(path, (visited) => {
    if (visited.status !== 200 || visited.heading !== heading) wrong[kind].set(path, visited.status);
  }));
  const visitMissing = () => mapAtOnce(paths, (path) => visit(path, ({ status }) => {
    if (status === 404 && !fault.answers) wrong[404].set(path, status);
  }));

  if (example.webhook) await sendReset(example.url + example.webhook);
  await proxy.begin(fault, service);
  try {
    await visitLive("live");
    await visitLive("live");
    await visitMissing();
    site.articles = [...articles(), ...missing];
    await site.publish();
    // Those that change the service itself find the edit when they are over.
    if (fault.respond) await site.known(paths);
    await visitMissing();
    if (options.edited) await visitLive("edited");
  } finally {
    await proxy.end(service);
  }
  await site.known(paths);
  await mapAtOnce([...paths, ...live.keys()], async (path) => {
    const deadline = performance.now() + KEPT_MS;
    let status;
    do {
      if (status !== undefined) await new Promise((end) => setTimeout(end, 100));
      ({ status } = await site.visit(path));
    } while (status !== 200 && performance.now() < deadline);
    if (status !== 200) wrong.kept.set(path, status);
  });
  return wrong;
}

/** The wrong ones of each fault, as text; empty if there are none. */
async function trySite(name, { binary, skip, faults }) {
  const site = new Site(new Example(name), articles(), new FaultyProxy());
  const cells = {};
  try {
    await site.start(binary, skip);
    const pages = (await site.service.data("/api/pages")).pages.map(({ path }) => path);
    assert.equal(pages.length, 20);
    const live = new Map();
    for (const path of pages) {
      const { status, heading } = await site.visit(path);
      assert.ok(status === 200 && heading, `${path}: ${status}`);
      live.set(path, heading);
    }
    for (const fault of faults) {
      const start = performance.now();
      const wrong = Object.entries(await tryFault(fault, site, live)).filter(([, found]) => found.size > 0);
      cells[fault] = wrong.map(([kind, found]) => `${found.size} ${kind}`).join(", ");
      console.log(`${name}: ${fault}: ${((performance.now() - start) / 1000).toFixed(1)} s: ${cells[fault] || "ok"}`);
      for (const [kind, found] of wrong) console.log(`  ${kind}: ${[...found].slice(0, 3).map((one) => one.join(": ")).join("; ")}`);
    }
  } finally {
    await site.stop();
  }
  return cells;
}

const faults = options.only.split(",");
if (!options.binary || positionals.length === 0 || !faults.every((name) => name in FAULTS)) {
  console.error("usage: node faults.js --binary FILE [--only FAULT,…] EXAMPLE…");
  process.exit(2);
}
const skip = [...(options.installed || options.built ? ["install"] : []), ...(options.built ? ["build"] : [])];
const table = {};
for (const name of positionals) table[name] = await trySite(name, { binary: resolve(options.binary), skip, faults });

const row = (cells) => `| ${cells.join(" | ")} |`;
console.log(`\n${row(["Fault", ...positionals])}\n${row(["---", ...positionals.map(() => "---")])}`);
for (const fault of faults) console.log(row([fault, ...positionals.map((name) => table[name][fault] || "–")]));
if (Object.values(table).some((cells) => Object.values(cells).some(Boolean))) process.exitCode = 1;
