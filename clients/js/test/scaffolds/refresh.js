#!/usr/bin/env node
/**
 * Writes what the scaffolds of frameworks generate today into this folder: `node refresh.js [VERSION]`.
 *
 * `next/` is the output of create-next-app without Cache Components, and `next.json` says which
 * version made it, and how. Then unit tests name the files of the example that differ.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";

const [version = "latest"] = process.argv.slice(2);
const folder = fileURLToPath(new URL("next", import.meta.url));
const options = ["--yes", "--no-cache-components", "--skip-install", "--disable-git", "--no-agents-md"];
rmSync(folder, { recursive: true, force: true });
// Outside of packages, whose settings npm would read.
execFileSync("npx", ["--yes", `create-next-app@${version}`, folder, ...options], { cwd: tmpdir(), stdio: "inherit" });
const { dependencies } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
// Both packages have one version.
const made = { by: `create-next-app@${dependencies.next}`, options };
writeFileSync(new URL("next.json", import.meta.url), `${JSON.stringify(made, null, 2)}\n`);
