// An editor of a large site: a category of 3,000 pages, 7,000 problems, and redirects that are documents
// (SEED_LARGE_CATEGORY of the fixture, and the settings of `scripts/e2e_plugin.py --editor`).
import { appears, entryUrl, listUrl, openAdmin, openEntry, PANEL, textOf, violations } from './browser.mjs';
import { until } from './checks.mjs';
import { costsOf } from './costs.mjs';
import { lookAt } from './pictures.mjs';
import { resolved } from './servers.mjs';
import { ARTICLE, CATEGORY, own, READ } from './strapi.mjs';

const REDIRECT = 'api::redirect.redirect';
const PAGE = '[data-frontend-map=page]';
const WIDGET = '[data-frontend-map=widget]';
// The category of the large category, and its articles by number.
const PAGES = 3_000;
const OLD = 'large-en';
const slugOf = (number) => `large-${String(number).padStart(6, '0')}`;
// A draft, and a published article of the same category.
const DRAFT = 'article-000007';
const OWNER = 'article-000031';
const PROBLEMS = 7_000;
// Strapi itself needs 8 s to publish such a category, and far more on a busy machine.
const PATIENCE = 300_000;
// What a page may cost.
const MAX_EDIT_VIEW_REQUESTS = 2;
const MAX_WIDGET_BYTES = 20_000;

const { SERVICE } = process.env;
const resolve = (path) => resolved(SERVICE, path);

export const editor = async (run) => {
  const { browser, strapi, seen, equal, frontend } = run;
  const user = await editorOf(run);
  await waitForContent(run);
  frontend.state.resolver = SERVICE;
  const { page, errors } = await openAdmin(browser, strapi, user, { seen, bypassCSP: true });
  const draft = await checkPathConflict(run, page);
  const category = await announcesMoves(run, page);
  const miss = await misses(run, page);
  const pages = pagesOf(run, { draft, category });
  await checkLayout(run, page);
  await checkCosts(run, page, pages);
  await lookAt(run, user, pages);
  await publishes(run, page, category);
  // With the 3,000 paths that have moved.
  await checkCosts(
    run,
    page,
    pages.filter(([name]) => name === 'moves'),
  );
  await redirects(run, page, miss);
  equal('editor: no error of a script', errors, []);
  await page.context().close();
  frontend.state.resolver = null;
};

// May read and change articles, categories and redirects, and see the plugin's reports.
const editorOf = ({ api, admin }) => {
  const locales = ['en', 'de', 'fr'];
  const fields = {
    [ARTICLE]: ['title', 'slug', 'body', 'category', 'author'],
    [CATEGORY]: ['name', 'slug', 'articles'],
    [REDIRECT]: ['from', 'to', 'target', 'code', 'force'],
  };
  const actions = ['create', 'update', 'read'].map((name) => READ.replace('read', name));
  const permissions = Object.entries(fields).flatMap(([subject, names]) => {
    const localized = subject !== REDIRECT && { locales };
    return [
      ...actions.map((action) => ({ action, subject, properties: { fields: names, ...localized } })),
      { action: READ.replace('read', 'publish'), subject, properties: { ...localized } },
    ];
  });
  return api.editor(admin.token, 'large-editor', [...permissions, own('read-url'), own('read-report')]);
};

// The service has read all content.
const waitForContent = async ({ check }) => {
  const headers = {
    Accept: 'application/x-ndjson',
    Authorization: `Bearer ${process.env.VALIDATE_TOKEN}`,
  };
  const began = Date.now();
  const count = await until(async () => {
    const response = await fetch(`${SERVICE}/api/problems?site=main`, { headers });
    return response.status === 200 && JSON.parse((await response.text()).trim().split('\n').at(-1)).count;
  }, PATIENCE);
  const isKnown = await until(async () => (await resolve(`/en/${OLD}/${slugOf(PAGES)}`)).kind === 'document');
  check(`the service knows ${PROBLEMS} problems and ${PAGES} pages`, isKnown && count >= PROBLEMS, count);
  console.log(`the service has ${count} problems after ${Date.now() - began} ms`);
};

const save = async (page, field, value) => {
  await page.fill(`input[name=${field}]`, value);
  const saved = page.waitForResponse((response) => response.request().method() === 'PUT');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await saved;
};

