import { appears, entryUrl, listUrl, openAdmin, openEntry, PANEL, textOf } from './browser.mjs';
import { until } from './checks.mjs';
import { ARTICLE } from './strapi.mjs';

const BIDI = '\u202Eevil\u202C\u2067 \u05E9\u05DC\u05D5\u05DD';
const TITLES = {
  script: '<script>alert(1)</script><img src=x onerror=alert(2)>',
  bidi: `Abc ${BIDI} xyz`,
};
const SLUGS = {
  script: '"><img src=x onerror=alert(3)>',
  bidi: `a${BIDI}b`,
};

// As the service does it: all but letters, digits and `-._~`.
const encoded = (text) =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  );

// Titles and slugs with script and with bidirectional text are text, and change nothing around them.
export const hostile = async ({ api, admin, browser, strapi, seen, check, equal, base }) => {
  const { token } = admin;
  const path = `/content-manager/collection-types/${ARTICLE}`;
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen });
  for (const name of Object.keys(TITLES)) {
    for (const slug of [SLUGS[name], null]) {
      const body = { title: TITLES[name], slug };
      const { documentId } = (await api.must('POST', `${path}?locale=en`, { token, body })).data;
      await api.must('POST', `${path}/${documentId}/actions/publish?locale=en`, { token, body });
      const text = await openEntry(page, entryUrl(strapi, ARTICLE, documentId, 'en'));
      const wanted = {
        script: '/en/articles/"><img%20src%3Dx%20onerror%3Dalert(3)>',
        bidi: 'changes the direction of text',
      }[name];
      check(`${name}: the panel`, text.includes(slug === null ? '“slug” is empty' : wanted), text);
      if (name === 'script' && slug !== null) {
        const link = page.locator(`${PANEL} a[href="${base}/en/articles/${encoded(SLUGS.script)}"]`);
        equal('script: the link is encoded', await link.count(), 1);
      }
      equal(
        `${name}: no element of the text`,
        await page.locator(`${PANEL} img, ${PANEL} script`).count(),
        0,
      );
    }
  }
  await page.goto(listUrl(strapi, ARTICLE, 'en', 'pageSize=10&sort=createdAt:DESC'));
  await page.locator('th', { hasText: 'URL' }).waitFor();
  check('list: the reason', await appears(page.locator('tbody').getByText('changes the direction of text')));
  check('list: the URL', await appears(page.locator(`tbody a[href$="/${encoded(SLUGS.script)}"]`)));

  const problems = `${strapi}/admin/plugins/frontend-map?view=entries&kind=no_url&pageSize=100`;
  await page.goto(problems);
  const table = page.locator('[data-frontend-map=page]');
  for (const title of Object.values(TITLES)) {
    const cell = table.locator('bdi').filter({ hasText: title });
    const listed = await until(async () => {
      if (await cell.count()) return true;
      await page.goto(`${problems}&_q=${encodeURIComponent(title.slice(0, 6))}`);
      await table.locator('[role=status]').first().waitFor();
      return (await cell.count()) > 0;
    });
    check('problems: a title with script or bidirectional text', listed, title);
  }
  equal('no script of the texts ran', errors, []);
  equal('no image of the texts', await page.locator('img[src=x]').count(), 0);
  await page.goto(`${problems}&_q=${encodeURIComponent('<script>')}`);
  check('problems page: the text', await appears(table.getByText('<script>')));
  await page.context().close();
};
