import { listUrl, openAdmin, violations } from './browser.mjs';
import { until } from './checks.mjs';
import { ARTICLE } from './strapi.mjs';

const isRows = (line) => line.includes('/api/frontend-urls');

export const lists = async ({ api, admin, browser, strapi, seen, check, equal, base, proxy, reset }) => {
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen, bypassCSP: true });
  await reset();
  proxy.asked.length = 0;
  await page.goto(listUrl(strapi, ARTICLE, 'en', 'page=1&pageSize=100&sort=title:ASC'));
  // Strapi's header cells have the role of cells.
  await page.locator('th', { hasText: 'URL' }).waitFor();
  const rows = page.locator('tbody tr');
  const links = page.locator(`tbody a[href^="${base}/en/articles/"]`);
  await until(async () => (await links.count()) > 0);
  equal('100 rows', await rows.count(), 100);
  equal('one request for 100 rows', proxy.asked.filter(isRows).length, 1);
  console.log(`list of 100 rows: ${proxy.asked.length} request(s): ${[...new Set(proxy.asked)]}`);
  const titles = await api.rows(admin.token, ARTICLE, { pageSize: 100, locale: 'en', sort: 'title:ASC' });
  const drafts = titles.filter(({ status }) => status === 'draft').length;
  equal('drafts are not published', await page.locator('tbody').getByText('Not published').count(), drafts);
  const reasons = await page.locator('tbody').getByText('“slug” is empty.').count();
  check('reasons of rows without a URL', reasons > 0, reasons);
  const cells = (await links.count()) + drafts;
  const others = await page
    .locator('tbody tr p')
    .filter({ hasText: /^(“|The |This )/ })
    .count();
  equal('each row has a URL or a reason', cells + others, 100);

  const heads = await page.locator('thead th').allInnerTexts();
  equal(
    'the column stands behind the status',
    heads.slice(-2).map((head) => head.trim().toLowerCase()),
    ['status', 'url'],
  );
  const cell = await page.locator('td:has([data-frontend-map=url])').first().boundingBox();
  check('the column fits in 1280 px', cell.x + cell.width <= 1280, cell);

  // Of the column alone: the rest of the table is Strapi's.
  await page.evaluate(() => {
    for (const row of document.querySelectorAll('tbody tr'))
      row.cells[row.cells.length - 2].dataset.ours = 'true';
  });
  equal('axe: column', await violations(page, '[data-ours]'), []);

  const { slug } = titles.find(
    ({ status, slug }) => status === 'published' && /^article-\d+$/.test(slug ?? ''),
  );
  const row = page.getByRole('row').filter({ hasText: slug }).first();
  await row
    .getByRole('button', { name: /row actions|actions/i })
    .last()
    .click();
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('menuitem', { name: 'Open live page' }).click(),
  ]);
  await tab.waitForURL((url) => url.href !== 'about:blank');
  equal('row action: the address of the new tab', tab.url(), `${base}/en/articles/${slug}`);
  await tab.close();

  await page
    .locator('tbody tr')
    .filter({ hasText: 'Not published' })
    .first()
    .getByRole('button')
    .last()
    .click();
  await page.getByRole('menuitem').first().waitFor();
  equal(
    'row action: not for drafts',
    await page.getByRole('menuitem', { name: 'Open live page' }).count(),
    0,
  );
  equal('no error of a script', errors, []);
  await page.context().close();
};