// The path of a draft belongs to another article: the panel says so while Publish is not yet clicked.
const checkPathConflict = async ({ api, admin, strapi, check, equal }, page) => {
  const rowOf = async (slug) =>
    (await api.rows(admin.token, ARTICLE, { locale: 'en', 'filters[slug][$eq]': slug }))[0];
  const [draft, owner] = [await rowOf(DRAFT), await rowOf(OWNER)];
  const entry = entryUrl(strapi, ARTICLE, draft.documentId, 'en');
  const before = await openEntry(page, entry);
  check('clash: none at first', !before.includes('belongs to another entry'), before);
  await save(page, 'slug', OWNER);
  const warns = await until(async () => (await textOf(page)).includes('This path belongs to another entry'));
  check('clash: the panel warns before the click', warns, await textOf(page));
  check('clash: nothing is disabled', await page.getByRole('button', { name: 'Publish' }).isEnabled());
  const link = page.locator(PANEL).getByRole('link', { name: `Open “${owner.title}”, which owns the path` });
  equal('clash: a link to the owner', await link.count(), 1);
  await link.click();
  await page.waitForURL((url) => url.pathname.includes(owner.documentId));
  check('clash: the form of the owner', await appears(page.locator(`input[value="${OWNER}"]`)));
  const { data } = await api.must(
    'GET',
    `/content-manager/collection-types/${ARTICLE}/${draft.documentId}?locale=en`,
    { token: admin.token },
  );
  equal('clash: nothing was published', data.status, 'draft');
  return entry;
};

// A new slug of the category: how many pages move with it, and the first of them.
const announcesMoves = async ({ api, admin, strapi, check, equal }, page) => {
  const query = { locale: 'en', 'filters[slug][$eq]': OLD };
  const [category] = await api.rows(admin.token, CATEGORY, query);
  const entry = entryUrl(strapi, CATEGORY, category.documentId, 'en');
  await openEntry(page, entry);
  const slug = 'travel';
  await save(page, 'slug', slug);
  const words = '3,000 pages move with it and will redirect.';
  const says = await until(async () => (await textOf(page)).includes(words));
  check('moves: how many pages, and that they redirect', says, await textOf(page));
  const first = await page.locator('[data-frontend-map=moving] > li').allInnerTexts();
  equal(
    'moves: the first paths',
    first.map((text) => text.replace(/\s+/g, ' ')),
    [1, 2, 3].map((number) => `/en/${OLD}/${slugOf(number)} → /en/${slug}/${slugOf(number)}`),
  );
  return { entry, slug };
};

// Nothing of the parts is outside of what is seen, and no two texts are in one line that are not meant to.
const checkLayout = async ({ strapi, check }, page) => {
  await page.goto(`${strapi}/admin/plugins/frontend-map?tab=misses`);
  const cell = page.locator(`${PAGE} tbody td:has(a[href*="${ARTICLE}"])`);
  const link = await cell.locator('a').boundingBox();
  const reason = await cell.getByText('The same page name in another place').boundingBox();
  check('misses: the reason is below the suggestion', reason.y >= link.y + link.height - 1, { link, reason });

  await page.goto(`${strapi}/admin`);
  await page.locator(WIDGET).waitFor();
  const heights = await page.locator(`main:has(> ${WIDGET})`).evaluate((box) => {
    return { seen: box.clientHeight, all: box.scrollHeight };
  });
  check('widget: all of it is seen', heights.all <= heights.seen, heights);

  await page.goto(listUrl(strapi, ARTICLE, 'en', 'page=1&pageSize=10'));
  const path = page.locator('[data-frontend-map=url] a').first();
  await path.waitFor();
  const places = await path.evaluate((anchor, text) => {
    const walker = document.createTreeWalker(anchor, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && !walker.currentNode.data.includes(text));
    const end = document.createRange();
    end.setStart(walker.currentNode, walker.currentNode.data.length - 1);
    end.setEnd(walker.currentNode, walker.currentNode.data.length);
    const box = walker.currentNode.parentElement.closest('span').getBoundingClientRect();
    return { right: end.getBoundingClientRect().right, edge: box.right };
  }, 'large-0');
  check('list: the end of a path is seen', places.right <= places.edge + 1, places);
};

// She publishes: each of the old paths redirects, and a visitor arrives.
const publishes = async ({ check, equal, base }, page, { entry, slug }) => {
  await openEntry(page, entry);
  const isPublish = (response) => response.url().includes('/actions/publish');
  const published = page.waitForResponse(isPublish, { timeout: PATIENCE });
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1000).toFixed(1);
  await page.getByRole('button', { name: 'Publish' }).click();
  equal('publish: the status', (await published).status(), 200);
  const inStrapi = seconds();
  const isMoved = async (number) => {
    const { kind, redirect } = await resolve(`/en/${OLD}/${slugOf(number)}`);
    return kind === 'redirect' && redirect.path === `/en/${slug}/${slugOf(number)}`;
  };
  const redirects = await until(() => isMoved(1), PATIENCE);
  check('publish: an old path redirects', redirects, await resolve(`/en/${OLD}/${slugOf(1)}`));
  const first = seconds();
  const left = new Set(Array.from({ length: PAGES }, (_, at) => at + 1));
  await until(async () => {
    for (const number of left) {
      if (!(await isMoved(number))) return false;
      left.delete(number);
    }
    return true;
  }, PATIENCE);
  equal(`publish: all ${PAGES} old paths redirect`, left.size, 0);
  console.log(
    `after the click on Publish: Strapi responds in ${inStrapi} s, the first old path redirects in ${first} s, ` +
      `the last is known to in ${seconds()} s`,
  );
  await checkVisit(page, `${base}/en/${OLD}/${slugOf(2)}`, `${base}/en/${slug}/${slugOf(2)}`, { equal });
};

