// From a path that visitors could not find to a redirect, on the site `second`.
import { join } from 'node:path';
import { listUrl, openAdmin, textOf, violations, visit } from './browser.mjs';
import { until } from './checks.mjs';
import { ARTICLE, own, READ } from './strapi.mjs';

const REDIRECT = 'api::redirect.redirect';
const PAGE = '[data-frontend-map=page]';
const MISSES = '/admin/plugins/frontend-map?tab=misses';
const { SERVICE, VALIDATE_TOKEN } = process.env;

// Paths that no redirect can have, and one of scanners.
const WITHOUT = ['/en/a%2Fb', '/en/x%2Ay', '/.env'];
const UMLAUT = '/de/%C3%BCber%20uns%3F';

const LOOKS = [
  { theme: 'light', width: 1280 },
  { theme: 'dark', width: 1280 },
  { theme: 'light', width: 800, language: 'de' },
  { theme: 'dark', width: 800, language: 'de' },
];

const headers = { Authorization: `Bearer ${VALIDATE_TOKEN}` };
const get = async (path) => (await fetch(SERVICE + path, { headers })).json();
const resolved = async (path) =>
  (await get(`/api/resolve?site=second&pathname=${encodeURIComponent(path)}`)).data;

export const newRedirect = async (run) => {
  const { admin, browser, strapi, seen, check, equal, reset } = run;
  await reset({ site: 'second' });
  const { misspelt, meant } = await makeMisses(run);
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen, bypassCSP: true });
  await openMisses(run, page);
  const names = await linksOf(page).evaluateAll((links) => links.map((link) => link.ariaLabel));
  equal('misses: a redirect for each path that can have one', names, [
    `Create redirect from ${misspelt}`,
    'Create redirect from /de/über%20uns%3F',
  ]);
  const rows = await page.locator(`${PAGE} tbody tr`).count();
  equal('misses: no redirect for the others', rows - names.length, WITHOUT.length);

  await looks(run);
  await filled(run, page, { misspelt, meant });
  await published(run, page, { path: misspelt, meant });

  // Strapi writes the address again with the locale of the last list.
  await page.goto(listUrl(strapi, ARTICLE, 'de'));
  await page.locator('tbody tr').first().waitFor();
  await openMisses(run, page);
  await linksOf(page).first().click();
  await page.waitForURL((url) => url.searchParams.get('plugins[i18n][locale]') === 'de');
  await formHas(run, page, 'without a suggestion', { from: '/de/über%20uns%3F', to: '' });
  await page.fill('input[name=to]', meant);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.waitForURL((url) => !url.pathname.endsWith('/create'));
  await published(run, page, { path: UMLAUT, meant });

  await visit(page, `${strapi}/admin/content-manager/collection-types/${REDIRECT}/create`);
  await formHas(run, page, 'without a click', { from: '', to: '' });
  equal('new redirect: no error of a script', errors, []);
  await page.context().close();
  await permitted(run);
  const deleted = await until(async () => !(await deleteRedirects(run)));
  check('no redirect is left', deleted);
  await reset();
};

const linksOf = (page) => page.locator(`${PAGE} tbody a[href*="/create?"]`);

const openMisses = async ({ strapi }, page) => {
  await page.goto(strapi + MISSES);
  await page.locator(`${PAGE} table tbody tr`).first().waitFor();
};

// A published article whose last segment is misspelt, which the service suggests, and other paths.
const makeMisses = async ({ check }) => {
  const articles = async () => (await get('/api/pages?site=second')).data?.pages ?? [];
  const found = await until(async () => (await articles()).find(({ path }) => /\/article-\d+$/.test(path)));
  const meant = found.path;
  const misspelt = meant.replace('/article-', '/Article-');
  const isMissing = async (path) => (await resolved(path)) === null;
  // Until all redirects are known, the service does not say that a path has no page.
  check('the site knows its redirects', await until(() => isMissing('/unknown')), meant);
  await fetch(`${SERVICE}/api/misses?site=second`, { method: 'DELETE', headers });
  for (const path of [misspelt, misspelt, misspelt, UMLAUT, UMLAUT, ...WITHOUT]) {
    check(`${path} has no page`, ['none', undefined].includes((await resolved(path))?.kind));
  }
  return { misspelt, meant };
};

const formHas = async ({ equal }, page, name, expected) => {
  const valueOf = (field) => page.inputValue(`input[name=${field}]`);
  await page.locator('input[name=from]').waitFor();
  const values = async () => ({ from: await valueOf('from'), to: await valueOf('to') });
  const isFilled = async () => JSON.stringify(await values()) === JSON.stringify(expected);
  await until(isFilled, 10_000);
  equal(`form: ${name}`, await values(), expected);
};

