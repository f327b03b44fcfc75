import { appears, entryUrl, listUrl, openAdmin, PANEL, textOf, violations } from './browser.mjs';
import { until } from './checks.mjs';
import { ARTICLE } from './strapi.mjs';

const TEST = '[data-frontend-map=test]';
const TOKENS = { 'Token for drafts': 'DRAFT_TOKEN', 'Token for reports': 'VALIDATE_TOKEN' };

// A Strapi whose configuration sets neither an address nor tokens: the settings page stores them.
export const stored = async (run) => {
  const { admin, browser, strapi, seen, check, equal } = run;
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen, bypassCSP: true });
  await page.goto(`${strapi}/admin/settings/frontend-map`);
  await page.locator('input[name=url]').waitFor();
  await tested(run, page, 'frontend-map is not set up');

  await page.fill('input[name=url]', 'http://name:password@127.0.0.1');
  await page.getByRole('button', { name: 'Save' }).click();
  check('an address with user information', await appears(page.getByText('could not be saved')));
  await page.fill('input[name=url]', 'http://127.0.0.1:1');
  await save(page);
  await tested(run, page, 'cannot be reached');

  await page.fill('input[name=url]', `http://127.0.0.1:${process.env.PROXY_PORT}`);
  await page.fill('input[name=site]', 'no-such-site');
  await save(page);
  await tested(run, page, 'Token for drafts: frontend-map refused the token');
  for (const [label, variable] of Object.entries(TOKENS)) {
    await page.getByLabel(label, { exact: true }).fill(process.env[variable]);
  }
  await save(page);
  await tested(run, page, 'Token for drafts: works');
  check('an unknown site', /Site: (?!works)/.test(await textOf(page, TEST)), await textOf(page, TEST));
  await page.fill('input[name=site]', 'main');
  await save(page);
  await tested(run, page, 'Site: works');
  equal('axe: settings that are stored', await violations(page, 'main'), []);

  await page.reload();
  await page.locator('input[name=url]').waitFor();
  for (const label of Object.keys(TOKENS)) {
    const field = page.getByLabel(label, { exact: true });
    equal(`${label}: is not sent back`, await field.inputValue(), '');
  }
  equal('tokens are set', await page.getByText('Is set.').count(), 2);
  await page.getByRole('button', { name: 'Remove the token for drafts' }).click();
  await save(page);
  equal('one token is removed', await page.getByText('Is set.').count(), 1);
  await tested(run, page, 'Token for drafts: frontend-map refused the token');

  await webhook(run, page);
  await switches(run, page);
  await page.fill('input[name=url]', 'http://127.0.0.1:2');
  await save(page);
  equal('another address removes the tokens', await page.getByText('Is set.').count(), 0);
  equal('stored: no error of a script', errors, []);
  await page.context().close();
};

const save = async (page) => {
  const responded = page.waitForResponse((response) => response.request().method() === 'PUT');
  await page.getByRole('button', { name: 'Save' }).click();
  await responded;
  await page.getByRole('button', { name: 'Save', disabled: true }).waitFor();
};

const tested = async ({ check }, page, words) => {
  const responded = page.waitForResponse((response) => response.url().endsWith('/settings/test'));
  await page.getByRole('button', { name: 'Test connection' }).click();
  await responded;
  const found = await until(async () => (await textOf(page, TEST)).includes(words));
  check(`test connection: ${words}`, found, await textOf(page, TEST));
};

// It asks first; then a change of content reaches the service.
const webhook = async ({ api, admin, check, equal, proxy }, page) => {
  const { token } = admin;
  const webhooks = async () => (await api.must('GET', '/admin/webhooks', { token })).data;
  equal('no webhook yet', (await webhooks()).length, 0);
  await page.getByRole('button', { name: 'Create the webhook' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  equal('no webhook without consent', (await webhooks()).length, 0);
  await page.getByRole('button', { name: 'Create the webhook' }).click();
  await page.getByRole('button', { name: 'Confirm' }).click();
  check('webhook: the notification', await appears(page.getByText('Webhook saved')));
  const [saved] = await webhooks();
  equal('webhook: its address', saved.url, `http://127.0.0.1:${process.env.PROXY_PORT}/hooks/cms`);
  const [{ documentId, slug }] = await api.rows(token, ARTICLE, { pageSize: 1, locale: 'en' });
  await api.must('PUT', `/content-manager/collection-types/${ARTICLE}/${documentId}?locale=en`, {
    token,
    body: { slug },
  });
  const sent = await until(() => proxy.responded.includes('POST /hooks/cms 202'));
  check('webhook: a change reaches the service', sent, proxy.responded.slice(-5));
};

// Each part can be switched off.
const switches = async ({ api, admin, strapi, check, equal }, page) => {
  const names = ['Panel in the edit view', 'Column in lists', 'Widget on the home page'];
  const [{ documentId }] = await api.rows(admin.token, ARTICLE, { pageSize: 1, locale: 'en' });
  const entry = entryUrl(strapi, ARTICLE, documentId, 'en');
  const toggle = async () => {
    await page.goto(`${strapi}/admin/settings/frontend-map`);
    for (const name of names) await page.getByRole('checkbox', { name }).click();
    await save(page);
  };
  const openEntry = async () => {
    // The panel waits for it.
    const responded = page.waitForResponse((response) => response.url().endsWith('/frontend-map/parts'));
    await page.goto(entry);
    await responded;
    await page.locator('input[name=slug]').waitFor();
  };
  await toggle();
  await page.goto(listUrl(strapi, ARTICLE, 'en', 'pageSize=10'));
  await page.locator('tbody tr').first().waitFor();
  equal('switched off: the column', await page.locator('th', { hasText: 'URL' }).count(), 0);
  await openEntry();
  equal('switched off: the panel', await page.getByText('Public URL').count(), 0);
  await page.goto(`${strapi}/admin`);
  check('switched off: the widget', await appears(page.getByText('This widget is switched off')));
  await toggle();
  await page.goto(entry);
  check('switched on: the panel', await appears(page.locator(PANEL)));
  await page.goto(listUrl(strapi, ARTICLE, 'en', 'pageSize=10'));
  check('switched on: the column', await appears(page.locator('th', { hasText: 'URL' })));
  await page.goto(`${strapi}/admin/settings/frontend-map`);
  await page.locator('input[name=url]').waitFor();
};
