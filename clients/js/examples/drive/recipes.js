#!/usr/bin/env node
/**
 * Builds sites by the recipes of `docs/frontends` alone, and visits all their pages.
 *
 *   node recipes.js --binary FILE [--pages 1900] next next-cache nuxt sveltekit astro
 *
 * Each begins with what the framework's scaffold writes (`../../test/scaffolds`). Into it go the blocks
 * of code of the recipe, the files to which it links, and the edits that it says; then it is installed,
 * built and started. Prints of each site what it needs and the recipe does not have, seconds, whether
 * the build failed, and what is not as it must be: `/`, a file of the scaffold's, `robots.txt`, and the
 * pages whose status, language, title, canonical URL or hreflang are not those of `/api/resolve`.
 * Ends with status 0 if there is none of these.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { blocks } from "../extract.js";
import { checkHead } from "./checks.js";
import { Example } from "./example.js";
import { mapAtOnce, run } from "./process.js";
import { article, Site } from "./site.js";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    binary: { type: "string", default: process.env.FRONTEND_MAP_BINARY },
    pages: { type: "string", default: "1900" },
  },
});
if (!options.binary || positionals.length === 0) {
  console.error("usage: node recipes.js --binary FILE EXAMPLE…");
  process.exit(2);
}
const binary = resolve(options.binary);
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const [EXAMPLES, CLIENT, SCAFFOLDS, RECIPES] = ["../", "../../", "../../test/scaffolds/", "../../../../docs/frontends/"].map(path);

/** Edits of a file in the folder of a site. */
const write = (file, text) => (folder) => writeFile(join(folder, file), text);
const remove = (...files) => (folder) => Promise.all(files.map((file) => rm(join(folder, file))));
const replace = (file, from, to) => async (folder) => {
  const text = await readFile(join(folder, file), "utf8");
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
  await writeFile(join(folder, file), text.replace(from, to));
};
const all = (...edits) => async (folder) => {
  for (const edit of edits) await edit(folder);
};

/**
 * Name → its recipe, the file of the types, how the built site is started, a file of the scaffold that
 * visitors get, and the edits: what the recipe says, and what is done.
 */
const NEXT = { recipe: "next", types: "frontend-map.d.ts", start: "next start", file: "/next.svg" };
const NEXT_PAGES = ["delete `app/page.tsx` and `app/layout.tsx`", remove("app/page.tsx", "app/layout.tsx")];
const SITES = {
  next: { ...NEXT, edits: [NEXT_PAGES] },
  "next-cache": {
    ...NEXT,
    edits: [
      NEXT_PAGES,
      ["in place of `revalidate`", replace("app/[locale]/(root)/page.tsx", "export const revalidate = 60", 'export const ensureStatic = "navigation"')],
    ],
  },
  nuxt: {
    recipe: "nuxt",
    types: "shared/frontend-map.d.ts",
    start: "node .output/server/index.mjs",
    file: "/favicon.ico",
    edits: [
      ["put `<NuxtLayout><NuxtPage /></NuxtLayout>` into `app/app.vue`", write("app/app.vue", "<template>\n  <NuxtLayout><NuxtPage /></NuxtLayout>\n</template>\n")],
      ["delete `public/robots.txt`", remove("public/robots.txt")],
    ],
  },
  sveltekit: {
    recipe: "sveltekit",
    types: "src/frontend-map.d.ts",
    start: "node build",
    edits: [
      ["choose an [adapter]", all(
        replace("vite.config.ts", "@sveltejs/adapter-auto", "@sveltejs/adapter-node"),
        replace("package.json", '"@sveltejs/adapter-auto": "^7.0.1"', '"@sveltejs/adapter-node": "^5.2.0"'),
      )],
      ["Delete `routes/+page.svelte`, and `static/robots.txt`", remove("src/routes/+page.svelte", "static/robots.txt")],
    ],
  },
  astro: {
    recipe: "astro",
    types: "src/frontend-map.d.ts",
    start: "node dist/server/entry.mjs",
    file: "/favicon.svg",
    edits: [
      ["`@astrojs/node`", all(
        replace("package.json", '"dependencies": {', '"dependencies": {\n    "@astrojs/node": "^11.1.6",'),
        write("astro.config.mjs", readFileSync(`${EXAMPLES}astro/astro.config.mjs`, "utf8")),
      )],
      ["src/pages/index.astro", remove("src/pages/index.astro")],
    ],
  },
};

