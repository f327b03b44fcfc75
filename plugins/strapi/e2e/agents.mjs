// The tools of Strapi's MCP server, which `mcp.enabled` in config/server starts, with tokens of several roles.
import { until } from './checks.mjs';
import { createMcp } from './mcp.mjs';
import { ARTICLE, own, PRESS, READ } from './strapi.mjs';

const DOCUMENT = 'frontend_map_document_url';
const PAGE = 'frontend_map_page_at_url';
const PROBLEMS = 'frontend_map_problems';
const PREVIEW = 'frontend_map_publish_preview';
const TOOLS = [DOCUMENT, PAGE, PROBLEMS, PREVIEW];
const FIELDS = ['title', 'slug'];
const TOKENS = ['create', 'read'].map((name) => ({ action: `admin::admin-tokens.${name}` }));

const reading = (uid, locales) => ({
  action: READ,
  subject: uid,
  properties: { fields: FIELDS, ...(locales && { locales }) },
});

export const agents = async ({ api, admin, strapi, proxy, check, equal, base }) => {
  // An admin token has permissions of its own, at most those of its owner.
  const agentOf = async (owner, name, permissions) => {
    const adminPermissions = permissions.map((one) => ({
      properties: {},
      conditions: [],
      subject: null,
      ...one,
    }));
    // Names of tokens are unique, also in a Strapi that has those of an earlier run.
    const body = { name: `${name}-${Date.now()}`, description: '', lifespan: null, adminPermissions };
    const made = await api.must('POST', '/admin/admin-tokens', { token: owner.token, body });
    return createMcp(strapi, made.data.accessKey);
  };
  const url = own('read-url');
  const report = own('read-report');
  const all = [reading(ARTICLE, ['en', 'de', 'fr']), reading(PRESS), url, report];
  const agent = await agentOf(admin, 'agent', all);
  const may = async (name, permissions) => {
    const owner = await api.editor(admin.token, `${name}-owner`, [...permissions, ...TOKENS]);
    return agentOf(owner, name, permissions);
  };
  const german = await may('german', [reading(ARTICLE, ['de']), url, report]);
  const creator = await may('creator', [
    { ...reading(ARTICLE, ['en', 'de', 'fr']), conditions: ['admin::is-creator'] },
    url,
    report,
  ]);
  const press = await may('press', [reading(PRESS), url, report]);
  const reporter = await may('reporter', [reading(ARTICLE, ['en']), report]);

  const { result } = await agent.initialize();
  equal('MCP: the server', result?.serverInfo?.name, 'strapi-mcp-server');
  const named = (tools) => tools.map(({ name }) => name).filter((name) => name.startsWith('frontend_map'));
  const tools = await agent.tools();
  equal('MCP: the tools', named(tools), TOOLS);
  for (const { name, inputSchema, outputSchema, description } of tools.filter(({ name }) =>
    TOOLS.includes(name),
  )) {
    check(
      `MCP: the schemas of ${name}`,
      inputSchema.type === 'object' && outputSchema.type === 'object',
      name,
    );
    check(`MCP: the description of ${name}`, description.length > 80, description);
  }
  equal('MCP: only the tools that the token may use', named(await reporter.tools()), [PROBLEMS]);
  const stranger = createMcp(strapi, 'no-such-token');
  equal('MCP: another token', (await stranger.call('tools/list')).status, 401);
  const refused = await reporter.tool(DOCUMENT, { uid: ARTICLE, documentId: 'x' });
  check(
    'MCP: a tool that the token may not use',
    (refused.error || refused.isError) && !refused.data,
    refused,
  );

  const articles = await api.rows(admin.token, ARTICLE, { pageSize: 100, locale: 'en' });
  const live = articles.find(({ status }) => status === 'published');
  const key = { uid: ARTICLE, documentId: live.documentId };

  const english = await agent.tool(DOCUMENT, { ...key, locale: 'en' });
  const { url: page, path } = english.data.published;
  equal('MCP: the URL of a document', [english.isError, page], [false, base + path]);
  equal('MCP: in a sentence', english.text, `The public URL is ${page}.`);
  equal('MCP: the data as text', JSON.parse(english.texts[1]), english.data);
  equal('MCP: other languages', english.data.languages.map(({ locale }) => locale).sort(), ['de', 'fr']);
  const draft = articles.find(({ status }) => status === 'draft');
  const unpublished = await agent.tool(DOCUMENT, { ...key, documentId: draft.documentId, locale: 'en' });
  check('MCP: a draft', /^This version is not published/.test(unpublished.text), unpublished.text);
  const unknown = await agent.tool(DOCUMENT, { ...key, documentId: 'nothing', locale: 'en' });
  equal(
    'MCP: an unknown document',
    [unknown.isError, unknown.text],
    [true, `There is no document nothing of ${ARTICLE} in the locale en that this token may read.`],
  );
  const invalid = await agent.tool(DOCUMENT, { uid: 'article', documentId: 'x' });
  check('MCP: invalid arguments', /uid/.test(invalid.error?.message ?? invalid.text), invalid);

  const germanUrl = await german.tool(DOCUMENT, { ...key, locale: 'de' });
  equal('MCP: one locale: this one', [germanUrl.isError, germanUrl.data?.languages], [false, []]);
  const other = await german.tool(DOCUMENT, { ...key, locale: 'en' });
  check('MCP: one locale: not another one', other.isError && !other.data, other);
  const notCreated = await creator.tool(DOCUMENT, { ...key, locale: 'en' });
  check('MCP: a condition that is not met', notCreated.isError && !notCreated.data, notCreated);
  const type = await press.tool(DOCUMENT, key);
  equal(
    'MCP: a type that the token may not read',
    type.text,
    `There is no content type ${ARTICLE} that this token may read.`,
  );

  const found = await agent.tool(PAGE, { url: page });
  equal(
    'MCP: the page at a URL',
    [found.data?.kind, found.data?.document?.documentId],
    ['document', live.documentId],
  );
  equal('MCP: the page at a path', (await agent.tool(PAGE, { url: path })).data, found.data);
  check('MCP: the page in a sentence', found.text.includes(`${live.documentId} (`), found.text);
  const nowhere = await agent.tool(PAGE, { url: '/en/articles/no-such-article' });
  equal('MCP: no page', [nowhere.text, nowhere.data?.kind], ['There is no page at this URL.', 'none']);
  for (const one of [german, creator, press]) {
    const hidden = await one.tool(PAGE, { url: page });
    equal('MCP: a page that the token may not read', [hidden.data?.document, hidden.data?.url], [null, null]);
    check(
      'MCP: a page that the token may not read, in a sentence',
      !hidden.text.includes(live.documentId),
      hidden.text,
    );
  }
  await moved({ api, admin, agent, german, equal, base });
  const wrong = await agent.tool(PAGE, { url: 'ftp://x/y' });
  check('MCP: no URL', wrong.isError && wrong.text.includes('`url`'), wrong.text);

  const problems = await agent.tool(PROBLEMS, { uid: ARTICLE, kind: 'no_url', pageSize: 5 });
  check(
    'MCP: the problems of a type',
    problems.data?.problems.length === 5 &&
      problems.data.count > 5 &&
      problems.data.problems.every(({ contentType, kind }) => contentType === ARTICLE && kind === 'no_url'),
    problems,
  );
  const locales = (rows) => [
    ...new Set(rows.flatMap((row) => [row.locale, row.owner?.locale ?? row.locale])),
  ];
  const mine = await german.tool(PROBLEMS, { uid: ARTICLE, pageSize: 100 });
  equal('MCP: one locale: its problems', locales(mine.data.problems), ['de']);
  const more = await agent.tool(PROBLEMS, { uid: ARTICLE, pageSize: 100 });
  check('MCP: one locale: fewer problems', mine.data.count < more.data.count, [
    mine.data.count,
    more.data.count,
  ]);
  equal(
    'MCP: a condition that is not met: no problems',
    (await creator.tool(PROBLEMS, { uid: ARTICLE })).data?.count,
    0,
  );
  const notMine = await press.tool(PROBLEMS, { uid: ARTICLE });
  check('MCP: problems of another type', notMine.isError && !notMine.data, notMine);
  const noSite = await agent.tool(PROBLEMS, { uid: ARTICLE, site: 'nowhere' });
  check('MCP: another site', noSite.isError && noSite.text.includes('nowhere'), noSite.text);

  proxy.missing = ['/api/publish-preview'];
  const old = await agent.tool(PREVIEW, { ...key, locale: 'en' });
  equal(
    'MCP: a service without previews',
    old.text,
    'This version of frontend-map is too old for this tool.',
  );
  proxy.missing = [];
  await previewed({ german, check, equal }, key);
  const closed = await german.tool(PREVIEW, { ...key, locale: 'en' });
  check(
    'MCP: one locale: no preview of another one',
    closed.isError && /no document/.test(closed.text),
    closed.text,
  );

  proxy.failure = 'closed';
  for (const [name, args] of [
    [DOCUMENT, { ...key, locale: 'fr' }],
    [PAGE, { url: path }],
    [PREVIEW, { ...key, locale: 'fr' }],
  ]) {
    const away = await agent.tool(name, args);
    equal(
      `MCP: ${name} without the service`,
      [away.isError, away.text],
      [true, 'frontend-map cannot be reached at present. Try again later.'],
    );
  }
  proxy.failure = null;
};

