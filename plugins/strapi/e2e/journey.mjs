#!/usr/bin/env node
// Drives the plugin in the admin panel of a real Strapi, in headless Chromium. Environment:
// STRAPI and SERVICE (addresses), PROXY_PORT (Strapi's FRONTEND_MAP_URL leads there), FRONTEND_PORT
// (the base URL of the site `main`), PICTURES (a folder), CHROMIUM (the program), CANARIES (texts that
// no browser may see, separated by commas), DRAFT_TOKEN and VALIDATE_TOKEN (of the service), PARTS
// (names of the parts below, separated by commas). scripts/e2e_plugin.py sets them.
import { createChecks } from './checks.mjs';
import { launch } from './browser.mjs';
import { createApi } from './strapi.mjs';
import { startFrontend, startProxy } from './servers.mjs';
import { editViews, requests } from './edit-view.mjs';
import { lists } from './lists.mjs';
import { reports, sites } from './reports.mjs';
import { newRedirect } from './new-redirect.mjs';
import { roles } from './roles.mjs';
import { hostile } from './hostile.mjs';
import { failures } from './failures.mjs';
import { pictures } from './pictures.mjs';
import { editor } from './editor.mjs';
import { stored } from './stored.mjs';
import { agents } from './agents.mjs';

const { STRAPI: strapi, SERVICE, PROXY_PORT, FRONTEND_PORT, PICTURES = '.', CANARIES = '' } = process.env;
const all = {
  stored,
  editViews,
  requests,
  lists,
  reports,
  sites,
  newRedirect,
  roles,
  hostile,
  failures,
  pictures,
  agents,
  editor,
};
const parts = (process.env.PARTS ?? Object.keys(all).slice(1).join()).split(',');
const checks = createChecks();
const frontend = await startFrontend(Number(FRONTEND_PORT));
const proxy = await startProxy(Number(PROXY_PORT), SERVICE);
const browser = await launch();
const seen = [];
const api = createApi(strapi, seen);
const admin = await api.superAdmin();

// Settings as they are at first; the plugin forgets responses and failures of the service.
const reset = async (changed = {}) => {
  const shown = { panel: true, column: true, widget: true };
  const body = { url: '', site: 'main', sites: {}, parts: shown, ...changed };
  await api.must('PUT', '/frontend-map/settings', { token: admin.token, body });
};
const run = {
  ...{ strapi, browser, api, admin, seen, reset, frontend, ...checks },
  ...{ proxy: proxy.state, base: `http://127.0.0.1:${frontend.port}`, folder: PICTURES },
};

try {
  for (const name of parts) {
    const began = Date.now();
    if (name !== 'stored') await reset();
    await all[name](run).catch((error) => checks.check(`${name} runs to its end`, false, error.message));
    console.log(`${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
  }
  // The address of the service is that of the proxy; the settings page alone has it.
  for (const canary of [...CANARIES.split(','), `127.0.0.1:${PROXY_PORT}`].filter(Boolean)) {
    const found = seen.filter(
      ({ text, url }) => text.includes(canary) && !url.endsWith('/frontend-map/settings'),
    );
    const urls = found.map(({ url }) => url);
    checks.check(`no browser sees ${canary}`, !urls.length, urls);
  }
  console.log(`${seen.length} responses searched`);
} finally {
  await browser.close();
  frontend.stop();
  proxy.stop();
}
process.exit(checks.finish() ? 0 : 1);
