#!/usr/bin/env node
/**
 * Writes what the scaffolds of frameworks generate today into this folder: `node refresh.js [NAME…]`.
 *
 * `NAME/` is the output of a scaffold, and `NAME.json` says which version made it, and how. Then unit
 * tests name the files of the example that differ.
 *
 * `create-next-app` and `sv` have their templates in their packages. `create-nuxt` and `create-astro`
 * download a branch of a repository; this script takes the branch from there itself, so that the commit
 * is known.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const NEXT = ["--yes", "--skip-install", "--disable-git", "--no-agents-md"];
const SCAFFOLDS = {
  next: { by: "create-next-app", options: [...NEXT, "--no-cache-components"] },
  "next-cache": { by: "create-next-app", options: NEXT },
  nuxt: { template: "nuxt/starter", branch: "v4" },
  sveltekit: { by: "sv", command: ["create"], options: ["--template", "minimal", "--types", "ts", "--no-add-ons", "--no-install"] },
  astro: { template: "withastro/astro", branch: "examples/minimal" },
};

/** Lets the scaffold write `site` into a folder; how it is called. */
function scaffold(empty, { by, command = [], options }) {
  const version = JSON.parse(execFileSync("npm", ["view", by, "version", "--json"], { encoding: "utf8" }));
  // Nor with what an earlier run has chosen.
  const env = { ...process.env, XDG_CONFIG_HOME: empty };
  execFileSync("npx", ["--yes", `${by}@${version}`, ...command, "site", ...options], { cwd: empty, env, stdio: "inherit" });
  return { by: `${by}@${version}`, options };
}

/** What the commands of Nuxt and Astro do with their templates, but for the README. */
function download(empty, { template, branch }) {
  const git = (...args) => execFileSync("git", args, { cwd: empty, encoding: "utf8" });
  git("clone", "--quiet", "--depth", "1", "--branch", branch, `https://github.com/${template}`, "site");
  const commit = git("-C", "site", "rev-parse", "HEAD").trim();
  // The last one is for an editor in the browser.
  for (const folder of [".git", ".codesandbox"]) rmSync(join(empty, "site", folder), { recursive: true, force: true });
  const settings = join(empty, "site/package.json");
  writeFileSync(settings, readFileSync(settings, "utf8").replace(/"name": "[^"]*"/, '"name": "site"'));
  return { by: `github:${template}@${commit}`, options: ["--branch", branch] };
}

for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SCAFFOLDS)) {
  const folder = fileURLToPath(new URL(name, import.meta.url));
  // Outside of packages, whose settings npm would read; the name of the folder is that of the package.
  const empty = mkdtempSync(join(tmpdir(), "scaffold-"));
  const how = SCAFFOLDS[name];
  const made = how.template ? download(empty, how) : scaffold(empty, how);
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(empty, "site"), folder, { recursive: true });
  rmSync(empty, { recursive: true });
  writeFileSync(`${folder}.json`, `${JSON.stringify(made, null, 2)}\n`);
}
