import { appears, entryUrl, openAdmin, openEntry, PANEL, singleUrl, textOf } from './browser.mjs';
import { until } from './checks.mjs';
import { ARTICLE, PRESS } from './strapi.mjs';

const AUTHOR = 'api::author.author';
const HOMEPAGE = 'api::homepage.homepage';

const rowsOf = ({ api, admin }) =>
  api.rows(admin.token, ARTICLE, { pageSize: 100, locale: 'en', sort: 'title:asc' });

const isPlain = ({ status, slug }) => status === 'published' && /^article-\d+$/.test(slug ?? '');

export const editViews = async (run) => {
  const { api, admin, browser, strapi, seen, check, equal, base } = run;
  const articles = await rowsOf(run);
  const one = (holds) => articles.find(holds);
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen });
  const at = (row, locale = 'en') => entryUrl(strapi, ARTICLE, row.documentId, locale);

  const published = one(isPlain);
  const url = `${base}/en/articles/${published.slug}`;
  const live = await openEntry(page, at(published));
  check('published: the URL', live.includes(url), live);
  equal(
    'published: the status is shown once',
    await page.locator(`${PANEL} :text-is("Published")`).count(),
    0,
  );
  await liveLinks(run, page, url);
  const german = await openEntry(page, at(published, 'de'));
  check('second locale: the URL', german.includes(`${base}/de/articles/`), german);

  await rename(run, page, published);

  const empty = one(({ status, slug }) => status === 'published' && slug === null);
  const reason = await openEntry(page, at(empty));
  check('without a slug: the reason', reason.includes('“slug” is empty'), reason);
  await page.getByRole('link', { name: /Go to the field/ }).click();
  const focused = await until(() =>
    page.evaluate(() => document.activeElement?.getAttribute('name') === 'slug'),
  );
  check('without a slug: the field gets the focus', focused);

  const slash = one(({ status, slug }) => status === 'published' && slug?.includes('/'));
  const contains = await openEntry(page, at(slash));
  check('slash: the reason', contains.includes('contains a slash'), contains);

  const draft = one(({ status, slug }) => status === 'draft' && slug);
  const future = await openEntry(page, at(draft));
  check(
    'draft: the future URL',
    future.includes(`/en/articles/${draft.slug}`) && future.includes('not published'),
    future,
  );
  equal('draft: no live page', await page.getByRole('link', { name: /Open live page/ }).count(), 0);
  equal(
    'draft: nothing that Strapi shows too',
    await page.locator(`${PANEL} a[href*="/preview"]`).count(),
    0,
  );

  const modified = one(({ status, slug }) => status === 'modified' && slug?.includes('rev2'));
  const both = await openEntry(page, at(modified));
  check('modified: two URLs', both.includes('AFTER PUBLICATION') && both.includes(modified.slug), both);

  const releases = await api.rows(admin.token, PRESS, { pageSize: 50 });
  const release = releases.find(({ status, slug }) => status === 'published' && slug);
  const unlocalized = await openEntry(page, entryUrl(strapi, PRESS, release.documentId));
  check('not localized: the URL', unlocalized.includes(`${base}/press/`), unlocalized);

  const single = await openEntry(page, singleUrl(strapi, HOMEPAGE, 'en'));
  check('single type: the URL', single.includes(`${base}/en`), single);

  const [author] = await api.rows(admin.token, AUTHOR, { pageSize: 1 });
  await page.goto(entryUrl(strapi, AUTHOR, author.documentId));
  await page.locator('input[name=name]').waitFor();
  await page.waitForLoadState('networkidle');
  equal('a type without a rule: no panel', await page.getByText('Public URL').count(), 0);

  await page.goto(entryUrl(strapi, ARTICLE, 'create', 'en'));
  check('a new entry', await appears(page.getByText('Save the document to see its URL.')));
  equal('no error of a script', errors, []);
  await page.context().close();
};

