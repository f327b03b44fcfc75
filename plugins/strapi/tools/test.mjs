#!/usr/bin/env node
// Bundles test/**/*.test.ts, and runs the result with the test runner of Node, which does not read
// TypeScript in all versions that Strapi supports.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folders = ['test/server', 'test/admin'];
const entryPoints = folders.flatMap((folder) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(root, folder, name)),
);
const outdir = join(root, '.test');
rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints,
  outdir,
  outbase: join(root, 'test'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  packages: 'external',
  outExtension: { '.js': '.mjs' },
  logLevel: 'warning',
});
const tests = folders.flatMap((folder) =>
  readdirSync(join(outdir, folder.slice('test/'.length)), { withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.test.mjs'))
    .map((entry) => join(outdir, folder.slice('test/'.length), entry.name)),
);
// A test that fails leaves its peer open, and one that waits for a state may never see it: neither may
// keep the process alive.
const options = ['--test', '--test-force-exit', '--test-timeout=120000'];
process.exit(spawnSync(process.execPath, [...options, ...tests], { stdio: 'inherit' }).status ?? 1);
