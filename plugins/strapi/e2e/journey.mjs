#!/usr/bin/env node
// Drives the plugin in the admin panel of a real Strapi, in headless Chromium. Environment:
// STRAPI and SERVICE (addresses), PROXY_PORT (Strapi's FRONTEND_MAP_URL leads there), FRONTEND_PORT
// (the base URL of the site `main`), PICTURES (a folder), CHROMIUM (the program), CANARIES (texts that
// no browser may see, separated by commas), ONLY (names of parts). scripts/e2e_plugin.py sets them.
import { createChecks } from './checks.mjs';
import { launch } from './browser.mjs';
import { createApi } from './strapi.mjs';
import { startFrontend, startProxy } from './servers.mjs';
import { editViews } from './edit-view.mjs';
import { lists } from './lists.mjs';
import { reports } from './reports.mjs';
import { roles } from './roles.mjs';
import { failures } from './failures.mjs';
import { pictures } from './pictures.mjs';

const {
  STRAPI: strapi,
  SERVICE,
  PROXY_PORT,
  FRONTEND_PORT,
  PICTURES = '.',
  CANARIES = '',
  ONLY,
} = process.env;
const checks = createChecks();
const frontend = await startFrontend(Number(FRONTEND_PORT));
const proxy = await startProxy(Number(PROXY_PORT), SERVICE);
const browser = await launch();
const api = createApi(strapi);
const admin = await api.superAdmin();
const seen = [];
const base = `http://127.0.0.1:${frontend.port}`;
const run = { strapi, base, browser, api, admin, seen, proxy: proxy.state, folder: PICTURES, ...checks };

const settings = { url: '', site: 'main', sites: {}, parts: { panel: true, column: true, widget: true } };
await api.must('PUT', '/frontend-map/settings', { token: admin.token, body: settings });

try {
  for (const part of [editViews, lists, reports, roles, failures, pictures]) {
    if (ONLY && !ONLY.split(',').includes(part.name)) continue;
    const began = Date.now();
    await part(run).catch((error) => checks.check(`${part.name} runs to its end`, false, error.message));
    console.log(`${part.name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
  }
  // The address of the service is that of the proxy.
  for (const canary of [...CANARIES.split(','), `127.0.0.1:${PROXY_PORT}`].filter(Boolean)) {
    const found = seen.filter(
      ({ text, url }) => text.includes(canary) && !url.endsWith('/frontend-map/settings'),
    );
    checks.check(
      `no browser sees ${canary}`,
      !found.length,
      found.map(({ url }) => url),
    );
  }
  console.log(`${seen.length} responses searched`);
} finally {
  await browser.close();
  frontend.stop();
  proxy.stop();
}
process.exit(checks.finish() ? 0 : 1);
