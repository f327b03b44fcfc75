import assert from 'node:assert/strict';
import { test } from 'node:test';
import { previewText } from '../../server/src/agents/sentences';
import { readPreview } from '../../server/src/operations/preview';
import type { MayRead } from '../../server/src/operations/reports';
import { createBreaker } from '../../server/src/service/breaker';
import { createClient } from '../../server/src/service/client';
import { data, error, startPeer } from './peer';

const KEY = { uid: 'api::a.a', documentId: 'a1', locale: 'de', site: 'main' };

const read = async (respond: Parameters<typeof startPeer>[0], mayRead: MayRead = async () => 'all') => {
  const peer = await startPeer(respond);
  const client = createClient(createBreaker());
  const get = (path: string, query: Record<string, string | undefined>, token?: string) =>
    client.call(peer.address, { path, query, token, timeoutMs: 60_000 });
  try {
    return { preview: await readPreview(get, KEY, mayRead), asked: peer.asked };
  } finally {
    peer.stop();
  }
};

test('preview: one request with the token for drafts', async () => {
  const { preview, asked } = await read((_request, response) => data(response, { ok: true }));
  assert.deepEqual(preview, { effects: { ok: true } });
  assert.deepEqual(
    asked.map(({ line, authorization }) => [line, authorization]),
    [['GET /api/publish-preview?uid=api%3A%3Aa.a&documentId=a1&locale=de&site=main', 'Bearer draft']],
  );
});

test('preview: a service without the route is too old; a document without a URL has a reason', async () => {
  for (const details of [undefined, { reason: 'no_route' }]) {
    await assert.rejects(
      read((_request, response) => error(response, 404, details)),
      { failure: 'older-version' },
    );
  }
  const { preview } = await read((_request, response) => error(response, 404, { reason: 'no_rule' }));
  assert.deepEqual(preview, { reason: 'no_rule' });
});

const name = (contentType: string, documentId: string, locale: string) => ({
  contentType,
  documentId,
  locale,
});
const group = (count: number, more: boolean, first: object[] = []) => ({ count, more, first });
const NOTHING = { conflict: null, moves: null, dependents: group(0, false), gone: group(0, false) };
const MOVES = { from: '/de/alt', to: '/de/neu', redirects: true };
const CONFLICT = {
  ...{ path: '/de/neu', document: { ...name('api::secret.secret', 's1', 'de'), title: 'Secret' } },
  ...{ wins: 'other', by: 'rule' },
};
const EFFECTS = {
  site: 'main',
  path: '/de/alt',
  publish: {
    ...{ ok: false, path: '/de/neu', url: 'https://x/de/neu', conflict: CONFLICT, moves: MOVES },
    dependents: group(3, true, [
      { ...name('api::a.a', 'a2', 'de'), ...MOVES },
      { ...name('api::a.a', 'a3', 'en'), ...MOVES, from: '/en/secret' },
      { ...name('api::a.a', 'a4', 'de'), ...MOVES, from: '/de/creator' },
    ]),
    gone: group(0, false),
  },
  unpublish: {
    ...NOTHING,
    ok: false,
    gone: group(1, false, [{ ...name('api::a.a', 'a1', 'de'), path: '/de/alt' }]),
  },
  delete: {
    ...NOTHING,
    ok: false,
    gone: group(2, false, [{ ...name('api::a.a', 'a1', 'en'), path: '/en/old' }]),
  },
};

test('preview: documents, paths and titles of what the admin may not read are left out', async () => {
  const mayRead: MayRead = async (uid) => (uid === 'api::a.a' ? new Set(['a1 de', 'a2 de']) : 'none');
  const { preview } = await read((_request, response) => data(response, EFFECTS), mayRead);
  assert.ok('effects' in preview);
  const { publish, delete: deleted } = preview.effects as typeof EFFECTS;
  assert.deepEqual(publish.conflict, { ...CONFLICT, document: { hidden: true } });
  const [moved] = EFFECTS.publish.dependents.first;
  assert.deepEqual(publish.dependents, group(3, true, [moved ?? {}, { hidden: true }, { hidden: true }]));
  assert.deepEqual(deleted.gone, group(2, false, [{ hidden: true }]));
  assert.doesNotMatch(JSON.stringify(preview) + previewText(preview), /secret|\/en\/|creator/i);
});

test('preview: the sentences have the conflict, the move, and the number of pages', async () => {
  const { preview } = await read((_request, response) => data(response, EFFECTS));
  assert.deepEqual(preview, { effects: EFFECTS });
  assert.deepEqual(previewText(preview).split('\n'), [
    'If published: The URL is https://x/de/neu. The path /de/neu belongs to the document s1 of api::secret.secret; visitors would still see that one. The page moves from /de/alt to /de/neu, and the old path redirects. Of other documents, 3 pages or more would move along.',
    'If unpublished: Visitors would not find 1 page any more.',
    'If deleted: Visitors would not find 2 pages any more.',
  ]);
});

test('preview: no change, no URL, a page outside the CMS, and what is not known', () => {
  const textOf = (publish: object) => previewText({ effects: { publish: { ...NOTHING, ...publish } } });
  assert.equal(textOf({}), 'If published: No URL changes.');
  const noPath = { reason: 'slug_missing', rule: '/{slug}', message: 'm' };
  assert.equal(textOf({ noPath }), 'If published: No URL: the reason is slug_missing, of the rule /{slug}.');
  const page = { path: '/c', page: 'contact', wins: 'other', by: 'page' };
  assert.match(textOf({ conflict: page }), /belongs to the page "contact", which is not in Strapi/);
  const unknown = { path: '/c', document: name('api::a.a', 'a2', 'de'), wins: 'unknown' };
  assert.match(textOf({ conflict: unknown }), /it is not known which of both visitors would see\.$/);
  assert.match(textOf({ moves: { ...MOVES, redirects: false } }), /and the old path does not redirect\.$/);
  assert.match(previewText({ effects: { publish: 7, other: {} } }), /cannot sum up\.$/);
  assert.equal(
    previewText({ reason: 'no_version' }),
    'The document would have no URL: the reason is no_version.',
  );
});
