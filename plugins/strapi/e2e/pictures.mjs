import { join } from 'node:path';
import { entryUrl, openAdmin } from './browser.mjs';

const ARTICLE = 'api::article.article';

export const pictures = async ({ api, admin, browser, strapi, seen, folder, check }) => {
  const rows = await api.rows(admin.token, ARTICLE, { pageSize: 100, locale: 'en', sort: 'title:asc' });
  const one = (holds) => rows.find(holds).documentId;
  const published = one(({ status, slug }) => status === 'modified' && slug?.includes('rev2'));
  const empty = one(({ status, slug }) => status === 'published' && slug === null);
  const pages = [
    ['panel', entryUrl(strapi, ARTICLE, published, 'en'), '[data-frontend-map=panel]'],
    ['reason', entryUrl(strapi, ARTICLE, empty, 'en'), '[data-frontend-map=panel]'],
    [
      'list',
      `${strapi}/admin/content-manager/collection-types/${ARTICLE}?plugins[i18n][locale]=en`,
      'tbody a[href^="http"]',
    ],
    ['problems', `${strapi}/admin/plugins/frontend-map`, '[data-frontend-map=page]'],
    ['home', `${strapi}/admin`, '[data-frontend-map=widget]'],
    ['settings', `${strapi}/admin/settings/frontend-map`, 'input[type=url]'],
  ];
  const looks = [
    { theme: 'light', width: 1280 },
    { theme: 'dark', width: 1280 },
    { theme: 'light', width: 800 },
    { theme: 'dark', width: 800, language: 'de' },
  ];
  for (const look of looks) {
    const { page } = await openAdmin(browser, strapi, admin, { seen, ...look });
    for (const [name, url, ready] of pages) {
      await page.goto(url);
      const isReady = await page.waitForSelector(ready).then(
        () => true,
        () => false,
      );
      check(`picture of ${name}, ${look.theme}, ${look.width}`, isReady);
      // On narrow screens, Strapi has the panels in a drawer.
      if (look.width < 1080 && ready.includes('panel')) {
        await page
          .getByRole('button', { name: /open more actions/i })
          .click()
          .catch(() => undefined);
      }
      await page
        .locator(ready)
        .first()
        .scrollIntoViewIfNeeded()
        .catch(() => undefined);
      await page.screenshot({ path: join(folder, `${name}-${look.theme}-${look.width}.png`) });
    }
    await page.context().close();
  }
};
