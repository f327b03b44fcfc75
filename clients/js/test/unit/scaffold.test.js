/** The examples are what the scaffolds of frameworks write (`test/scaffolds/refresh.js`), and the recipes. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const examples = new URL("../../examples/", import.meta.url);
const scaffolds = new URL("../scaffolds/", import.meta.url);
/** The recipe says to delete them. */
const DELETED = ["app/layout.tsx", "app/page.tsx"];
/** Those with lines of the example itself, and those that no build reads. */
const OWN = [".gitignore", "README.md", "next-env.d.ts", "next.config.ts", "package.json", "tsconfig.json"];

const filesOf = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(folder.pathname.length).replace(/^\//, ""));
const text = (folder, name) => readFileSync(new URL(name, folder), "utf8");
const json = (folder, name) => JSON.parse(text(folder, name));

for (const name of ["next", "next-cache"]) {
  const [scaffold, example] = [scaffolds, examples].map((folder) => new URL(`${name}/`, folder));

  test(`files of the scaffold are those of the example ${name}`, () => {
    const files = filesOf(scaffold);
    assert.ok(files.includes("public/next.svg"), files.join());
    for (const file of files) {
      if (DELETED.includes(file)) assert.ok(!existsSync(new URL(file, example)), file);
      else if (!OWN.includes(file)) assert.deepEqual(readFileSync(new URL(file, example)), readFileSync(new URL(file, scaffold)), file);
    }
  });

  test(`settings of the scaffold are those of the example ${name}`, () => {
    const [made, own] = [scaffold, example].map((folder) => text(folder, "next.config.ts").split("\n").map((line) => line.trim()));
    assert.deepEqual(made.filter((line) => !line.startsWith("/*") && !own.includes(line)), []);
    for (const option of ["cacheComponents: true,", "partialPrefetching: true,"]) {
      assert.equal(own.includes(option), made.includes(option), option);
    }
  });

  test(`example ${name} has the versions of the scaffold, and the client`, () => {
    const [made, own] = [json(scaffold, "package.json"), json(example, "package.json")];
    assert.deepEqual(own.devDependencies, made.devDependencies);
    const { "frontend-map-client": client, ...others } = own.dependencies;
    assert.deepEqual([others, client], [made.dependencies, "file:../.."]);
    assert.equal(json(scaffolds, `${name}.json`).by, `create-next-app@${made.dependencies.next}`);
  });

  test(`compiler options of the example ${name} are those of the scaffold`, () => {
    const [made, own] = [scaffold, example].map((folder) => json(folder, "tsconfig.json").compilerOptions);
    assert.deepEqual(own, made);
  });
}

/** `changed`: the lines of a file of the scaffold that the recipe says to change; of other files none is. */
const OTHERS = {
  nuxt: {
    deleted: ["public/robots.txt"],
    changed: { "app/app.vue": ["  <div>", "    <NuxtRouteAnnouncer />", "    <NuxtWelcome />", "  </div>"], "nuxt.config.ts": [] },
    dependencies: {},
  },
  sveltekit: {
    deleted: ["src/routes/+page.svelte", "static/robots.txt"],
    changed: {
      "src/app.d.ts": ["\t\t// interface Locals {}"],
      "src/app.html": ['<html lang="en">'],
      "src/routes/+layout.svelte": null,
      "vite.config.ts": ["import adapter from '@sveltejs/adapter-auto';"],
    },
    dependencies: { "@sveltejs/adapter-auto": undefined },
  },
  astro: {
    deleted: ["src/pages/index.astro"],
    changed: { "astro.config.mjs": ["export default defineConfig({});"], "tsconfig.json": null },
    dependencies: { astro: "7.3.5" },
  },
};
/** Those that no build reads, and those whose settings are for the packages of this repository. */
const IGNORED = [".gitignore", ".npmrc", "README.md", "package.json", ".vscode/extensions.json", ".vscode/launch.json"];

for (const [name, { deleted, changed, dependencies }] of Object.entries(OTHERS)) {
  const [scaffold, example] = [scaffolds, examples].map((folder) => new URL(`${name}/`, folder));

  test(`files of the scaffold are those of the example ${name}, but for what the recipe says`, () => {
    const files = filesOf(scaffold);
    for (const file of [...deleted, ...Object.keys(changed)]) assert.ok(files.includes(file), file);
    for (const file of files.filter((one) => !IGNORED.includes(one))) {
      if (deleted.includes(file)) assert.ok(!existsSync(new URL(file, example)), file);
      else if (!(file in changed)) assert.deepEqual(readFileSync(new URL(file, example)), readFileSync(new URL(file, scaffold)), file);
      else if (changed[file]) {
        const [made, own] = [scaffold, example].map((folder) => text(folder, file).split("\n").map((line) => line.replace(/,$/, "")));
        assert.deepEqual(made.filter((line) => !own.includes(line)), changed[file], file);
      }
    }
  });

  test(`example ${name} has the versions of the scaffold`, () => {
    const [made, own] = [json(scaffold, "package.json"), json(example, "package.json")].map((one) => ({ ...one.dependencies, ...one.devDependencies }));
    for (const [one, version] of Object.entries(made)) assert.equal(own[one], one in dependencies ? dependencies[one] : version, one);
  });
}

test("each scaffold says which version of what made it", () => {
  const made = Object.fromEntries(readdirSync(scaffolds).filter((file) => file.endsWith(".json")).map((file) => [file.replace(".json", ""), json(scaffolds, file)]));
  const folders = readdirSync(scaffolds, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.deepEqual(Object.keys(made).sort(), folders.sort());
  const by = Object.entries(made).map(([name, one]) => [name, one.by.replace(/@(\d+[.]\d+[.]\d+|[0-9a-f]{40})$/, "")]);
  assert.deepEqual(Object.fromEntries(by), {
    next: "create-next-app",
    "next-cache": "create-next-app",
    nuxt: "github:nuxt/starter",
    sveltekit: "sv",
    astro: "github:withastro/astro",
  });
  assert.deepEqual([made.nuxt.options, made.astro.options], [["--branch", "v4"], ["--branch", "examples/minimal"]]);
});

test("scaffold has Cache Components unless it is told otherwise", () => {
  assert.match(text(scaffolds, "next-cache/next.config.ts"), /cacheComponents: true/);
  assert.ok(json(scaffolds, "next.json").options.includes("--no-cache-components"));
});

test("both examples for Next.js differ in the files that the recipe has twice", () => {
  const differs = (file) => text(new URL("next/", examples), file) !== text(new URL("next-cache/", examples), file);
  const files = ["components", "lib", "app"].flatMap((folder) =>
    filesOf(new URL(`next/${folder}/`, examples)).map((file) => `${folder}/${file}`));
  assert.ok(files.length > 10, files.join());
  assert.deepEqual([...files, "proxy.ts", "frontend-map.d.ts", "tsconfig.json"].filter(differs).sort(), [
    "app/[locale]/(root)/page.tsx",
    "app/[locale]/[...path]/page.tsx",
    "app/missing/[locale]/page.tsx",
    "components/pages.tsx",
    "lib/map.ts",
    "lib/page.ts",
    "proxy.ts",
  ]);
});
