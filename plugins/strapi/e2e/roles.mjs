import { appears, entryUrl, listUrl, openAdmin, openEntry, PANEL, textOf, visit } from './browser.mjs';
import { ARTICLE, own, PRESS, READ } from './strapi.mjs';

const ROUTES = [
  ['GET', `/document?uid=${ARTICLE}&documentId=x`],
  ['POST', '/rows'],
  ['GET', '/parts'],
  ['GET', '/sites'],
  ['GET', '/overview?site=main'],
  ['GET', '/findings?site=main'],
  ['GET', '/checks?site=main'],
  ['GET', '/moves?site=main'],
  ['GET', '/misses?site=main'],
  ['DELETE', '/misses?site=main'],
  ['GET', `/check?site=main&uid=${ARTICLE}`],
  ['POST', `/check?site=main&uid=${ARTICLE}`],
  ['GET', '/settings'],
  ['PUT', '/settings'],
  ['POST', '/settings/test'],
  ['POST', '/settings/webhook'],
];

export const roles = async ({ api, admin, browser, strapi, seen, check, equal }) => {
  const fields = (uid) => ({
    action: READ,
    subject: uid,
    properties: { fields: ['title', 'slug'], locales: ['en'] },
  });
  const press = { ...fields(PRESS), properties: { fields: ['title', 'slug'] } };
  const writer = await api.editor(admin.token, 'writer', [press, own('read-url'), own('read-report')]);
  const plain = await api.editor(admin.token, 'plain', [fields(ARTICLE), press]);

  for (const [method, path] of ROUTES) {
    const name = `${method} ${path}`;
    equal(`without a login: ${name}`, (await api.call(method, `/frontend-map${path}`)).status, 401);
    const found = await api.call(method, `/frontend-map${path}`, {
      token: plain.token,
      body: method === 'GET' ? undefined : {},
    });
    equal(`without the plugin's permissions: ${name}`, found.status, 403);
  }

  const [article] = await api.rows(admin.token, ARTICLE, { pageSize: 1, locale: 'en' });
  const [release] = await api.rows(admin.token, PRESS, { pageSize: 1 });
  const ask = (uid, id) =>
    api.call('GET', `/frontend-map/document?uid=${uid}&documentId=${id}`, { token: writer.token });
  equal('a type that the role may not read', (await ask(ARTICLE, article.documentId)).status, 404);
  equal('a type that the role may read', (await ask(PRESS, release.documentId)).status, 200);
  const body = { uid: ARTICLE, documentIds: [article.documentId], locale: 'en' };
  const rows = await api.call('POST', '/frontend-map/rows', { token: writer.token, body });
  equal('rows of a type that the role may not read', rows.body, { report: {} });
  const findings = '/frontend-map/findings?site=main&view=entries&pageSize=100';
  const overview = await api.call('GET', findings, { token: writer.token });
  check(
    'problems of other types are left out',
    !overview.text.includes('api::') && overview.status === 200,
    overview.text.slice(0, 400),
  );
  const all = await api.call('GET', findings, { token: admin.token });
  check('the super admin sees them', all.text.includes(ARTICLE));
  const counted = overview.body.report;
  equal('the count is that of the rows', counted.total, counted.findings.rows.length);

  await conditions({ api, admin, equal });

  await withoutPermissions({ browser, strapi, equal, user: plain }, article);
  await writerSees({ browser, strapi, check, equal, seen, user: writer }, release);
};