const checkVisit = async (page, url, arrives, { equal }) => {
  const visitor = await page.context().newPage();
  const response = await visitor.goto(url);
  equal(`a visitor of ${url}`, [visitor.url(), response.status()], [arrives, 200]);
  await visitor.close();
};

// Visitors ask three times for a path without a page, and once for another one.
const misses = async ({ strapi, base, check, equal }, page) => {
  const path = `/en/old-travel/${slugOf(5)}`;
  const visitor = await page.context().newPage();
  for (const missed of [path, path, path, '/en/no/such/page']) {
    equal(`no page at ${missed}`, (await visitor.goto(base + missed)).status(), 404);
  }
  await visitor.close();
  const row = page.locator(`${PAGE} tbody tr`).filter({ hasText: path });
  const isListed = await until(async () => {
    await page.goto(`${strapi}/admin/plugins/frontend-map?tab=misses`);
    await page.locator(`${PAGE} [role=status]`).first().waitFor();
    return (await row.count()) === 1;
  });
  check('misses: the path is listed', isListed, await textOf(page, PAGE));
  const cells = await row.locator('td').allInnerTexts();
  equal('misses: how often', cells[1], '3');
  const suggestion = cells[4].replace(/\s+/g, ' ');
  equal('misses: the suggestion', suggestion, `/en/${OLD}/${slugOf(5)} The same page name in another place`);
  return { path, row };
};

// From the row she makes a redirect, which ends it.
const redirects = async ({ strapi, base, check, equal }, page, { path, row }) => {
  await page.goto(`${strapi}/admin/plugins/frontend-map?tab=misses`);
  await row.waitFor();
  const to = `/en/travel/${slugOf(5)}`;
  await row.getByRole('link', { name: `Create redirect from ${path}` }).click();
  await page.waitForURL((url) => url.pathname.endsWith(`/${REDIRECT}/create`));
  const valueOf = (field) => page.inputValue(`input[name=${field}]`);
  await until(async () => (await valueOf('to')) === to, 10_000);
  equal('redirects: the form is filled in', [await valueOf('from'), await valueOf('to')], [path, to]);
  const published = page.waitForResponse((response) => response.url().includes('/actions/publish'));
  await page.getByRole('button', { name: 'Publish' }).click();
  check('redirects: the entry is published', (await published).ok());
  const began = Date.now();
  const isRedirected = await until(async () => (await resolve(path)).kind === 'redirect');
  check('redirects: the service follows the entry', isRedirected, await resolve(path));
  console.log(`the new entry redirects after ${Date.now() - began} ms`);
  await checkVisit(page, base + path, base + to, { equal });
  const isGone = await until(async () => {
    await page.goto(`${strapi}/admin/plugins/frontend-map?tab=misses`);
    await page.locator(`${PAGE} [role=status]`).first().waitFor();
    return (await row.count()) === 0;
  });
  check('redirects: the row disappears', isGone, await textOf(page, PAGE));
};

const pagesOf = ({ strapi }, { draft, category }) => {
  const tab = (query) => `${strapi}/admin/plugins/frontend-map?${query}`;
  return [
    ['home', `${strapi}/admin`, WIDGET],
    ['problems', tab(''), `${PAGE}:has(table)`],
    ['entries', tab('view=entries'), `${PAGE}:has(table)`],
    ['checks', tab('tab=checks'), PAGE],
    ['moves', tab('tab=moves'), `${PAGE}:has([role=status])`],
    ['misses', tab('tab=misses'), `${PAGE}:has(table)`],
    ['edit-view-clash', draft, PANEL],
    ['edit-view-category', category.entry, PANEL],
    ['list', listUrl(strapi, ARTICLE, 'en', 'page=1&pageSize=100'), '[data-frontend-map=url]'],
  ];
};

const checkCosts = async (run, page, pages) => {
  const { check } = run;
  const costs = await costsOf(run, page, pages);
  for (const { name, requests, bytes } of costs) {
    if (name.startsWith('edit-view')) {
      const fits = requests <= MAX_EDIT_VIEW_REQUESTS;
      check(`${name}: at most ${MAX_EDIT_VIEW_REQUESTS} requests`, fits, requests);
    }
    if (name === 'home') check(`widget: at most ${MAX_WIDGET_BYTES} bytes`, bytes <= MAX_WIDGET_BYTES, bytes);
  }
};
