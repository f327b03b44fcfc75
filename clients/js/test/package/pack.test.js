/** What `npm pack` would publish. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { build } from "esbuild";
import { errorsOf } from "../support/compile.js";

const folder = fileURLToPath(new URL("../../", import.meta.url));
const manifest = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
/** Of an entry with all that it imports, minified and compressed. */
const MAX_ENTRY_BYTES = 8 * 1_024;

const MODULES = [
  "adapters/astro",
  "adapters/h3",
  "adapters/language",
  "adapters/next",
  "adapters/next_cache",
  "adapters/next_pages",
  "adapters/next_request",
  "adapters/next_revalidate",
  "adapters/nuxt",
  "adapters/page_request",
  "adapters/redirect",
  "adapters/sitemap_file",
  "adapters/sveltekit",
  "changes",
  "client",
  "error",
  "http/abort",
  "http/body",
  "http/deadline",
  "http/failure",
  "http/hangs",
  "http/last_good",
  "http/plain",
  "http/reads",
  "http/transport",
  "http/workers",
  "index",
  "links",
  "load/load",
  "load/strapi",
  "openapi",
  "options",
  "pages/left_out",
  "pages/ndjson",
  "pages/pages",
  "pages/static_params",
  "pathname",
  "resolve",
  "sitemap",
  "types",
  "urls",
  "webhook",
];

const run = (command, ...options) =>
  execFileSync(`${folder}node_modules/.bin/${command}`, options, { cwd: folder, encoding: "utf8" });

test("package has the built modules, their types, licenses and README", () => {
  const [{ files }] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json"], { cwd: folder, encoding: "utf8" }));
  const modules = MODULES.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`, `dist/${name}.js.map`]);
  const expected = ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "package.json", ...modules];
  assert.deepEqual(files.map(({ path }) => path).sort(), expected.sort());
});

test("source maps have the sources, which the package does not", () => {
  for (const name of MODULES) {
    assert.match(readFileSync(`${folder}dist/${name}.js`, "utf8"), new RegExp(`sourceMappingURL=${name.split("/").at(-1)}\\.js\\.map`), name);
    const { sources, sourcesContent } = JSON.parse(readFileSync(`${folder}dist/${name}.js.map`, "utf8"));
    const source = new URL(sources[0], `file://${folder}dist/${name}.js.map`);
    assert.deepEqual(sourcesContent, [readFileSync(source, "utf8")], name);
  }
});

test("CommonJS requires each entry, with its types", () => {
  const entries = Object.keys(manifest.exports).filter((name) => !name.endsWith(".json"));
  const names = entries.map((name) => JSON.stringify(`frontend-map-client${name.slice(1)}`));
  const script = `for (const name of [${names}]) if (Object.keys(require(name)).length === 0) throw new Error(name);`;
  execFileSync(process.execPath, ["--input-type=commonjs", "--eval", script], { cwd: folder, stdio: "pipe" });
  assert.deepEqual(errorsOf(["commonjs.cts"]), []);
});

test("package has no dependency and is ESM only", () => {
  assert.deepEqual([manifest.dependencies, manifest.peerDependencies, manifest.type], [undefined, undefined, "module"]);
});

test("licenses are those of the repository", () => {
  for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) {
    assert.equal(readFileSync(`${folder}${name}`, "utf8"), readFileSync(`${folder}../../${name}`, "utf8"));
  }
});

test("lock files name no registry, of the client, of each example and of tests", () => {
  const examples = readdirSync(`${folder}examples`).map((name) => `examples/${name}/`);
  const locked = ["", ...examples, "test/generated/", "test/runtimes/"].filter((name) => existsSync(`${folder}${name}package.json`));
  assert.ok(locked.length > 8, locked.join());
  for (const name of locked) {
    assert.doesNotMatch(readFileSync(`${folder}${name}package-lock.json`, "utf8"), /"resolved": (?!"(file:|\.\.\/))/, name);
  }
});

test("adapters import nothing but the client", () => {
  const adapters = MODULES.filter((name) => name.startsWith("adapters/"));
  assert.ok(adapters.length > 4);
  for (const name of adapters) assert.doesNotMatch(readFileSync(`${folder}src/${name}.ts`, "utf8"), /from "(?!\.)/, name);
});

test("publint finds nothing", () => {
  assert.match(run("publint", "--strict"), /All good!/);
});

test("types are found by each way to import an ES module", () => {
  run("attw", "--pack", ".", "--profile", "esm-only", "--no-emoji");
});

for (const [name, { default: path }] of Object.entries(manifest.exports).filter(([, entry]) => entry.default)) {
  test(`entry ${name} has at most ${MAX_ENTRY_BYTES} bytes, imports nothing and runs in a browser`, async (t) => {
    const result = await build({
      entryPoints: [`${folder}${path}`],
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      write: false,
      logLevel: "silent",
    });
    const { gzipSync } = await import("node:zlib");
    const { length } = gzipSync(result.outputFiles[0].contents, { level: 9 });
    t.diagnostic(`${length} bytes`);
    assert.ok(length <= MAX_ENTRY_BYTES, `${length} bytes`);
  });
}