// Nothing shows, and nothing breaks.
const withoutPermissions = async ({ browser, strapi, equal, user }, article) => {
  const seen = [];
  const { page, errors } = await openAdmin(browser, strapi, user, { seen });
  await page.goto(entryUrl(strapi, ARTICLE, article.documentId, 'en'));
  await page.locator('input[name=slug]').waitFor();
  const panels = page.getByRole('heading', { name: 'Public URL' });
  equal('without the permissions: no panel', await panels.count(), 0);
  await visit(page, listUrl(strapi, ARTICLE, 'en'));
  await page.locator('tbody tr').first().waitFor();
  equal('without the permissions: no column', await page.locator('th', { hasText: 'URL' }).count(), 0);
  await page.locator('tbody tr').first().getByRole('button').last().click();
  await page.getByRole('menuitem').first().waitFor();
  const items = page.getByRole('menuitem', { name: 'Open live page' });
  equal('without the permissions: no row action', await items.count(), 0);
  await page.goto(`${strapi}/admin`);
  await page.getByRole('link', { name: 'Content Manager' }).first().waitFor();
  equal(
    'without the permissions: no link in the menu',
    await page.locator('a[href*="plugins/frontend-map"]').count(),
    0,
  );
  equal('without the permissions: no widget', await page.getByText('Problems of the site').count(), 0);
  for (const path of ['plugins/frontend-map', 'settings/frontend-map']) {
    await page.goto(`${strapi}/admin/${path}`);
    equal(
      `without the permissions: ${path}`,
      await appears(page.getByText(/don't have the permissions/)),
      true,
    );
  }
  const asked = seen.filter(({ url }) => url.includes('/frontend-map/')).map(({ url }) => url);
  equal('without the permissions: no request to the plugin', asked, []);
  equal('without the permissions: no error of a script', errors, []);
  await page.context().close();
};

// May read press releases, their URLs and reports; not run checks, and not see articles or settings.
const writerSees = async ({ browser, strapi, check, equal, seen, user }, release) => {
  const { page, errors } = await openAdmin(browser, strapi, user, { seen });
  const own = openEntry(page, entryUrl(strapi, PRESS, release.documentId));
  check('writer: the panel', /Live page|No public URL|not published/i.test(await own), await own);
  await visit(page, `${strapi}/admin/plugins/frontend-map`);
  await page.locator('[data-frontend-map=page] [role=status]').first().waitFor();
  const problems = await textOf(page, '[data-frontend-map=page]');
  await page.getByRole('tab', { name: 'URL checks' }).click();
  await page.getByText('The pages have not been checked yet.').or(page.locator('main li')).first().waitFor();
  equal('writer: no Run now', await page.getByRole('button', { name: 'Run now' }).count(), 0);
  check('writer: no problem of an article', !/article/i.test(problems), problems.slice(0, 400));
  await visit(page, `${strapi}/admin`);
  check('writer: the widget', await appears(page.locator('[data-frontend-map=widget]')));
  await visit(page, `${strapi}/admin/settings/frontend-map`);
  check('writer: not the settings', await appears(page.getByText(/don't have the permissions/)));
  equal('writer: no panel but this', await page.locator(PANEL).count(), 0);
  equal('writer: no error of a script', errors, []);
  await page.context().close();
  const leaks = seen.filter(
    ({ url, text, user: by }) =>
      by === user.email && url.includes('/frontend-map/') && /api::article|\/articles\/|article-0/.test(text),
  );
  equal(
    'writer: nothing of articles in the responses',
    leaks.map(({ url }) => url),
    [],
  );
};

// Permissions with one locale, and with a condition that no document meets.
export const conditions = async ({ api, admin, equal }) => {
  const mine = [own('read-url'), own('read-report'), own('run-check')];
  const may = (locales, ids) => ({
    action: READ,
    subject: ARTICLE,
    properties: { fields: ['title', 'slug'], locales },
    conditions: ids,
  });
  const german = await api.editor(admin.token, 'german', [may(['de'], []), ...mine]);
  const creator = await api.editor(admin.token, 'creator', [
    may(['en', 'de', 'fr', 'es'], ['admin::is-creator']),
    ...mine,
  ]);
  const articles = await api.rows(admin.token, ARTICLE, { pageSize: 100, locale: 'en' });
  const { documentId } = articles.find(({ status }) => status === 'published');
  const status = async ({ token }, locale) =>
    (
      await api.call(
        'GET',
        `/frontend-map/document?uid=${ARTICLE}&documentId=${documentId}&locale=${locale}`,
        { token },
      )
    ).status;
  equal('one locale: this one', await status(german, 'de'), 200);
  equal('one locale: another one', await status(german, 'en'), 404);
  equal('a condition that is not met', await status(creator, 'en'), 404);

  const { report } = await api.must(
    'GET',
    `/frontend-map/document?uid=${ARTICLE}&documentId=${documentId}&locale=de`,
    { token: german.token },
  );
  equal('one locale: no URL and no reason of another one', report.languages, []);

  const findings = '/frontend-map/findings?site=main&view=entries&pageSize=100';
  const found = async ({ token }) => (await api.must('GET', findings, { token })).report;
  const listed = (await found(german)).findings.rows.flatMap((row) => (row.owner ? [row, row.owner] : [row]));
  equal(
    'one locale: problems of this one',
    [...new Set(listed.map((row) => `${row.contentType} ${row.locale}`))],
    [`${ARTICLE} de`],
  );
  const none = await found(creator);
  equal('a condition that is not met: no problems', [none.total, none.findings.rows], [0, []]);

  const documentIds = articles.map((row) => row.documentId);
  const rows = async ({ token }, locale) =>
    Object.keys(
      (await api.must('POST', '/frontend-map/rows', { token, body: { uid: ARTICLE, locale, documentIds } }))
        .report,
    ).length;
  equal('one locale: rows of another one', await rows(german, 'en'), 0);
  equal('a condition that is not met: rows', await rows(creator, 'en'), 0);
  for (const editor of [german, creator]) {
    const found = await api.call('POST', `/frontend-map/check?site=main&uid=${ARTICLE}`, {
      token: editor.token,
    });
    equal('a run of URL checks needs all documents of the type', found.status, 403);
  }
};
