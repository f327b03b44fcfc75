#!/usr/bin/env node
// Links the peers of this package from an installed Strapi project, so that types and tests find
// them without a second installation: the argument, LAB_DIR, or ~/.cache/strapi-lab.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const own = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');
const folder = process.argv[2] ?? process.env.LAB_DIR ?? join(homedir(), '.cache/strapi-lab');
const project = resolve(folder, 'node_modules');
if (!existsSync(join(project, '@strapi/strapi'))) {
  console.error(
    `there is no Strapi in ${project}: name a Strapi project, or run tests/strapi/start.sh install`,
  );
  process.exit(2);
}
const scoped = readdirSync(join(project, '@strapi')).map((name) => `@strapi/${name}`);
const others = ['react', 'react-dom', 'react-intl', 'react-router-dom', 'styled-components'];
const types = ['@types/react', '@types/koa', '@types/node'];
for (const name of [...scoped, ...others, ...types]) {
  const link = join(own, name);
  if (name === '@strapi/sdk-plugin' || !existsSync(join(project, name))) continue;
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { recursive: true, force: true });
  symlinkSync(join(project, name), link, 'dir');
}