const liveLinks = async ({ base, check, equal }, page, url) => {
  const [tab] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('link', { name: /Open live page/ }).click(),
  ]);
  await tab.waitForLoadState();
  equal('Open live page: the address of the new tab', tab.url(), url);
  equal('Open live page: the title of the new tab', await tab.title(), 'A page of the frontend');
  await tab.close();
  const german = page.locator(`${PANEL} a[href^="${base}/de/"]`);
  equal(
    'the second locale: its name',
    (await german.innerText()).split('\n')[0].replace(/ \(.*/, ''),
    'German',
  );

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy link' }).click();
  check('Copy link: the notification', await appears(page.getByText('Link copied')));
  equal('Copy link: the clipboard', await page.evaluate(() => navigator.clipboard.readText()), url);
  const address = await german.getAttribute('href');
  await page.getByRole('button', { name: 'Copy the link for German' }).click();
  const copied = await until(
    async () => (await page.evaluate(() => navigator.clipboard.readText())) === address,
  );
  check('second locale: the clipboard', copied, address);
};

// A new slug, published: the panel follows without a reload, and the old path redirects.
const rename = async ({ base, check, strapi }, page, { documentId, slug }) => {
  const entry = entryUrl(strapi, ARTICLE, documentId, 'en');
  await openEntry(page, entry);
  const renamed = `${slug}-${Date.now().toString(36)}`;
  await page.fill('input[name=slug]', renamed);
  await page.getByRole('button', { name: 'Publish' }).click();
  const live = `${base}/en/articles/${renamed}`;
  const follows = await until(async () => (await textOf(page)).includes(live));
  check('renamed: the panel has the new URL without a reload', follows, await textOf(page));
  const redirects = await until(async () => {
    const query = new URLSearchParams({ site: 'main', pathname: `/en/articles/${slug}` });
    const response = await fetch(`${process.env.SERVICE}/api/resolve?${query}`);
    return (await response.json()).data?.kind === 'redirect';
  });
  check('renamed: the service redirects the old path', redirects);
  const former = await until(async () => {
    await page.goto(entry);
    await page.waitForSelector(PANEL);
    return (await textOf(page)).split(' ').includes(`/en/articles/${slug}`);
  });
  check('renamed: the panel names the former path', former, await textOf(page));
};

// Requests to the service for one edit view, and for Strapi's own preview panel beside it: that one
// comes from the handler of docs/preview.md, which names no site.
export const requests = async (run) => {
  const { browser, strapi, admin, seen, check, equal, proxy, reset } = run;
  const articles = await rowsOf(run);
  const { page } = await openAdmin(browser, strapi, admin, { seen });
  const rows = {
    published: articles.find(isPlain),
    modified: articles.find(({ status, slug }) => status === 'modified' && slug?.includes('rev2')),
    draft: articles.find(({ status, slug }) => status === 'draft' && slug),
  };
  for (const [name, { documentId }] of Object.entries(rows)) {
    await reset();
    proxy.asked.length = 0;
    await page.goto(entryUrl(strapi, ARTICLE, documentId, 'en'));
    await page.waitForSelector(PANEL);
    await until(() => proxy.asked.some((line) => !line.includes('site=') && !line.includes('/api/sites')));
    const isOwn = (line) => line.includes('site=') || line.includes('/api/sites');
    const own = proxy.asked.filter(isOwn);
    const others = proxy.asked.filter((line) => !isOwn(line));
    const links = own.filter((line) => line.includes('/api/links'));
    check(`${name}: at most 1 request for links, which the site does not have`, links.length <= 1, links);
    const urls = own.filter((line) => !line.includes('/api/sites') && !line.includes('/api/links'));
    check(`${name}: at most 2 requests for an edit view`, urls.length >= 1 && urls.length <= 2, urls);
    equal(`${name}: requests of Strapi's preview`, others.length, 1);
    console.log(`edit view, ${name}: ${own.length} requests, and ${others.length} of Strapi's preview`);
  }
  await page.context().close();
};
