#!/usr/bin/env node
/**
 * Measures static builds of a large site: seconds, and requests to the service.
 *
 *   node static.js --binary FILE [--documents 20000] [--rounds 3] [BUILD …]
 *
 * The documents are in a file, and Next.js gets them from a scripted Strapi, so that nothing of a CMS
 * is measured. Four builds, each in a process of its own: the params of all pages alone
 * (`toStaticParams`), the static site of `../astro/static`, the same with the `hreflang` alternates of
 * each page, which are a request each, and `../next`, whose pages are resolved one by one. Ten
 * documents have names that some of the builds cannot write: checks that each build has all pages but
 * those that its log names, and how many requests it took. `npm ci` in `../astro` and `../next` first.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { freePort, run } from "./process.js";
import { CountingProxy, Service } from "./service.js";
import { article } from "./site.js";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: "string", default: process.env.FRONTEND_MAP_BINARY },
    documents: { type: "string", default: "20000" },
    rounds: { type: "string", default: "3" },
  },
});
if (!options.binary) {
  console.error("usage: node static.js --binary FILE");
  process.exit(2);
}
const documents = Number(options.documents);
const [astro, next] = ["astro", "next"].map((name) => fileURLToPath(new URL(`../${name}/`, import.meta.url)));
/** Home and list of both locales. */
const OTHER_PAGES = 4;
/** No build can write the first four, nor Astro the others. */
const BAD_SLUGS = ["x".repeat(300), "y".repeat(247), "ü".repeat(150), "日".repeat(90), "100%", "50%25", "what?", "no#1", "cafe\u0301", "#?%"];
const TOO_LONG = 4;
const PAGES = documents + OTHER_PAGES + BAD_SLUGS.length;

const PARAMS = `
  import { createFrontendMap } from "frontend-map-client";
  const map = createFrontendMap({ url: process.env.FRONTEND_MAP_URL, site: "main" });
  const params = await map.pages().toStaticParams("/{locale}/{*path?}");
  if (params.length !== ${PAGES - TOO_LONG}) throw new Error(params.length + " params");
`;
const ASTRO = { command: ["npm", "run", "build:static"], folder: astro, output: "dist/static", named: BAD_SLUGS.length };
/** `named`: how many pages the log names; `requests`: all of a build, where they are known. */
const BUILDS = {
  toStaticParams: {
    command: ["node", "--input-type=module", "--eval", PARAMS],
    folder: astro,
    named: TOO_LONG,
    requests: { "GET /api/pages": 1 },
  },
  Astro: { ...ASTRO, requests: { "GET /api/pages": 1 } },
  "Astro, with hreflang": {
    ...ASTRO,
    env: { HREFLANG: "1" },
    requests: { "GET /api/pages": 1, "GET /api/resolve": PAGES - BAD_SLUGS.length },
  },
  Next: { command: ["npm", "run", "build"], folder: next, output: ".next", named: TOO_LONG },
};

/** Half of the articles have a German version. */
function articles() {
  const usual = Array.from({ length: documents }, (_, at) => article(`a${Math.floor((2 * at) / 3)}`, `article-${at}`, at % 3 === 1 ? "de" : "en"));
  return [...usual, ...BAD_SLUGS.map((slug, at) => article(`bad${at}`, slug))];
}

/** Responds to requests for articles as Strapi does. */
async function startStrapi(all) {
  const versions = new Map(all.map((one) => [`${one.documentId} ${one.locale}`, one]));
  const server = createServer((from, to) => {
    const { pathname, searchParams } = new URL(from.url, "http://127.0.0.1");
    const locale = searchParams.get("locale");
    const id = pathname.split("/")[3];
    const data = id ? versions.get(`${id} ${locale}`) : all.slice(0, 200).filter((one) => one.locale === locale);
    to.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** Pages of the content; a framework has others, such as that of a 404. */
const files = async (folder) => (await readdir(folder, { recursive: true })).filter((name) => /^(server\/app\/)?(en|de)([/.].*)?\.?html$/.test(name)).length;

const folder = await mkdtemp(join(tmpdir(), "frontend-map-static-"));
const service = new Service(options.binary, await freePort());
const proxy = new CountingProxy();
const all = articles();
const strapi = await startStrapi(all);
try {
  await writeFile(join(folder, "content.json"), JSON.stringify({ "api::article.article": all, "api::page.page": [] }));
  await service.start({ site: "http://127.0.0.1:3000", content: join(folder, "content.json") });
  await proxy.start(service);
  const addresses = { FRONTEND_MAP_URL: proxy.url, CONTENT: join(folder, "content.json"), STRAPI_URL: `http://127.0.0.1:${strapi.address().port}` };
  for (const [name, { command, folder: cwd, output, env, named, requests }] of Object.entries(BUILDS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    for (let round = 0; round < Number(options.rounds); round += 1) {
      if (output) await rm(cwd + output, { recursive: true, force: true });
      const start = performance.now();
      let log;
      const counts = await proxy.counted(async () => {
        log = await run(command, { cwd, env: { ...process.env, ...addresses, ...env } });
      });
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      const leftOut = new Set([...log.matchAll(/^ +(\/\S+): /gm)].map(([, path]) => path));
      if (output) assert.equal(await files(cwd + output), PAGES - named, name);
      assert.equal(leftOut.size, named, `${name} names ${[...leftOut]}`);
      if (requests) assert.deepEqual(counts, requests, name);
      console.log(`${name}: ${PAGES - named} pages in ${seconds} s, ${named} left out; requests: ${JSON.stringify(counts)}`);
    }
  }
} finally {
  strapi.close();
  proxy.stop();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
