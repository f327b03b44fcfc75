import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Core } from '@strapi/strapi';
import plugin from '../../server/src/index';
import { createTools } from '../../server/src/agents/tools';
import { REGISTERED } from '../../server/src/permissions';
import { data, error, startPeer } from './peer';
import { request, strapiWith } from './strapi';

const UID = 'api::a.a';
const OTHER = 'api::other.other';
const VERSION = { documentId: 'a1', locale: 'en', updatedAt: '2026-01-01' };
const ROWS = { [UID]: [VERSION] };
const KEY = { uid: UID, documentId: 'a1', locale: 'en' };
const NAMES = ['document_url', 'page_at_url', 'problems', 'publish_preview'].map(
  (name) => `frontend_map_${name}`,
);

type Tool = ReturnType<typeof createTools>[number];

const registeredBy = (ai: unknown): Tool[] => {
  const tools: Tool[] = [];
  const registerTool = (tool: Tool) => tools.push(tool);
  const mcp = ai === true || ai === false ? { mcp: { isEnabled: () => ai, registerTool } } : ai;
  plugin.register({ strapi: { ai: mcp } as unknown as Core.Strapi });
  return tools;
};

test('agents: a Strapi without an MCP server, or with one that is off, starts without tools', () => {
  for (const ai of [undefined, {}, { admin: {} }, false]) assert.deepEqual(registeredBy(ai), []);
});

test('agents: four tools, each with an action that the plugin registers', () => {
  const tools = registeredBy(true);
  assert.deepEqual(
    tools.map(({ name }) => name),
    NAMES,
  );
  const registered = REGISTERED.map(({ pluginName, uid }) => `plugin::${pluginName}.${uid}`);
  const actions = tools.flatMap(({ auth }) => auth.policies.map(({ action }) => action));
  assert.equal(actions.length, tools.length);
  for (const action of actions) assert.ok(registered.includes(action), action);
});

/** What the tool answers, with the arguments as its schema reads them. */
const ask = async (strapi: Core.Strapi, name: string, args: object) => {
  const tool = createTools().find((one) => one.name === `frontend_map_${name}`);
  assert.ok(tool);
  const context = { userAbility: request({}).state.userAbility, user: { id: 1 } };
  const read = tool.resolveInputSchema?.(context)?.parse(args) ?? {};
  const { content, structuredContent, isError } = await tool.createHandler(
    strapi,
    context,
  )({ args: read, extra: {} });
  if (structuredContent) {
    // A client checks it by the schema, and others read the same as text.
    assert.deepEqual(tool.resolveOutputSchema(context).parse(structuredContent), structuredContent);
    assert.deepEqual(content[1], { type: 'text', text: JSON.stringify(structuredContent) });
  }
  const [first] = content;
  assert.ok(first?.type === 'text');
  return { text: first.text, found: structuredContent as Record<string, unknown>, isError: isError === true };
};

const asked = async (respond: Parameters<typeof startPeer>[0], name: string, args: object, types = ROWS) => {
  const peer = await startPeer(respond);
  try {
    return await ask(strapiWith({ url: peer.address, site: 'main' }, {}, types), name, args);
  } finally {
    peer.stop();
  }
};

const LIVE = { locale: 'en', url: 'https://x/en/a', path: '/en/a', formerPaths: [] };
const OWNER = { contentType: OTHER, documentId: 'o1', locale: 'en' };

test('agents: the URL of a document, why it has none, and whose page the URL opens', async () => {
  const ofRow = (row: object) =>
    asked((_request, response) => data(response, { locales: [row] }), 'document_url', KEY);
  const { text, found } = await ofRow(LIVE);
  assert.equal(text, 'The public URL is https://x/en/a.');
  assert.deepEqual(found.published, { url: 'https://x/en/a', path: '/en/a' });
  const shared = await ofRow({ ...LIVE, sharedPath: { owner: OWNER } });
  assert.match(shared.text, /^The public URL is \S+, but this opens another document/);
  assert.deepEqual(shared.found.published, { url: 'https://x/en/a', path: '/en/a', owner: null });
  const none = await ofRow({ locale: 'en', reason: 'slug_empty', rule: '/{slug}' });
  assert.equal(none.text, 'The document has no public URL: the reason is slug_empty, of the rule /{slug}.');
});

test('agents: no rule, no such document, no such type are sentences', async () => {
  const noRule: Parameters<typeof startPeer>[0] = ({ url }, response) =>
    url?.startsWith('/api/sites')
      ? data(response, { sites: [{ key: 'main', contentTypes: [OTHER] }] })
      : error(response, 404, { reason: 'no_rule' });
  for (const name of ['document_url', 'publish_preview', 'problems']) {
    const { text, isError } = await asked(noRule, name, name === 'problems' ? { uid: UID } : KEY);
    assert.deepEqual([text, isError], [`No rule of frontend-map builds a URL for ${UID}.`, true], name);
    const hidden = await asked(noRule, name, { ...KEY, uid: OTHER });
    assert.equal(hidden.text, `There is no content type ${OTHER} that this token may read.`, name);
  }
  for (const name of ['document_url', 'publish_preview']) {
    const { text, isError } = await asked(noRule, name, KEY, { [UID]: [] });
    const sentence = `There is no document a1 of ${UID} in the locale en that this token may read.`;
    assert.deepEqual([text, isError], [sentence, true], name);
  }
});