const exampleText = (file) => readFileSync(EXAMPLES + file, "utf8");

/**
 * The files that a recipe has, below the examples: path → text. Of those that it shows in part, the
 * rest is the example's; they are `partly` unless it links to the whole file.
 */
function filesOf(name, recipe) {
  const base = `${SITES[name].recipe}/`;
  const isOwn = (file) => file.startsWith(`${name}/`);
  // A site with Cache Components has all other files of one without.
  const own = (file) => (file.startsWith(base) ? file.replace(base, `${name}/`) : file);
  const links = [...recipe.matchAll(/\]\(\.\.\/\.\.\/clients\/js\/examples\/([^)]+\.\w+)\)/g)].map(([, file]) => file);
  const files = new Map();
  for (const file of links.filter((one) => !one.endsWith(".md")).map(own)) files.set(file, exampleText(file));
  const partly = [];
  const shown = blocks(recipe).filter(({ file }) => (isOwn(file) || file.startsWith(base)) && !file.startsWith("astro/static/"));
  for (const { file, code, isWhole } of shown) {
    // The blocks of a site with Cache Components come last.
    if (isWhole) files.set(own(file), code);
    else {
      if (!files.has(own(file)) && !partly.includes(own(file))) partly.push(own(file));
      files.set(own(file), exampleText(own(file)));
    }
  }
  return { files, partly };
}

/** Adds what the files import of the example, and what that imports; the paths of what was added. */
function addImports(name, files) {
  const aliases = { "@/": `${name}/`, "$lib/": `${name}/src/lib/` };
  const added = [];
  const isFile = (file) => /\.\w+$/.test(file) && existsSync(EXAMPLES + file);
  const isThere = (file) => files.has(file) || existsSync(SCAFFOLDS + file);
  for (const [file, text] of files) {
    for (const [, from] of text.matchAll(/(?:from|import) ["']([^"']+)["']/g)) {
      const alias = Object.keys(aliases).find((one) => from.startsWith(one));
      if (!alias && !from.startsWith(".")) continue;
      const to = alias ? from.replace(alias, aliases[alias]) : join(dirname(file), from);
      const found = ["", ".ts", ".tsx"].map((end) => to + end).find(isFile);
      if (!found || isThere(found)) continue;
      added.push(found);
      files.set(found, exampleText(found));
    }
  }
  return added;
}

