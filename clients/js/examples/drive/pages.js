#!/usr/bin/env node
/**
 * Compares what `validate --content` finds on the example sites with the faults that are planted there.
 *
 *   node pages.js --binary FILE [--pages 1000] [--only KIND,…] [--installed] [--lychee FILE] next nuxt …
 *
 * First the site as it is: nothing may be found. Then, for each kind of fault, a proxy in front of the
 * site plants it in this number of pages: each must be found there, and nothing else. Prints a row for
 * each kind: planted, found, other findings, requests, seconds. Ends with status 0 if all rows are right.
 *
 * `--lychee FILE` is the binary of lychee, which then checks all pages with their links: in how many of the
 * planted pages it finds an error. Links to other hosts are left out, because they are not requested.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Example } from "./example.js";
import { Child, freePort, mapAtOnce } from "./process.js";
import { article, Site } from "./site.js";

const link = (attributes) => new RegExp(`<link(?=[^>]*${attributes})[^>]*>`, "i");
const CANONICAL = link(`rel="canonical"`);
const HREFLANG = link(`hreflang="(?!x-default)`);
const HEAD_LINKS = /<link(?=[^>]*rel="(?:canonical|alternate)")[^>]*>/gi;
/** Listed, and never there while `canonical_dead` is planted. */
const DEAD = "/en/articles/p-0";

const setAttribute = (tag, name, value) => tag.replace(new RegExp(`${name}="[^"]*"`, "i"), `${name}="${value}"`);
const replaceTag = (pattern, change) => ({ body }) => body.replace(pattern, (tag) => change(tag));

/**
 * Kind → the page with the fault in it, by its `body`, `path` and `title`, the `url` of the site, and the
 * body of the site's own page for a path `without` a document.
 */
const KINDS = {
  noindex: ({ body }) => body.replace("</head>", '<meta name="robots" content="noindex"></head>'),
  robots_disallowed: ({ body }) => body,
  // The site's page for a path without a document, with the links of this one, and for robots as well.
  soft_404: ({ body, without }) =>
    without.replace(/<meta name="robots"[^>]*>/gi, "").replace("</head>", `${body.match(HEAD_LINKS)?.join("")}</head>`),
  canonical_dead: ({ body, url }) => body.replace(CANONICAL, (tag) => setAttribute(tag, "href", url + DEAD)),
  canonical_elsewhere: replaceTag(CANONICAL, (tag) => setAttribute(tag, "href", "https://www.example.com/")),
  canonical_conflict: replaceTag(CANONICAL, (tag) => tag + setAttribute(tag, "href", "https://www.example.com/")),
  canonical_missing: replaceTag(CANONICAL, () => ""),
  canonical_relative: ({ body, path }) => body.replace(CANONICAL, (tag) => setAttribute(tag, "href", path)),
  hreflang_missing: replaceTag(HREFLANG, () => ""),
  hreflang_wrong: replaceTag(HREFLANG, (tag) => setAttribute(tag, "href", "https://www.example.com/")),
  hreflang_extra: replaceTag("</head>", (tag) => `<link rel="alternate" hreflang="fr" href="/fr/x">${tag}`),
  lang_differs: ({ body }) => body.replace(/(<html[^>]*lang=")[^"]*/i, "$1fr"),
  title_absent: ({ body, title }) => body.replace(new RegExp(`${title}\\b`, "gi"), "Another"),
  unread: ({ body }) => body,
};
const HEADERS = { unread: { "content-encoding": "br" } };

/** The site's address for the service and its visitors; plants the faults of `kind` in articles. */
class FrontEnd {
  kind = undefined;
  requests = 0;

  constructor(port, target, basePath) {
    Object.assign(this, { port, target, basePath });
  }

  async start() {
    this.server = createServer((from, to) => void this.respond(from, to).catch(() => to.destroy()));
    this.server.listen(this.port, "127.0.0.1");
    await once(this.server, "listening");
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  async respond({ url: path, headers: { accept } }, to) {
    this.requests += 1;
    if (path === "/robots.txt" && this.kind === "robots_disallowed") {
      to.end(`User-agent: *\nDisallow: ${this.basePath}/en/articles/\nDisallow: ${this.basePath}/de/articles/\n`);
      return;
    }
    const response = await fetch(this.target + path, { headers: { accept }, redirect: "manual" });
    const headers = Object.fromEntries([...response.headers].filter(([name]) => !/^(connection|content-encoding|content-length|keep-alive|transfer-encoding)$/.test(name)));
    let status = response.status;
    let body = Buffer.from(await response.arrayBuffer());
    const [, locale, slug] = /^\/(en|de)\/articles\/([^/?]+)$/.exec(path.slice(this.basePath.length)) ?? [];
    if (slug && this.kind === "soft_404" && status === 404) {
      status = 200;
    } else if (slug && this.kind === "canonical_dead" && path === this.basePath + DEAD) {
      status = 404;
    } else if (slug && this.kind && status === 200) {
      const page = { body: body.toString(), path, title: `Article ${slug}`, url: this.url, without: this.without[locale] };
      const planted = KINDS[this.kind](page);
      const changes = !["robots_disallowed", "unread"].includes(this.kind);
      if (changes && planted === page.body) this.unplanted.push(path);
      body = Buffer.from(planted);
      Object.assign(headers, HEADERS[this.kind]);
    }
    to.writeHead(status, { ...headers, "content-length": body.length }).end(body);
  }

  async plant(kind) {
    this.kind = kind;
    this.unplanted = [];
    this.without = {};
    for (const locale of ["en", "de"]) {
      const path = `${this.basePath}/${locale}/articles/a-path-that-no-document-has`;
      const response = await fetch(this.target + path, { headers: { accept: "text/html" } });
      this.without[locale] = await response.text();
    }
  }
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: "string", default: process.env.FRONTEND_MAP_BINARY },
    pages: { type: "string", default: "1000" },
    only: { type: "string" },
    installed: { type: "boolean", default: false },
    lychee: { type: "string" },
  },
});
if (!options.binary || positionals.length === 0) {
  console.error("usage: node pages.js --binary FILE EXAMPLE…");
  process.exit(2);
}
const binary = resolve(options.binary);

