import { join } from 'node:path';
import { appears, entryUrl, listUrl, openAdmin, PANEL, textOf, violations } from './browser.mjs';
import { until } from './checks.mjs';
import { ARTICLE } from './strapi.mjs';

const WORDS = {
  html: 'The address does not lead to frontend-map.',
  redirect: 'The address redirects.',
  closed: 'frontend-map cannot be reached at present.',
  silent: 'frontend-map did not respond in time.',
};
const PLACES = ['entry', 'list', 'page', 'home'];

export const failures = async ({ api, admin, browser, strapi, seen, check, equal, proxy, reset, folder }) => {
  const [article] = await api.rows(admin.token, ARTICLE, { pageSize: 1, locale: 'en', status: 'published' });
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen, bypassCSP: true });
  const places = {
    entry: entryUrl(strapi, ARTICLE, article.documentId, 'en'),
    list: listUrl(strapi, ARTICLE, 'en', 'pageSize=10'),
    page: `${strapi}/admin/plugins/frontend-map`,
    home: `${strapi}/admin`,
  };
  // What Strapi itself shows there.
  const ready = {
    entry: page.locator('input[name=slug]'),
    list: page.locator('tbody tr'),
    page: page.getByRole('heading', { name: 'Frontend Map' }),
    home: page.getByText('Problems of the site'),
  };
  for (const [failure, words] of Object.entries(WORDS)) {
    proxy.failure = failure;
    await page.goto(`${strapi}/admin/settings/frontend-map`);
    await page.getByRole('button', { name: 'Test connection' }).click();
    await page.locator('[data-frontend-map=test] li').first().waitFor();
    const text = await textOf(page, '[data-frontend-map=test]');
    check(`settings test: ${failure}`, text.includes(words), text);
    // The reports wait for ten seconds.
    for (const place of failure === 'silent' ? ['entry', 'list'] : PLACES) {
      // A circuit breaker that is open after the place before would say that the service is away.
      proxy.failure = null;
      await reset();
      proxy.failure = failure;
      await page.goto(places[place]);
      check(`${failure}: ${place}: Strapi's own part`, await appears(ready[place]));
      check(
        `${failure}: ${place}: the words`,
        await appears(page.getByText(words)),
        await textOf(page, 'body'),
      );
    }
  }
  proxy.failure = null;
  await reset();
  await recovery({ check, proxy, reset }, page, places.entry);
  await withoutPreview({ check, equal, proxy, reset, folder }, page, places.entry);
  await olderVersion({ strapi, check, proxy, reset }, page, places);
  equal('failures: no error of a script', errors, []);
  await page.context().close();
};

// A panel that lost the service: it tries again by itself, and by a button, without a reload.
const recovery = async ({ check, proxy, reset }, page, entry) => {
  const lost = page.getByText(WORDS.closed);
  const shown = page.locator('[data-frontend-map=panel]');
  const button = page.getByRole('button', { name: 'Try again' });
  proxy.failure = 'closed';
  await page.goto(entry);
  check('recovery: the service is away', await appears(lost));
  proxy.failure = null;
  check('recovery: by itself', await appears(shown));
  proxy.failure = 'closed';
  await reset();
  await page.goto(entry);
  check('recovery: the service is away again', await appears(button));
  proxy.failure = null;
  await button.click();
  check('recovery: by the button', await appears(shown));
};

// A preview that does not come: the panel does not look as if publishing changed nothing.
const withoutPreview = async ({ check, equal, proxy, reset, folder }, page, entry) => {
  const note = page.getByText('What publishing would change is not known at present.');
  proxy.busy = ['/api/publish-preview'];
  await reset();
  await page.goto(entry);
  check('without a preview: the panel says so', await appears(note), await textOf(page));
  check(
    'without a preview: the live page',
    await appears(page.getByRole('link', { name: 'Open live page' })),
  );
  await page.screenshot({ path: join(folder, 'without-preview.png') });
  equal('axe: without a preview', await violations(page, PANEL), []);
  proxy.busy = [];
  check('without a preview: by itself', await until(async () => (await note.count()) === 0));
};

// A service in which some routes are missing.
const olderVersion = async ({ strapi, check, proxy, reset }, page, places) => {
  const words = 'This version of frontend-map is too old for this.';
  proxy.missing = ['/api/document', '/api/validations', '/api/frontend-url', '/api/problems'];
  for (const place of PLACES) {
    await reset();
    await page.goto(places[place]);
    check(`older version: ${place}`, await appears(page.getByText(words)), await textOf(page, 'body'));
  }
  await page.goto(`${strapi}/admin/settings/frontend-map`);
  await page.getByRole('button', { name: 'Test connection' }).click();
  check('older version: settings test', await appears(page.getByText(words)));
  proxy.missing = [];
  await reset();
};