/** Writes a site into `folder`; what the recipe does not have. */
async function writeSite(name, folder, client) {
  const { recipe: page, types, start, edits } = SITES[name];
  const recipe = await readFile(`${RECIPES}${page}.md`, "utf8");
  await cp(SCAFFOLDS + name, folder, { recursive: true });
  const { files, partly } = filesOf(name, recipe);
  const imported = addImports(name, files);
  for (const [file, text] of files) {
    const target = file.startsWith("shared/") ? join(folder, "..", file) : join(folder, file.replace(`${name}/`, ""));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
  for (const [, edit] of edits) await edit(folder);
  await mkdir(dirname(join(folder, types)), { recursive: true });
  await run([binary, "--config", `${EXAMPLES}shared/settings.toml`, "types", "--site", "main", "--output", join(folder, types)]);
  const settings = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  settings.dependencies = { ...settings.dependencies, "frontend-map-client": `file:${client}` };
  settings.scripts.start = start;
  await writeFile(join(folder, "package.json"), JSON.stringify(settings, null, 2));

  const variables = [...files].flatMap(([file, text]) => (file.startsWith("shared/") ? [] : [...text.matchAll(/process\.env\.([A-Z_]+)/g)]));
  const unnamed = new Set(variables.map(([, one]) => one).filter((one) => !recipe.includes(`\`${one}\``)));
  return [
    ...edits.filter(([says]) => !recipe.includes(says)).map(([says]) => `edit: ${says}`),
    ...partly.map((file) => `the rest of ${file}`),
    ...imported,
    ...[...unnamed].map((one) => `variable: ${one}`),
  ];
}

/** Articles of two languages, so many that there are `pages` pages; some with names that are not usual. */
function articles(pages) {
  const odd = ["v1.2", "a b", "100%", "100%25", "50%", "what?", "no#1", "it's", "a&b", "a+b", "a=b", "a;b", "a,b", "a:b", "a@b", "a!b", "a$b",
    "a(b)", "a*b", "a~b", "a_b", "a..b", "index", "not-found", "404", "feed.xml", "page.html", "cafés", "日本", "über-uns", "naïve", "x".repeat(200), "-"];
  return Array.from({ length: pages - 4 }, (_, at) => article(`a${Math.floor(at / 2)}`, odd[at] ?? `article-${at}`, at % 2 === 0 ? "en" : "de"));
}

/** Checks that throw: name → what is wrong, or nothing. */
async function failuresOf(name, site) {
  const failures = {};
  const check = async (what, call) => {
    try {
      await call();
    } catch (error) {
      failures[what] = error.message.split("\n").slice(0, 5).join(" ");
    }
  };
  const expects = (what, holds, found) => {
    if (!holds) throw new Error(`${what}: ${found}`);
  };
  await check("/", async () => {
    const { status } = await site.visit("/");
    expects("/", status === 200, status);
  });
  const { file } = SITES[name];
  if (file) {
    await check(file, async () => {
      const { status } = await site.visit(file);
      expects(file, status === 200, status);
    });
  }
  await check("/robots.txt", async () => {
    const { status, text } = await site.visit("/robots.txt");
    expects("robots.txt", status === 200 && text.includes(`Sitemap: ${site.example.url}/`), `${status} ${text}`);
  });
  const { pages } = await site.service.data("/api/pages");
  await mapAtOnce(pages, ({ path: one }) => check(one, () => checkHead(site.example, site.service, one)));
  return { pages: pages.length, failures };
}

async function tryRecipe(name, client) {
  const folder = await mkdtemp(join(tmpdir(), "frontend-map-recipe-"));
  const example = new Example(name);
  Object.assign(example, { folder: join(folder, "site/"), basePath: "" });
  const site = new Site(example, articles(Number(options.pages)));
  const start = performance.now();
  try {
    const lacking = await writeSite(name, example.folder, client);
    console.log(`${name}: ${lacking.length} not in the recipe${lacking.map((one) => `\n  ${one}`).join("")}`);
    await site.start(binary);
    console.log(`${name}: installed, built and started in ${((performance.now() - start) / 1000).toFixed(0)} s`);
    const { pages, failures } = await failuresOf(name, site);
    const wrong = Object.entries(failures);
    console.log(`${name}: ${pages} pages; ${wrong.length} wrong${wrong.slice(0, 10).map(([, text]) => `\n  ${text}`).join("")}`);
    return lacking.length === 0 && wrong.length === 0;
  } catch (error) {
    console.log(`${name}: FAILED after ${((performance.now() - start) / 1000).toFixed(0)} s: ${error.message}`);
    return false;
  } finally {
    await site.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const packed = await mkdtemp(join(tmpdir(), "frontend-map-client-"));
try {
  await run(["npm", "pack", "--pack-destination", packed], { cwd: CLIENT });
  const [client] = readdirSync(packed);
  for (const name of positionals) if (!(await tryRecipe(name, join(packed, client)))) process.exitCode = 1;
} finally {
  await rm(packed, { recursive: true, force: true });
}