test('agents: a service that is away is a sentence in each tool', async () => {
  const peer = await startPeer(() => undefined);
  peer.stop();
  const sentence = 'frontend-map cannot be reached at present. Try again later.';
  for (const site of ['main', undefined]) {
    for (const [name, args] of [
      ['document_url', KEY],
      ['page_at_url', { url: '/en/a' }],
      ['problems', { uid: UID }],
      ['publish_preview', KEY],
    ] as const) {
      const { text, isError } = await ask(strapiWith({ url: peer.address, site }, {}, ROWS), name, args);
      assert.deepEqual([text, isError], [sentence, true], name);
    }
  }
});

const resolved = (owner: typeof OWNER) => ({
  ...{ kind: 'document', locale: owner.locale, matched: { collectionType: owner.contentType } },
  ...{ documentId: owner.documentId, canonicalUrl: 'https://x/en/a' },
});

test('agents: the page at a URL is named to those alone who may read its document', async () => {
  const at = (owner: typeof OWNER) =>
    asked((_request, response) => data(response, resolved(owner)), 'page_at_url', { url: 'https://y/en/a' });
  const own = { contentType: UID, documentId: 'a1', locale: 'en' };
  const { text, found } = await at(own);
  assert.equal(
    text,
    `This URL opens the document a1 of ${UID} in the locale en, whose URL is https://x/en/a.`,
  );
  assert.deepEqual(found.document, { ...own, isSingle: false });
  for (const hidden of [OWNER, { ...own, locale: 'de' }]) {
    const { text, found } = await at(hidden);
    assert.equal(text, 'This URL opens a document that this token may not read.');
    assert.deepEqual([found.document, found.url], [null, null]);
  }
});

test('agents: no page, no documents, another site, and what is no URL', async () => {
  const nothing = await asked((_request, response) => error(response, 404), 'page_at_url', { url: '/a' });
  assert.deepEqual([nothing.text, nothing.isError], ['There is no page at this URL.', false]);
  const rules = await asked((_request, response) => error(response, 501), 'page_at_url', { url: '/a' });
  assert.match(rules.text, /resolve = "documents"/);
  const other = await asked((_request, response) => data(response, {}), 'page_at_url', {
    url: '/a',
    site: 'b',
  });
  assert.equal(other.text, 'The settings of Frontend Map do not have the site b, but main.');
  const wrong = await asked((_request, response) => data(response, {}), 'page_at_url', { url: 'a' });
  assert.match(wrong.text, /^`url` is neither/);
  assert.ok([rules, other, wrong].every(({ isError }) => isError));
});

test('agents: a page of the problems of one type, of those that the token may read', async () => {
  const problem = (contentType: string, documentId: string) => ({
    ...{ kind: 'no_url', contentType, documentId, locale: 'en', reason: 'slug_missing' },
  });
  const problems = [problem(UID, 'a1'), problem(OTHER, 'o1'), problem(UID, 'a2'), problem('api::b.b', 'b1')];
  const sites = [{ key: 'main', contentTypes: [UID, 'api::b.b'] }];
  const respond: Parameters<typeof startPeer>[0] = (_request, response) =>
    data(response, { sites, problems, validations: [], truncated: true });
  const types = { [UID]: ['a1', 'a2'].map((documentId) => ({ ...VERSION, documentId })), 'api::b.b': [] };
  const { text, found } = await asked(respond, 'problems', { uid: UID, page: 2, pageSize: 1 }, types);
  assert.equal(
    text,
    `2 problems of ${UID} in the site main. Page 2 of 2 has 1 of them. frontend-map has more problems than it lists.`,
  );
  const { documentId } = (found.problems as { documentId: string }[])[0] ?? {};
  assert.deepEqual([documentId, found.count, found.pageCount, found.isCut], ['a2', 2, 2, true]);
});

test('agents: a writer learns that a path is taken, and not by a document that it may not read', async () => {
  const conflict = { path: '/en/b', document: { ...OWNER, title: 'Secret' }, wins: 'this', by: 'own_path' };
  const effects = { site: 'main', publish: { path: '/en/b', url: 'https://x/en/b', conflict } };
  const peer = await startPeer(({ url }, response) =>
    data(response, url?.startsWith('/api/publish-preview') ? { sites: [effects] } : { locales: [LIVE] }),
  );
  const strapi = strapiWith({ url: peer.address, site: 'main' }, {}, ROWS);
  Object.assign(strapi.contentTypes[UID] ?? {}, { options: { draftAndPublish: true } });
  const { found, text } = await ask(strapi, 'document_url', KEY);
  peer.stop();
  const { publish } = found.before as { publish: { conflict: unknown } };
  assert.deepEqual(publish.conflict, { wins: 'this', owner: null });
  assert.doesNotMatch(JSON.stringify(found) + text, /secret|o1/i);
});
