#!/usr/bin/env node
/**
 * Starts the service with the demo's content, and an example in front of it, until Ctrl-C.
 *
 *   npm run demo [-- --port 3000] [--binary FILE]     in the folder of an example
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Example, PREVIEW_SECRET } from "./example.js";
import { freePort, run } from "./process.js";
import { Service } from "./service.js";

const { values: options } = parseArgs({
  options: {
    port: { type: "string", default: "3000" },
    binary: { type: "string", default: process.env.FRONTEND_MAP_BINARY ?? built() },
  },
});
if (!options.binary) {
  console.error("The service is missing: `cargo build` in the repository, or set FRONTEND_MAP_BINARY.");
  process.exit(2);
}
const client = fileURLToPath(new URL("../../", import.meta.url));
const example = new Example(basename(process.cwd()));
const service = new Service(options.binary, await freePort());
let end;
const ended = new Promise((resolve) => (end = resolve));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end);
try {
  if (!existsSync(`${client}dist`)) {
    await step("installing and building the client", () => run(["npm", "ci", "--no-audit", "--no-fund"], { cwd: client }));
    await run(["npm", "run", "build"], { cwd: client });
  }
  if (!existsSync(`${example.folder}node_modules`)) await step("installing", () => example.install());
  await example.locate(options.port);
  await service.start({ site: example.url, webhook: example.webhook });
  await step("building the site", () => example.build({ service: service.url }));
  await example.start({ service: service.url });
  console.log(`\n${example.url}    the service: ${service.url}`);
  if (example.checks.includes("drafts")) {
    const query = new URLSearchParams({ secret: PREVIEW_SECRET, path: "/en/articles/welcome-back" });
    console.log(`a draft: ${example.url}/api/preview?${query}`);
  }
  await ended;
} finally {
  await example.stop();
  await service.stop();
}

/** The binary that cargo has built last. */
function built() {
  const target = process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../../../target", import.meta.url));
  return ["dist", "release", "debug"].map((profile) => `${target}/${profile}/frontend-map`).find((file) => existsSync(file));
}

function step(what, call) {
  console.log(`${what} …`);
  return call();
}