// What deleting would do to other locales is hidden.
const previewed = async ({ german, check, equal }, key) => {
  const mine = await german.tool(PREVIEW, { ...key, locale: 'de' });
  const gone = mine.data?.sites[0].delete.gone.first ?? [];
  equal('MCP: one locale: its preview', gone.map(({ locale, hidden }) => locale ?? hidden).sort(), [
    'de',
    true,
    true,
  ]);
  check('MCP: one locale: no path of another one', !/\/(en|fr)\//.test(mine.texts.join()), mine.texts);
};

// A page moves as announced, and the former path leads to the document for those alone who may read it.
const moved = async ({ api, admin, agent, german, equal, base }) => {
  const types = `/content-manager/collection-types/${ARTICLE}`;
  const { token } = admin;
  const slug = `agents-${Date.now()}`;
  const at = (name) => `/en/articles/${name}`;
  const kindIs = (name, kind) => async () => {
    const found = await agent.tool(PAGE, { url: at(name) });
    return found.data?.kind === kind && found;
  };
  const body = { title: 'A page that moves', slug };
  const { documentId } = (await api.must('POST', `${types}?locale=en`, { token, body })).data;
  const publish = (changed) =>
    api.must('POST', `${types}/${documentId}/actions/publish?locale=en`, {
      token,
      body: { ...body, ...changed },
    });
  await publish({});
  const before = await until(kindIs(slug, 'document'));
  equal('MCP: a page, before it moves', before.data?.document?.documentId, documentId);
  const now = { slug: `${slug}-now` };
  await api.must('PUT', `${types}/${documentId}?locale=en`, { token, body: now });
  const preview = await agent.tool(PREVIEW, { uid: ARTICLE, documentId, locale: 'en' });
  const { site, publish: effect } = preview.data?.sites[0] ?? {};
  const moves = { from: at(slug), to: at(now.slug), redirects: true };
  equal(
    'MCP: what publishing would do',
    [site, effect?.url, effect?.moves],
    ['main', base + moves.to, moves],
  );
  const sentence = `The page moves from ${moves.from} to ${moves.to}, and the old path redirects.`;
  equal('MCP: in a sentence', preview.text.includes(sentence), true);
  await publish(now);
  const after = await until(kindIs(slug, 'redirect'));
  equal(
    'MCP: a page that has moved',
    [after.data?.document?.documentId, new URL(after.data?.url ?? 'none:').pathname],
    [documentId, at(now.slug)],
  );
  const hidden = await german.tool(PAGE, { url: at(slug) });
  equal(
    'MCP: a redirect to what the token may not read',
    [hidden.data?.kind, hidden.data?.url],
    ['redirect', null],
  );
  await api.must('DELETE', `${types}/${documentId}?locale=*`, { token });
  const gone = await until(kindIs(slug, 'none'));
  equal('MCP: a page that is gone', /A document had it until/.test(gone.text), true);
};