/** The kinds of faults by URL path, of all listed URLs, with `dead` for those that are dead. */
async function validate({ service, folder, example }) {
  const file = join(folder, "report.json");
  const command = [binary, "--config", join(service.folder, "settings.toml"), "validate", "--site", "main", "--content", "--format", "json", "--out", file];
  const env = { PATH: process.env.PATH, FRONT_END_URL_MAIN: example.url, FRONTEND_MAP__CMS__PATH: service.of.content };
  const child = new Child(command, { env });
  const status = await child.ended;
  if (![0, 1].includes(status)) throw new Error(`validate: ${status}\n${child.log.slice(-4_000)}`);
  const report = JSON.parse(await readFile(file, "utf8"));
  const found = new Map();
  for (const { results } of report.contentTypes) {
    for (const { url, ok, faults = [] } of results) {
      found.set(url.slice(example.url.length), [...(ok ? [] : ["dead"]), ...faults.map(({ kind }) => kind)]);
    }
  }
  return found;
}

/** The URLs of pages in which lychee finds an error. */
async function lychee({ folder, example }, urls) {
  const [list, file] = ["urls.txt", "lychee.json"].map((name) => join(folder, name));
  await writeFile(list, urls.join("\n"));
  const limits = ["--max-concurrency", "10", "--host-concurrency", "10", "--host-request-interval", "0ms", "--max-retries", "0"];
  const scope = ["--include", `^${example.url}`, "--exclude", ".", "--files-from", list];
  const child = new Child([options.lychee, "--no-progress", ...limits, "--format", "json", "--output", file, ...scope]);
  const status = await child.ended;
  if (![0, 2].includes(status)) throw new Error(`lychee: ${status}\n${child.log.slice(-4_000)}`);
  return new Set(Object.keys(JSON.parse(await readFile(file, "utf8")).error_map));
}

let failed = 0;

/** Prints a row; an empty list of `others` is right. */
function row(words, isRight, others = []) {
  if (!isRight) failed += 1;
  console.log(`${words}${isRight ? "" : " FAILED"}`);
  for (const other of others.slice(0, 5)) console.log(`  ${other}`);
}

/** Result, requests and seconds of a call. */
async function measured(front, call) {
  const [requests, start] = [front.requests, performance.now()];
  const result = await call();
  return { result, cost: `${front.requests - requests} requests, ${((performance.now() - start) / 1000).toFixed(1)} s` };
}

async function drive(name) {
  const example = new Example(name);
  const slugs = Array.from({ length: Math.ceil(Number(options.pages) / 2) }, (_, n) => `p-${n}`);
  const articles = slugs.flatMap((slug) => ["en", "de"].map((locale) => article(slug, slug, locale)));
  const site = new Site(example, articles);
  const port = await freePort();
  await example.locate();
  const front = new FrontEnd(port, `http://127.0.0.1:${example.port}`, example.basePath);
  example.url = front.url = `http://127.0.0.1:${port}${example.basePath}`;
  // `Site.start` would choose another address.
  example.locate = async () => {};
  await front.start();
  try {
    await site.start(binary, options.installed ? ["install"] : []);
    const paths = articles.map(({ locale, slug }) => `/${locale}/articles/${slug}`);
    // What renders a page for the first time is no part of the seconds.
    await mapAtOnce(paths, async (path) => void (await (await fetch(example.url + path)).text()));
    for (const kind of [undefined, ...(options.only?.split(",") ?? Object.keys(KINDS))]) {
      await front.plant(kind);
      const { result: found, cost } = await measured(front, () => validate(site));
      const expected = (path) => {
        if (!kind || !paths.includes(path)) return [];
        return kind === "canonical_dead" && path === DEAD ? ["dead"] : [kind];
      };
      const isWrong = ([path, kinds]) => kinds.join() !== expected(path).join();
      const others = [...found].filter(isWrong).map(([path, kinds]) => `${path}: ${kinds.join(", ") || "nothing"}`);
      others.push(...front.unplanted.map((path) => `${path}: could not be planted`));
      const right = paths.filter((path) => kind && found.get(path)?.includes(kind)).length;
      const planted = kind ? paths.length - (kind === "canonical_dead" ? 1 : 0) : 0;
      const what = `${name}: ${kind ?? `no fault in ${found.size} pages`}`;
      row(`${what}: ${planted} planted, ${right} found, ${others.length} others, ${cost}`, planted === right && others.length === 0, others);
      if (!options.lychee) continue;
      // It ends without a report if it cannot get a page of its list.
      const alive = [...found].filter(([, kinds]) => !kinds.includes("dead")).map(([path]) => example.url + path);
      const { result, cost: theirs } = await measured(front, () => lychee(site, alive));
      const theirsRight = paths.filter((path) => kind && result.has(example.url + path)).length;
      console.log(`  lychee: ${theirsRight} found, ${result.size - theirsRight} others, ${theirs}`);
    }
  } finally {
    await site.stop();
    front.stop();
  }
}

for (const name of positionals) await drive(name);
console.log(failed ? `${failed} rows are wrong` : "all rows are right");
process.exit(failed ? 1 : 0);
