import { join } from 'node:path';
import { appears, entryUrl, listUrl, openAdmin, violations } from './browser.mjs';
import { ARTICLE } from './strapi.mjs';

const LOOKS = ['light', 'dark'].flatMap((theme) =>
  [1280, 800].flatMap((width) => [undefined, 'de'].map((language) => ({ theme, width, language }))),
);
// So that the whole panel is in the picture.
const HEIGHT = 1300;
const PANELS = ['[data-frontend-map=panel]', '[data-frontend-map=note]'];

// Each part in light and dark, wide and narrow, English and German.
export const pictures = async (run) => {
  const { api, admin, strapi } = run;
  const rows = await api.rows(admin.token, ARTICLE, { pageSize: 100, locale: 'en', sort: 'title:asc' });
  const one = (holds) => rows.find(holds).documentId;
  const modified = one(({ status, slug }) => status === 'modified' && slug?.includes('rev2'));
  const empty = one(({ status, slug }) => status === 'published' && slug === null);
  const draft = one(({ status, slug }) => status === 'draft' && slug);
  const [panel, note] = PANELS;
  await lookAt(run, admin, [
    ['panel', entryUrl(strapi, ARTICLE, modified, 'en'), panel],
    ['reason', entryUrl(strapi, ARTICLE, empty, 'en'), panel],
    ['draft', entryUrl(strapi, ARTICLE, draft, 'en'), panel],
    ['new', entryUrl(strapi, ARTICLE, 'create', 'en'), note],
    ['list', listUrl(strapi, ARTICLE, 'en'), 'tbody a[href^="http"]'],
    ['problems', `${strapi}/admin/plugins/frontend-map`, '[data-frontend-map=page]:has(table)'],
    ['entries', `${strapi}/admin/plugins/frontend-map?view=entries`, '[data-frontend-map=page] table'],
    ['checks', `${strapi}/admin/plugins/frontend-map?tab=checks`, '[data-frontend-map=page] li'],
    ['moves', `${strapi}/admin/plugins/frontend-map?tab=moves`, '[data-frontend-map=page] [role=status]'],
    ['home', `${strapi}/admin`, '[data-frontend-map=widget]'],
    ['settings', `${strapi}/admin/settings/frontend-map`, 'main'],
    ['connection', `${strapi}/admin/settings/frontend-map`, '[data-frontend-map=test]'],
  ]);
};

// A picture of each page in each look, and what axe finds in a part of it. `pages` are names of
// pictures, addresses and selectors.
export const lookAt = async ({ api, browser, strapi, seen, folder, check, equal }, user, pages) => {
  const { uuid } = (await api.must('GET', '/admin/init')).data;
  for (const look of LOOKS) {
    const { page } = await openAdmin(browser, strapi, user, {
      seen,
      bypassCSP: true,
      height: HEIGHT,
      ...look,
    });
    // Strapi's own news.
    const news = `STRAPI_MEDIA_LIBRARY_BANNER_DISMISSED_FOR_false:${uuid}`;
    await page.evaluate((key) => localStorage.setItem(key, 'true'), news);
    const name = (part) => `${part}-${look.theme}-${look.width}${look.language ? `-${look.language}` : ''}`;
    for (const [part, url, selector] of pages) {
      await page.goto(url);
      // On narrow screens, Strapi has the panels in a drawer.
      if (look.width < 1080 && PANELS.includes(selector)) {
        await page.getByRole('button', { name: 'Open more actions' }).click();
      }
      if (part === 'connection')
        await page.getByRole('button', { name: /^(Test connection|Verbindung testen)$/ }).click();
      check(`picture: ${name(part)}`, await appears(page.locator(selector)));
      await page.waitForLoadState('networkidle');
      if (part === 'settings') await page.locator('input[name=url]').waitFor();
      if (['home', 'list'].includes(part)) await page.locator(selector).first().scrollIntoViewIfNeeded();
      if (part === 'connection') {
        await page.locator(`${selector} li`).first().waitFor();
        await page.locator('a[href$="/settings/api-tokens"]').last().scrollIntoViewIfNeeded();
      }
      await page.screenshot({ path: join(folder, `${name(part)}.png`) });
      equal(`axe: ${name(part)}`, await violations(page, selector), []);
    }
    await page.context().close();
  }
};
