import { openAdmin } from './browser.mjs';
import { until } from './checks.mjs';

const ARTICLE = 'api::article.article';

const requests = (proxy) => proxy.asked.filter((line) => line.includes('/api/frontend-urls'));

export const lists = async ({ api, admin, browser, strapi, seen, check, equal, base, proxy }) => {
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen });
  proxy.asked.length = 0;
  const query = 'page=1&pageSize=100&sort=title:ASC&plugins[i18n][locale]=en';
  await page.goto(`${strapi}/admin/content-manager/collection-types/${ARTICLE}?${query}`);
  // Strapi's header cells have the role of cells.
  await page.locator('th', { hasText: 'URL' }).waitFor();
  const rows = page.locator('tbody tr');
  const links = page.locator(`tbody a[href^="${base}/en/articles/"]`);
  await until(async () => (await links.count()) > 0);
  equal('100 rows', await rows.count(), 100);
  equal('one request for 100 rows', requests(proxy).length, 1);
  const titles = await api.rows(admin.token, ARTICLE, { pageSize: 100, locale: 'en', sort: 'title:ASC' });
  const drafts = titles.filter(({ status }) => status === 'draft').length;
  equal('drafts are not published', await page.locator('tbody').getByText('Not published').count(), drafts);
  const reasons = await page.locator('tbody').getByText('“slug” is empty.').count();
  check('reasons of rows without a URL', reasons > 0, reasons);

  const published = titles.find(
    ({ status, slug }) => status === 'published' && /^article-\d+$/.test(slug ?? ''),
  );
  const row = page.getByRole('row').filter({ hasText: published.slug }).first();
  await row
    .getByRole('button', { name: /row actions|actions/i })
    .last()
    .click();
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('menuitem', { name: 'Open live page' }).click(),
  ]);
  await tab.waitForURL((url) => url.href !== 'about:blank');
  equal('row action: the address of the new tab', tab.url(), `${base}/en/articles/${published.slug}`);
  equal('no error of a script', errors, []);
  await page.context().close();
};
