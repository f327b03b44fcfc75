import { appears, entryUrl, openAdmin, openEntry, PANEL, textOf, visit } from './browser.mjs';
import { until } from './checks.mjs';
import { ARTICLE, CATEGORY } from './strapi.mjs';

const PAGE = '[data-frontend-map=page]';
const WIDGET = '[data-frontend-map=widget]';
const PAGES = 'api::page.page';
const HOMEPAGE = 'api::homepage.homepage';
const HOME = `/content-manager/single-types/${HOMEPAGE}`;

export const reports = async (run) => {
  const { api, admin, browser, strapi, seen, check, equal } = run;
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen });
  await page.goto(`${strapi}/admin/plugins/frontend-map`);
  await page.waitForSelector(PAGE);
  const rows = page.locator(`${PAGE} table tbody tr`);
  await rows.first().waitFor();
  const text = await textOf(page, PAGE);
  check('problems: their causes', /\d+ causes: \d+ problems in all/.test(text), text.slice(0, 500));
  check('problems: the reason', text.includes('“slug” is empty.'), text.slice(0, 500));
  const cause = rows.filter({ hasText: '“slug” is empty.' }).first();
  const pages = Number((await cause.innerText()).match(/(\d+) pages?/)[1]);
  await cause.getByRole('button', { name: 'Show pages' }).click();
  await page.locator('[data-frontend-map=cause]').waitFor();
  equal('problems: the pages of a cause', await rows.count(), Math.min(pages, 20));
  const articles = await api.rows(admin.token, ARTICLE, { pageSize: 100, locale: 'en', sort: 'title:asc' });
  const empty = articles.find(({ status, slug }) => status === 'published' && slug === null);
  await page.getByRole('button', { name: 'All causes' }).click();
  check('problems: all causes again', await appears(cause));

  await page.goto(`${strapi}/admin/plugins/frontend-map?view=entries`);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByPlaceholder('Search for a title or a path').fill(empty.title);
  await page.keyboard.press('Enter');
  const link = page.locator(`${PAGE} a[href*="${empty.documentId}"][href$="=en"]`);
  check('problems: a search finds the title of the entry', await appears(link));
  equal('problems: the title of the entry', await link.first().innerText(), empty.title);
  check('problems: the search is in the address', page.url().includes('_q='), page.url());

  await page.goto(`${strapi}/admin/plugins/frontend-map?view=entries&sort=title:DESC`);
  await page.getByRole('combobox', { name: 'Kind' }).click();
  await page.getByRole('option', { name: 'Shared path' }).click();
  const problems = page.locator(`${PAGE} table tbody tr td:last-child`);
  const isShared = async () =>
    (await problems.allInnerTexts()).every((one) => /Another document has/.test(one));
  check('problems: filter', await until(async () => (await rows.count()) > 0 && isShared()));
  const titles = await page.locator(`${PAGE} bdi`).allInnerTexts();
  const numeric = new Intl.Collator(undefined, { numeric: true });
  equal(
    'problems: order',
    titles,
    [...titles].sort((one, other) => numeric.compare(other, one)),
  );

  await urlChecks(run, page);
  await lastCheck(run, page);

  await page.goto(`${strapi}/admin/plugins/frontend-map`);
  await page.getByRole('tab', { name: 'Paths that have moved' }).click();
  check('moves: how many', await appears(page.getByText(/paths? ha(s|ve) moved|No path has moved/)));
  await page.getByRole('tab', { name: 'Not found' }).click();
  check('misses: how many', await appears(page.getByText(/was not found|were not found|have found each/)));
  await page.goto(`${strapi}/admin/plugins/frontend-map?view=entries`);
  await rows.first().waitFor();
  await rows.first().getByRole('link').first().click();
  await page.waitForURL(/content-manager\/collection-types/);
  check('problems: a row leads to its entry', await appears(page.locator(PANEL)));

  await visit(page, `${strapi}/admin`);
  check('widget: rows', await appears(page.locator(`${WIDGET} li`)));
  equal('widget: five rows', await page.locator(`${WIDGET} li`).count(), 5);
  check(
    'widget: the last run',
    /Last check: \d/.test(await textOf(page, WIDGET)),
    await textOf(page, WIDGET),
  );

  await visit(page, `${strapi}/admin/settings/frontend-map`);
  await page.getByRole('button', { name: 'Test connection' }).click();
  await page.locator('[data-frontend-map=test] li').first().waitFor();
  const tested = await textOf(page, '[data-frontend-map=test]');
  equal('settings: the test', (tested.match(/: works/g) ?? []).length, 4);
  check('settings: the address is not editable', await page.locator('input[type=url]').isDisabled());
  equal('no error of a script', errors, []);
  await page.context().close();
};

// A run while the frontend responds to five requests alone: its progress is shown, also after a
// reload, and in a second tab. After ten seconds without a response, the service counts a page as dead.
const urlChecks = async ({ strapi, check, frontend }, page) => {
  const running = /(\d+) of (\d+) pages checked/;
  const shown = async (tab) => (await tab.locator('main').innerText()).match(running)?.[0] ?? '';
  const isRunning = async (tab) => /^[1-9]/.test(await shown(tab)) && !(await isDone(tab));
  const isDone = async (tab) => /Done: (\d+) of \1 pages/.test(await tab.locator('main').innerText());
  frontend.hold(5);
  try {
    await page.getByRole('tab', { name: 'URL checks' }).click();
    await page.getByRole('combobox', { name: 'Content type' }).click();
    await page.getByRole('option', { name: 'Page', exact: true }).click();
    await page.getByRole('button', { name: 'Run now' }).click();
    check('URL checks: progress', await until(() => isRunning(page)), await shown(page));
    await page.reload();
    await page.waitForSelector(PAGE);
    check('URL checks: progress after a reload', await until(() => isRunning(page)), await shown(page));
    const other = await page.context().newPage();
    await other.goto(`${strapi}/admin/plugins/frontend-map?tab=checks&check=api::page.page`);
    await other.waitForSelector(PAGE);
    check('URL checks: progress in another tab', await until(() => isRunning(other)), await shown(other));
    frontend.release();
    check('URL checks: the end', await until(() => isDone(page)), await shown(page));
    check('URL checks: the end in another tab', await until(() => isDone(other)), await shown(other));
    await other.close();
  } finally {
    frontend.release();
  }
  const listed = await until(async () => /Page: \d+ of \d+ pages do not work/.test(await textOf(page, PAGE)));
  check('URL checks: the last run is listed', listed, (await textOf(page, PAGE)).slice(-400));
};

