import { openAdmin, violations } from './browser.mjs';
import { until } from './checks.mjs';

export const reports = async ({ admin, browser, strapi, seen, check, equal }) => {
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen, bypassCSP: true });
  await page.goto(`${strapi}/admin/plugins/frontend-map`);
  await page.waitForSelector('[data-frontend-map=page]');
  const rows = page.locator('[data-frontend-map=page] table').first().locator('tbody tr');
  check('problems page: rows', (await rows.count()) > 0, await rows.count());
  const text = await page.locator('[data-frontend-map=page]').innerText();
  check('problems page: the reason', text.includes('“slug” is empty.'), text.slice(0, 500));
  equal('axe: problems page', await violations(page, '[data-frontend-map=page]'), []);

  await page.getByRole('combobox', { name: 'Kind' }).click();
  await page.getByRole('option', { name: 'Shared path' }).click();
  const kinds = await rows.evaluateAll((found) => found.map((row) => row.cells[0].innerText));
  check('problems page: filter', kinds.length > 0 && kinds.every((kind) => kind === 'Shared path'), kinds);

  await page.getByRole('combobox', { name: 'Content type' }).last().click();
  await page.getByRole('option', { name: 'Page', exact: true }).click();
  await page.getByRole('button', { name: 'Run now' }).click();
  const done = await until(
    async () => /Done: (\d+) of \1 pages/.test(await page.locator('main').innerText()),
    60_000,
  );
  check('problems page: a run of URL checks', done, (await page.locator('main').innerText()).slice(-600));

  await rows.first().getByRole('link').click();
  await page.waitForURL(/content-manager\/collection-types/);
  check('problems page: a row leads to its entry', true);

  await page.goto(`${strapi}/admin`);
  await page.waitForSelector('[data-frontend-map=widget]');
  equal('axe: widget', await violations(page, '[data-frontend-map=widget]'), []);
  check('widget: rows', (await page.locator('[data-frontend-map=widget] li').count()) === 5);

  await page.goto(`${strapi}/admin/settings/frontend-map`);
  await page.getByRole('button', { name: 'Test connection' }).click();
  await page.locator('[data-frontend-map=test] li').first().waitFor();
  const tested = await page.locator('[data-frontend-map=test]').innerText();
  equal('settings: the test', (tested.match(/: works/g) ?? []).length, 4);
  equal('axe: settings', await violations(page, 'main'), []);
  equal('no error of a script', errors, []);
  await page.context().close();
};
