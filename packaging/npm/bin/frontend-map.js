#!/usr/bin/env node
// Starts the binary of this platform, from the optional package that npm has installed for it.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { name, version, optionalDependencies } = require("../package.json");

const platform = `${process.platform}-${process.arch}`;
const own = `@${name}/${platform}`;

function fail(message) {
  process.stderr.write(`${name}: ${message}\n`);
  process.exit(1);
}

function binary() {
  if (process.env.FRONTEND_MAP_BINARY) return process.env.FRONTEND_MAP_BINARY;
  const packages = Object.keys(optionalDependencies);
  if (!packages.includes(own)) {
    const platforms = packages.map((one) => one.split("/")[1]).join(", ");
    fail(
      `there is no binary for ${platform}, only for ${platforms}. ` +
        "On Windows, run it in WSL. Elsewhere, build it from source (docs/install.md) and " +
        "name the binary in the environment variable FRONTEND_MAP_BINARY.",
    );
  }
  try {
    return require.resolve(`${own}/frontend-map`);
  } catch {
    return fail(
      `the package ${own} with the binary is not installed. Packages may have been installed ` +
        "without optional ones, on another platform, or from a lock file of another platform. " +
        `Install them again with optional ones, or run: npm install ${own}@${version}`,
    );
  }
}

const file = binary();
const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (error) => fail(`${file} cannot be started: ${error.message}`));

// A terminal sends SIGINT to the child as well, and a second one would end it at once.
const forwarded = ["SIGTERM", "SIGHUP", ...(process.stdin.isTTY ? [] : ["SIGINT"])];
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
  process.on(signal, () => forwarded.includes(signal) && child.kill(signal));
}
child.on("exit", (status, signal) => {
  process.exitCode = signal ? 128 + constants.signals[signal] : status;
});
