#!/usr/bin/env node
/**
 * Measures static builds of a large site: seconds, and requests to the service.
 *
 *   node static.js --binary FILE [--documents 20000] [--rounds 3]
 *
 * The documents are in a file, so that nothing of a CMS is measured. Three builds, each in a process
 * of its own: the params of all pages alone (`toStaticParams`), the static site of `../astro/static`,
 * and the same with the `hreflang` alternates of each page, which are a request each. Checks that each
 * build has all pages, and how many requests it took. `npm ci` in `../astro` first.
 */
import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { freePort, run } from "./process.js";
import { CountingProxy, Service } from "./service.js";

const { values: options } = parseArgs({
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
const astro = fileURLToPath(new URL("../astro/", import.meta.url));
/** Home and list of both locales. */
const OTHER_PAGES = 4;

const PARAMS = `
  import { createFrontendMap } from "frontend-map-client";
  const map = createFrontendMap({ url: process.env.FRONTEND_MAP_URL, site: "main" });
  const params = await map.pages().toStaticParams("/{locale}/{*path?}");
  if (params.length !== ${documents + OTHER_PAGES}) throw new Error(params.length + " params");
`;
const BUILDS = {
  "toStaticParams": { command: ["node", "--input-type=module", "--eval", PARAMS], requests: { "GET /api/pages": 1 } },
  "Astro": { command: ["npm", "run", "build:static"], requests: { "GET /api/pages": 1 } },
  "Astro, with hreflang": {
    command: ["npm", "run", "build:static"],
    env: { HREFLANG: "1" },
    requests: { "GET /api/pages": 1, "GET /api/resolve": documents + OTHER_PAGES },
  },
};

/** Half of the articles have a German version. */
function content() {
  const articles = Array.from({ length: documents }, (_, at) => {
    const number = Math.floor((2 * at) / 3);
    const locale = at % 3 === 1 ? "de" : "en";
    return { documentId: `a${number}`, locale, title: `Article ${number}`, slug: `article-${at}` };
  });
  return JSON.stringify({ "api::article.article": articles, "api::page.page": [] });
}

const files = async (folder) => (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".html")).length;

const folder = await mkdtemp(join(tmpdir(), "frontend-map-static-"));
const service = new Service(options.binary, await freePort());
const proxy = new CountingProxy();
try {
  await writeFile(join(folder, "content.json"), content());
  await service.start({ site: "http://127.0.0.1:3000", content: join(folder, "content.json") });
  await proxy.start(service);
  for (const [name, { command, env, requests }] of Object.entries(BUILDS)) {
    for (let round = 0; round < Number(options.rounds); round += 1) {
      await rm(`${astro}dist/static`, { recursive: true, force: true });
      const start = performance.now();
      const counts = await proxy.counted(() => run(command, { cwd: astro, env: { ...process.env, FRONTEND_MAP_URL: proxy.url, ...env } }));
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      assert.deepEqual(counts, requests, name);
      if (command[0] === "npm") assert.equal(await files(`${astro}dist/static`), documents + OTHER_PAGES);
      console.log(`${name}: ${documents + OTHER_PAGES} pages in ${seconds} s; requests: ${JSON.stringify(counts)}`);
    }
  }
} finally {
  proxy.stop();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
