#!/usr/bin/env node
/**
 * Live pages that visitors of the example sites miss while the service is restarted.
 *
 *   node restarts.js --binary FILE [--rounds 10] [--installed] [--built] next nuxt …
 *
 * Under load, an article is renamed (every second time back to its former name), the service is
 * stopped as soon as it knows the new path, is away for a second, and is started again. Prints of each
 * site the visits of pages that were visited before, and which of them were no 200; those of the
 * renamed article, at its first path, apart: where it leads to may never have been visited. Ends with
 * status 0 if there are none of the former.
 */
import assert from "node:assert/strict";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { Example } from "./example.js";
import { article, Site } from "./site.js";

const VISITORS = 4;
const AWAY_MS = 1_000;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: "string", default: process.env.FRONTEND_MAP_BINARY },
    rounds: { type: "string", default: "10" },
    installed: { type: "boolean", default: false },
    built: { type: "boolean", default: false },
  },
});
if (!options.binary || positionals.length === 0) {
  console.error("usage: node restarts.js --binary FILE EXAMPLE…");
  process.exit(2);
}
const skip = [...(options.installed || options.built ? ["install"] : []), ...(options.built ? ["build"] : [])];
const pause = (ms) => new Promise((end) => setTimeout(end, ms));

/** Visits the pages in turn until `isOver`; how many, and which were no 200: path and status → number. */
async function load(site, paths, isOver) {
  const failures = {};
  let visits = 0;
  let slowest = 0;
  const visitor = async (_, at) => {
    for (; !isOver(); at += 1) {
      const path = paths[at % paths.length];
      const { status, ms } = await site.visit(path);
      visits += 1;
      slowest = Math.max(slowest, ms);
      if (status !== 200) failures[`${path}: ${status}`] = (failures[`${path}: ${status}`] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: VISITORS }, visitor));
  return { visits, slowest: `${slowest.toFixed(0)} ms`, failures };
}

/** @returns {Promise<boolean>} whether all pages were there. */
async function trySite(name) {
  const articles = Array.from({ length: 20 }, (_, at) => article(`a${at}`, `article-${at}`, at % 3 === 2 ? "de" : "en"));
  const site = new Site(new Example(name), articles);
  try {
    await site.start(resolve(options.binary), skip);
    const [renamed] = articles;
    const first = renamed.slug;
    const renamedPath = `/en/articles/${first}`;
    const paths = (await site.service.data("/api/pages")).pages.map(({ path }) => path).filter((path) => path !== renamedPath);
    assert.equal(paths.length, articles.length + 3);
    for (const path of [renamedPath, ...paths]) assert.equal((await site.visit(path)).status, 200, path);

    let isOver = false;
    const loads = [load(site, paths, () => isOver), load(site, [renamedPath], () => isOver)];
    const restarts = async () => {
      for (let round = 0; round < Number(options.rounds); round += 1) {
        renamed.slug = renamed.slug === first ? `${first}-${round}` : first;
        await site.publish();
        await site.known([`/en/articles/${renamed.slug}`]);
        await site.service.pause();
        await pause(AWAY_MS);
        await site.service.resume();
        await pause(AWAY_MS);
      }
    };
    await restarts().finally(() => (isOver = true));
    const [others, own] = await Promise.all(loads);
    console.log(`${name}: ${options.rounds} restarts: ${JSON.stringify(others)}; the renamed article: ${JSON.stringify(own)}`);
    return Object.keys(others.failures).length === 0;
  } finally {
    await site.stop();
  }
}

for (const name of positionals) if (!(await trySite(name))) process.exitCode = 1;