// By keyboard, with the target that is suggested. Nothing is created before the editor saves.
const filled = async (run, page, { misspelt, meant }) => {
  const { api, admin, equal } = run;
  const link = page.getByRole('link', { name: `Create redirect from ${misspelt}` });
  await link.focus();
  await page.keyboard.press('Enter');
  await formHas(run, page, 'from and to', { from: misspelt, to: meant });
  equal('form: the title', await page.locator('h1').innerText(), 'Create an entry');
  equal('nothing is created', await api.rows(admin.token, REDIRECT, {}), []);
  await page.fill('input[name=to]', '');
  await formHas(run, page, 'what the editor empties stays empty', { from: misspelt, to: '' });
  await page.fill('input[name=to]', meant);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await formHas(run, other, 'the address in another tab', { from: misspelt, to: meant });
  await other.close();
  const created = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  equal('save: the status', (await created).status(), 201);
  await page.waitForURL((url) => !url.pathname.endsWith('/create'));
  const [draft] = await api.rows(admin.token, REDIRECT, {});
  equal('save: a draft', [draft.from, draft.to, draft.status], [misspelt, meant, 'draft']);
};

// The saved entry that is open is published: the path redirects, and its row ends.
const published = async (run, page, { path, meant }) => {
  const { check, equal } = run;
  await page.getByRole('button', { name: 'Publish' }).click();
  check(`${path} redirects`, await until(async () => (await resolved(path))?.kind === 'redirect'));
  equal(`${path}: the target`, (await resolved(path)).redirect?.path, meant);
  // The list may be some seconds old.
  const isGone = async () => {
    await openMisses(run, page);
    return !(await textOf(page, PAGE)).includes(decodeURI(path).replaceAll(' ', '%20'));
  };
  check(`${path}: the row is gone`, await until(isGone), await textOf(page, PAGE));
};

// The list and the form, as pictures and for axe.
const looks = async (run) => {
  const { admin, browser, strapi, seen, folder, check, equal } = run;
  for (const look of LOOKS) {
    const { page } = await openAdmin(browser, strapi, admin, { seen, bypassCSP: true, ...look });
    const name = (part) => `${part}-${look.theme}-${look.width}${look.language ? `-${look.language}` : ''}`;
    await openMisses(run, page);
    await linksOf(page).first().scrollIntoViewIfNeeded();
    await page.screenshot({ path: join(folder, `${name('misses')}.png`) });
    equal(`axe: ${name('misses')}`, await violations(page, PAGE), []);
    await linksOf(page).first().click();
    const isFilled = async () => (await page.inputValue('input[name=from]')).includes('/Article-');
    await page.locator('input[name=from]').waitFor();
    check(`picture: ${name('new-redirect')}`, await until(isFilled));
    await page.screenshot({ path: join(folder, `${name('new-redirect')}.png`) });
    await page.context().close();
  }
};

// Roles that may read the list: one may not create redirects, one may not set the target.
const permitted = async ({ api, admin, browser, strapi, seen, equal }) => {
  const missed = '/en/for-roles';
  await resolved(missed);
  const explorer = (action, fields) => ({
    action: READ.replace('read', action),
    subject: REDIRECT,
    properties: { fields },
  });
  const may = [own('read-report'), explorer('read', ['from', 'to'])];
  for (const [name, more, expected] of [
    ['redirect-reader', [explorer('update', ['from', 'to'])], null],
    ['redirect-half', [explorer('create', ['to'])], null],
    ['redirect-from', [explorer('create', ['from'])], { from: 'from', to: null }],
  ]) {
    const user = await api.editor(admin.token, name, [...may, ...more]);
    const [site] = await api.must('GET', '/frontend-map/sites', { token: user.token });
    const type = site.redirects && { from: site.redirects.from, to: site.redirects.to };
    equal(`${name}: the fields`, [site.key, type], ['second', expected]);
    if (name === 'redirect-half') continue;
    const { page, errors } = await openAdmin(browser, strapi, user, { seen });
    await openMisses({ strapi }, page);
    equal(`${name}: links`, (await linksOf(page).count()) > 0, expected !== null);
    const heading = page.locator(`${PAGE} th`, { hasText: /^Redirect$/ });
    equal(`${name}: the column`, (await heading.count()) > 0, expected !== null);
    equal(`${name}: no error of a script`, errors, []);
    await page.context().close();
  }
};

// Deletes the redirects, so that another run begins without.
const deleteRedirects = async ({ api, admin }) => {
  const left = await api.rows(admin.token, REDIRECT, {});
  for (const { documentId } of left) {
    const path = `/content-manager/collection-types/${REDIRECT}/${documentId}`;
    await api.must('DELETE', path, { token: admin.token });
  }
  return left.length > 0;
};
