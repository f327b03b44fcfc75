#!/usr/bin/env node
/**
 * Drives the example sites in headless Chromium, over a real Strapi and the service's own binary.
 *
 *   node drive.js [--binary FILE] [--pictures DIR] [--installed] [--only CHECK,…] next astro …
 *
 * Each example says in its package.json which checks it supports (`drive.checks`). Ends with
 * `N passed, N failed`, and status 0 if none failed. `--installed` leaves out the installation.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { launch, Visitor } from "./browser.js";
import { Example, PREVIEW_SECRET } from "./example.js";
import { freePort } from "./process.js";
import { CountingProxy, DRAFT_TOKEN, HOOK_SECRET, Service } from "./service.js";
import { CHECKS } from "./checks.js";
import { startStrapi } from "./strapi.js";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: "string", default: process.env.FRONTEND_MAP_BINARY },
    pictures: { type: "string", default: "pictures" },
    installed: { type: "boolean", default: false },
    only: { type: "string" },
  },
});
if (!options.binary || positionals.length === 0) {
  console.error("usage: node drive.js --binary FILE EXAMPLE…");
  process.exit(2);
}
const counts = { passed: 0, failed: 0 };
const began = performance.now();

/** Runs one step, and prints how long it took. */
async function step(name, call) {
  const start = performance.now();
  let result = "ok";
  try {
    const summary = await call();
    if (typeof summary === "string") result += `: ${summary}`;
    counts.passed += 1;
  } catch (error) {
    counts.failed += 1;
    result = `FAILED: ${error.stack}`;
  }
  console.log(`${name}: ${((performance.now() - start) / 1000).toFixed(1)} s: ${result}`);
  return result.startsWith("ok");
}

/** All public pages, one of each content type by `data-type`, published articles, drafts of articles. */
async function content(service, strapi) {
  const { pages: all } = await service.data("/api/pages");
  const english = all.filter(({ locale, path }) => locale === "en" && /^[\w/-]+$/.test(path));
  const pages = Object.fromEntries(english.toReversed().map((page) => [page.contentType ?? page.page, page]));
  const articles = english.filter(({ contentType }) => contentType === "api::article.article");
  const published = new Set((await strapi.articles("published")).map(({ documentId }) => documentId));
  const drafts = (await strapi.articles("draft"))
    .filter(({ documentId, slug }) => !published.has(documentId) && /^[\w-]+$/.test(slug ?? ""))
    .map(({ documentId, slug }) => ({ documentId, path: `/en/articles/${slug}` }));
  // The first article is that of `pages`, which no check changes.
  return { all, pages, articles: articles.slice(1), drafts };
}

/** Installs and builds an example, if that is not done yet. */
async function build(example, addresses) {
  if (example.built !== undefined) return example.built;
  const steps = { install: () => example.install(), build: () => example.build(addresses) };
  if (options.installed) delete steps.install;
  example.built = true;
  for (const [name, call] of Object.entries(steps)) {
    example.built &&= await step(`${example.name}: ${name}`, call);
  }
  return example.built;
}

async function drive(example, { strapi, service, browser }) {
  const proxy = new CountingProxy();
  await proxy.start(service);
  await service.start({ strapi: strapi.url, site: example.url, webhook: example.webhook });
  const addresses = { service: proxy.url, strapi: strapi.url };
  const pictures = resolve(options.pictures, example.name);
  const visitors = await Promise.all([1, 2].map(() => Visitor.open(browser, example.url, pictures)));
  try {
    if (!(await build(example, addresses))) return;
    if (!(await step(`${example.name}: start`, () => example.start(addresses)))) return;
    const [visitor, otherVisitor] = visitors;
    const context = { example, strapi, service, proxy, visitor, otherVisitor, state: {}, ...(await content(service, strapi)) };
    for (const [name, check] of Object.entries(CHECKS)) {
      if (!example.checks.includes(name)) console.log(`${example.name}: ${name}: not part of this example`);
      else if (!options.only || options.only.split(",").includes(name)) {
        await step(`${example.name}: ${name}`, () => check(context));
      }
    }
    await step(`${example.name}: no error in the browser`, async () => {
      if (visitor.failures.length > 0) throw new Error(visitor.failures.join("\n"));
    });
  } finally {
    if (counts.failed > 0) console.log(example.child?.log.slice(-3_000) ?? "");
    await Promise.all(visitors.map((one) => one.close()));
    await example.stop();
    await service.stop();
    proxy.stop();
  }
}

const examples = positionals.map((name) => new Example(name));
// One address for all examples: Strapi's panel shows the previews of one frontend.
const [port, servicePort] = [await freePort(), await freePort()];
const service = new Service(resolve(options.binary), servicePort);
const starting = startStrapi({
  FRONTEND_MAP_URL: service.url,
  FRONTEND_MAP_DRAFT_TOKEN: DRAFT_TOKEN,
  FRONTEND_MAP_HOOK: `${service.url}/hooks/cms`,
  FRONTEND_MAP_HOOK_SECRET: HOOK_SECRET,
  PREVIEW_SECRET,
  PREVIEW_ORIGINS: `http://127.0.0.1:${port}`,
});
// Strapi starts on one core.
for (const example of examples) {
  await example.locate(port);
  if (!example.isStatic) await build(example);
}
const strapi = await starting;
console.log(`Strapi: ${((performance.now() - began) / 1000).toFixed(1)} s`);
const browser = await launch();
try {
  for (const example of examples) await drive(example, { strapi, service, browser });
} finally {
  await browser.close();
}
console.log(`${((performance.now() - began) / 1000).toFixed(0)} s; ${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;
