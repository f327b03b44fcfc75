import { entryUrl, openAdmin, violations } from './browser.mjs';
import { until } from './checks.mjs';

const ARTICLE = 'api::article.article';
const PRESS = 'plugin::cms.press-release';
const PANEL = '[data-frontend-map=panel]';

const textOf = async (page) => (await page.locator(PANEL).innerText()).replace(/\s+/g, ' ');

// Opens an entry and returns the text of the panel.
const open = async (page, url) => {
  await page.goto(url);
  await page.waitForSelector(PANEL);
  return textOf(page);
};

export const editViews = async (run) => {
  const { api, admin, browser, strapi, seen, check, equal, base, proxy } = run;
  const articles = await api.rows(admin.token, ARTICLE, { pageSize: 100, locale: 'en', sort: 'title:asc' });
  const one = (holds) => articles.find(holds);
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen });
  const at = (row, locale = 'en') => entryUrl(strapi, ARTICLE, row.documentId, locale);

  const published = one(({ status, slug }) => status === 'published' && /^article-\d+$/.test(slug ?? ''));
  proxy.asked.length = 0;
  await page.goto(at(published));
  await page.waitForSelector(PANEL);
  const asked = proxy.asked.filter((line) => !line.includes('/hooks/'));
  // Strapi's own preview panel asks once, by the handler of docs/preview.md.
  check('at most 3 requests for an edit view, and one for the preview', asked.length <= 4, asked);
  const url = `${base}/en/articles/${published.slug}`;
  check('published: the URL', (await textOf(page)).includes(url), await textOf(page));
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: /Open live page/ }).click(),
  ]);
  await tab.waitForLoadState();
  equal('Open live page: the address of the new tab', tab.url(), url);
  equal('Open live page: the title of the new tab', await tab.title(), 'A page of the frontend');
  await tab.close();
  check('the second locale is linked', (await page.locator(`${PANEL} a[href^="${base}/de/"]`).count()) === 1);

  const german = await open(page, at(published, 'de'));
  check('second locale: the URL', german.includes(`${base}/de/articles/`), german);

  // A new slug, published: the panel follows without a reload, and the old path redirects.
  await open(page, at(published));
  const renamed = `${published.slug}-${Date.now().toString(36)}`;
  await page.fill('input[name=slug]', renamed);
  await page.getByRole('button', { name: 'Publish' }).click();
  const live = `${base}/en/articles/${renamed}`;
  check(
    'renamed: the panel has the new URL without a reload',
    await until(async () => (await textOf(page)).includes(live)),
    await textOf(page),
  );
  const redirects = await until(async () => {
    const result = await fetch(
      `${process.env.SERVICE}/api/resolve?site=main&pathname=/en/articles/${published.slug}`,
    );
    return (await result.json()).data?.kind === 'redirect';
  });
  check('renamed: the service redirects the old path', redirects);
  const former = await until(
    async () =>
      (await open(page, at(published))).includes(`/en/articles/${published.slug} `) ||
      (await textOf(page)).endsWith(`/en/articles/${published.slug}`),
  );
  check('renamed: the panel names the former path', former, await textOf(page));

  const empty = one(({ status, slug }) => status === 'published' && slug === null);
  const reason = await open(page, at(empty));
  check('without a slug: the reason', reason.includes('“slug” is empty'), reason);
  await page.getByRole('link', { name: /Go to the field/ }).click();
  const focused = await until(() =>
    page.evaluate(() => document.activeElement?.getAttribute('name') === 'slug'),
  );
  check('without a slug: the field gets the focus', focused);

  const slash = one(({ status, slug }) => status === 'published' && slug?.includes('/'));
  if (slash)
    check(
      'slash: the reason',
      (await open(page, at(slash))).includes('contains a slash'),
      await textOf(page),
    );

  const draft = one(({ status, slug }) => status === 'draft' && slug);
  const future = await open(page, at(draft));
  check(
    'draft: the future URL',
    future.includes(`/en/articles/${encodeURI(draft.slug)}`) && future.includes('not published'),
    future,
  );
  check('draft: no live page', (await page.getByRole('link', { name: /Open live page/ }).count()) === 0);
  check('draft: the preview', (await page.locator(`${PANEL} a[href*="/preview"]`).count()) === 1);

  const modified = one(({ status, slug }) => status === 'modified' && slug?.includes('rev2'));
  if (modified) {
    const both = await open(page, at(modified));
    check('modified: two URLs', both.includes('AFTER PUBLICATION') && both.includes(modified.slug), both);
  }

  const [release] = (await api.rows(admin.token, PRESS, { pageSize: 50 })).filter(
    ({ status, slug }) => status === 'published' && slug,
  );
  const unlocalized = await open(page, entryUrl(strapi, PRESS, release.documentId));
  check('not localized: the URL', unlocalized.includes(`${base}/press/`), unlocalized);

  const single = await open(
    page,
    `${strapi}/admin/content-manager/single-types/api::homepage.homepage?plugins[i18n][locale]=en`,
  );
  check('single type: the URL', single.includes(`${base}/en`), single);

  const [author] = await api.rows(admin.token, 'api::author.author', { pageSize: 1 });
  const none = await open(page, entryUrl(strapi, 'api::author.author', author.documentId));
  check('a type without a rule: the reason', none.includes('No rule'), none);

  await page.goto(
    `${strapi}/admin/content-manager/collection-types/${ARTICLE}/create?plugins[i18n][locale]=en`,
  );
  check(
    'a new entry',
    await page
      .getByText('Save the document to see its URL.')
      .waitFor()
      .then(
        () => true,
        () => false,
      ),
  );
  equal('no error of a script', errors, []);
  await page.context().close();

  const plain = await openAdmin(browser, strapi, admin, { seen, bypassCSP: true });
  for (const [name, row] of [
    ['published', published],
    ['reason', empty],
    ['draft', draft],
  ]) {
    await open(plain.page, at(row));
    equal(`axe: panel, ${name}`, await violations(plain.page, PANEL), []);
  }
  await plain.context.close();
};
