#!/usr/bin/env node
/**
 * Writes what the scaffolds of frameworks generate today into this folder: `node refresh.js [NAME…]`.
 *
 * `NAME/` is the output of a scaffold, and `NAME.json` says which version made it, and how. Then unit
 * tests name the files of the example that differ.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const NEXT = ["--yes", "--skip-install", "--disable-git", "--no-agents-md"];
const SCAFFOLDS = {
  next: { by: "create-next-app", options: [...NEXT, "--no-cache-components"] },
  "next-cache": { by: "create-next-app", options: NEXT },
  nuxt: {
    by: "create-nuxt",
    options: ["--template", "minimal", "--packageManager", "npm", "--no-install", "--gitInit=false", "--no-modules"],
  },
  sveltekit: { by: "sv", command: ["create"], options: ["--template", "minimal", "--types", "ts", "--no-add-ons", "--no-install"] },
};

for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(SCAFFOLDS)) {
  const { by, command = [], options } = SCAFFOLDS[name];
  const version = JSON.parse(execFileSync("npm", ["view", by, "version", "--json"], { encoding: "utf8" }));
  const folder = fileURLToPath(new URL(name, import.meta.url));
  // Outside of packages, whose settings npm would read; the name of the folder is that of the package.
  const empty = mkdtempSync(join(tmpdir(), "scaffold-"));
  // Nor with what an earlier run has chosen.
  const env = { ...process.env, XDG_CONFIG_HOME: empty };
  execFileSync("npx", ["--yes", `${by}@${version}`, ...command, "site", ...options], { cwd: empty, env, stdio: "inherit" });
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(empty, "site"), folder, { recursive: true });
  rmSync(empty, { recursive: true });
  writeFileSync(`${folder}.json`, `${JSON.stringify({ by: `${by}@${version}`, options }, null, 2)}\n`);
}