// What the run says of an entry is said of the URL that was checked, and of no other one.
const lastCheck = async ({ api, admin, strapi, check }, page) => {
  const { token } = admin;
  const pages = await api.rows(token, PAGES, { pageSize: 100, locale: 'en', sort: 'slug:asc' });
  const { documentId, slug } = pages.find((row) => row.status === 'published' && row.slug);
  const entry = entryUrl(strapi, PAGES, documentId, 'en');
  const works = await openEntry(page, entry);
  check('last check: of this URL', works.includes('200: the page works'), works);
  const path = `/content-manager/collection-types/${PAGES}/${documentId}`;
  const publish = (body) => api.must('POST', `${path}/actions/publish?locale=en`, { token, body });
  await publish({ slug: `${slug}-${Date.now().toString(36)}` });
  const isSaid = await until(async () => {
    await page.goto(entry);
    await page.waitForSelector(PANEL);
    return (await textOf(page)).includes('Not checked since the URL changed');
  });
  check('last check: of another URL', isSaid, await textOf(page));
  await publish({ slug });
};

// Content types with a site of their own: `second`, where the homepage needs a slug, and the path of
// an article has the slug of its category.
export const sites = async (run) => {
  const { api, admin, browser, strapi, seen, check, equal, reset } = run;
  const { token } = admin;
  await api.must('PUT', `${HOME}?locale=de`, { token, body: { slug: null } });
  await api.must('POST', `${HOME}/actions/publish?locale=de`, { token, body: { slug: null } });
  await reset({ sites: { [HOMEPAGE]: 'second', [ARTICLE]: 'second' } });
  const { page, errors } = await openAdmin(browser, strapi, admin, { seen });
  const link = page.locator(`${PAGE} a[href*="single-types/${HOMEPAGE}"]`).first();
  const listed = await until(async () => {
    await page.goto(`${strapi}/admin/plugins/frontend-map`);
    await page.waitForSelector(PAGE);
    await page.getByRole('combobox', { name: 'Site' }).click();
    const responded = page.waitForResponse((response) => response.url().endsWith('/findings?site=second'));
    await page.getByRole('option', { name: 'second' }).click();
    await responded;
    await page.goto(`${page.url()}&view=entries&contentType=${HOMEPAGE}`);
    await page.locator(`${PAGE} [role=status]`).first().waitFor();
    return (await link.count()) > 0;
  });
  check('second site: a problem of a single type', listed);
  await link.click();
  check('a row leads to its single type', await appears(page.locator(PANEL)));
  check('single type: the address', page.url().includes(`/single-types/${HOMEPAGE}`), page.url());
  const reason = await textOf(page);
  check('single type: the reason', reason.includes('“slug” is empty'), reason);
  await relatedEntry(run, page);
  equal('no error of a script', errors, []);
  await page.context().close();
  await reset();
};

// An article whose category is not published: the reason, and the way to the category.
const relatedEntry = async ({ api, admin, strapi, check, base }, page) => {
  const { token } = admin;
  const articles = await api.rows(token, ARTICLE, { pageSize: 100, locale: 'en', sort: 'title:asc' });
  const [category] = await api.rows(token, CATEGORY, { pageSize: 1, locale: 'en', sort: 'slug:desc' });
  const categoryOf = async ({ documentId }) =>
    (
      await api.must('GET', `/content-manager/relations/${ARTICLE}/${documentId}/category?locale=en`, {
        token,
      })
    ).results[0]?.documentId;
  // Those whose path looks the same encoded and decoded.
  const plain = articles.filter(
    ({ status, slug }) => status === 'published' && /^article-\d+$/.test(slug ?? ''),
  );
  const categories = await Promise.all(plain.map(categoryOf));
  const article = plain[categories.indexOf(category.documentId)];
  const entry = entryUrl(strapi, ARTICLE, article.documentId, 'en');
  const url = `${base}/en/${category.slug}/${encodeURI(article.slug)}`;
  check(
    'second site: the URL of an article',
    (await openEntry(page, entry)).includes(url),
    await textOf(page),
  );

  const act = (action) =>
    api.must(
      'POST',
      `/content-manager/collection-types/${CATEGORY}/${category.documentId}/actions/${action}?locale=en`,
      {
        token,
        body: {},
      },
    );
  const reads = (words) =>
    until(async () => {
      await page.goto(entry);
      await page.waitForSelector(PANEL);
      return (await textOf(page)).includes(words);
    });
  await act('unpublish');
  check(
    'the category is not published: the reason',
    await reads('(category) is not published in this language.'),
    await textOf(page),
  );
  await page.getByRole('link', { name: 'Open the related entry' }).click();
  await page.waitForURL((found) => found.pathname.includes(`/${CATEGORY}/${category.documentId}`));
  check('the related entry: its form', await appears(page.locator(`input[value="${category.slug}"]`)));
  await act('publish');
  check('the category is published again: the URL', await reads(url), await textOf(page));
};
