// The launcher beside the real binary, which FRONTEND_MAP_BINARY names: node --test packaging/npm/test
"use strict";

const assert = require("node:assert/strict");
const { spawn, spawnSync } = require("node:child_process");
const { once } = require("node:events");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { createInterface } = require("node:readline");
const { test } = require("node:test");

const launcher = join(__dirname, "../bin/frontend-map.js");
const binary = process.env.FRONTEND_MAP_BINARY;
assert.ok(binary, "FRONTEND_MAP_BINARY is not set");

/** Runs the launcher to its end; without a variable, it looks for the package of its platform. */
function run(args, variable, node = []) {
  const env = { ...process.env, FRONTEND_MAP_BINARY: variable };
  if (!variable) delete env.FRONTEND_MAP_BINARY;
  return spawnSync(process.execPath, [...node, launcher, ...args], { env, encoding: "utf8" });
}

/** Node.js options that make a platform of this one. */
function on(platform, arch) {
  const code = `Object.defineProperty(process, "platform", { value: "${platform}" });
    Object.defineProperty(process, "arch", { value: "${arch}" });`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}


test("arguments, output and exit status are those of the binary", () => {
  assert.match(run(["--version"], binary).stdout, /^frontend-map \d+\.\d+\.\d+\n$/);
  const refused = run(["--config", "/nonexistent.toml", "check"], binary);
  assert.equal(refused.status, 78);
  assert.match(refused.stderr, /nonexistent\.toml/);
});

test("a platform without a binary is named, with those that have one", () => {
  const { status, stderr } = run(["demo"], undefined, on("win32", "x64"));
  assert.equal(status, 1);
  assert.match(stderr, /no binary for win32-x64, only for darwin-arm64, .*linux-x64/);
  assert.match(stderr, /WSL/);
  assert.match(stderr, /FRONTEND_MAP_BINARY/);
});

test("a package that is not installed is named, with the command that installs it", () => {
  const { status, stderr } = run(["demo"], undefined, on("linux", "arm64"));
  assert.equal(status, 1);
  assert.match(stderr, /npm install @frontend-map\/linux-arm64@/);
});

test("a binary that cannot be started is named", () => {
  const { status, stderr } = run(["demo"], "/nonexistent/frontend-map");
  assert.equal(status, 1);
  assert.match(stderr, /\/nonexistent\/frontend-map cannot be started/);
});

/** A demo through the launcher, once it serves; on ports that are free. */
async function demo() {
  const child = spawn(process.execPath, [launcher, "demo"], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(child.stdout)) if (line.includes("service ")) break;
  return child;
}

for (const signal of ["SIGTERM", "SIGINT"]) {
  test(`${signal} ends the service and the launcher, whose status is the service's`, async () => {
    const child = await demo();
    child.kill(signal);
    const [status] = await once(child, "exit");
    assert.equal(status, 0);
  });
}
