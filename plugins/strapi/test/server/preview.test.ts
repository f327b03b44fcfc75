import assert from 'node:assert/strict';
import { test } from 'node:test';
import { previewText } from '../../server/src/agents/sentences';
import { readPreview } from '../../server/src/operations/preview';
import type { MayRead } from '../../server/src/operations/reports';
import { createBreaker } from '../../server/src/service/breaker';
import { createClient } from '../../server/src/service/client';
import { data, error, startPeer } from './peer';

const KEY = { uid: 'api::a.a', documentId: 'a1', locale: 'de' };

const read = async (
  respond: Parameters<typeof startPeer>[0],
  { mayRead = async () => 'all', sites = ['main'] }: { mayRead?: MayRead; sites?: string[] } = {},
) => {
  const peer = await startPeer(respond);
  const client = createClient(createBreaker());
  const get = (path: string, query: Record<string, string | undefined>, token?: string) =>
    client.call(peer.address, { path, query, token, timeoutMs: 60_000 });
  try {
    const preview = await readPreview(get, KEY, sites, mayRead);
    const asked = peer.asked.map(({ line, authorization }) => [line, authorization]);
    return { preview, sites: 'sites' in preview ? preview.sites : [], asked };
  } finally {
    peer.stop();
  }
};

const withSites =
  (...sites: object[]): Parameters<typeof startPeer>[0] =>
  (_request, response) =>
    data(response, { contentType: KEY.uid, documentId: KEY.documentId, locale: KEY.locale, sites });

test('preview: one request with the token for drafts, about the sites of the settings', async () => {
  const both = withSites({ site: 'main' }, { site: 'other' });
  const asked = 'GET /api/publish-preview?uid=api%3A%3Aa.a&documentId=a1&locale=de';
  const one = await read(withSites({ site: 'main' }));
  assert.deepEqual(one.asked, [[`${asked}&site=main`, 'Bearer draft']]);
  assert.deepEqual(one.preview, { sites: [{ site: 'main' }] });
  const some = await read(both, { sites: ['main', 'shop'] });
  assert.deepEqual([some.asked, some.sites], [[[asked, 'Bearer draft']], [{ site: 'main' }]]);
  assert.deepEqual((await read(both, { sites: [] })).sites, [{ site: 'main' }, { site: 'other' }]);
  assert.deepEqual((await read(both, { sites: ['shop', 'third'] })).preview, { reason: 'no_rule' });
});

test('preview: a service without the route is too old; what it cannot say has a reason', async () => {
  for (const details of [undefined, { reason: 'no_route' }]) {
    const older = read((_request, response) => error(response, 404, details));
    await assert.rejects(older, { failure: 'older-version' });
  }
  const unknown = read((_request, response) => error(response, 400));
  await assert.rejects(unknown, { failure: 'unknown-site' });
  const odd = read((_request, response) => data(response, { sites: 7 }));
  await assert.rejects(odd, { failure: 'not-the-service' });
  const { preview } = await read((_request, response) => error(response, 404, { reason: 'no_version' }));
  assert.deepEqual(preview, { reason: 'no_version' });
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
  const { sites } = await read(withSites(EFFECTS), { mayRead });
  const [{ publish, delete: deleted } = EFFECTS] = sites as (typeof EFFECTS)[];
  assert.deepEqual(publish.conflict, { ...CONFLICT, document: { hidden: true } });
  const [moved] = EFFECTS.publish.dependents.first;
  assert.deepEqual(publish.dependents, group(3, true, [moved ?? {}, { hidden: true }, { hidden: true }]));
  assert.deepEqual(deleted.gone, group(2, false, [{ hidden: true }]));
  assert.match(previewText(sites), /belongs to a document that this token may not read;/);
  assert.doesNotMatch(JSON.stringify(sites) + previewText(sites), /secret|\/en\/|creator/i);
});

test('preview: the sentences have the conflict, the move, and the number of pages', async () => {
  const { sites } = await read(withSites(EFFECTS));
  assert.deepEqual(sites, [EFFECTS]);
  assert.deepEqual(previewText(sites).split('\n'), [
    'If published: The URL is https://x/de/neu. The path /de/neu belongs to the document s1 of api::secret.secret; visitors would still see that one. The page moves from /de/alt to /de/neu, and the old path redirects. Of other documents, 3 pages or more would move along.',
    'If unpublished: Visitors would not find 1 page any more.',
    'If deleted: Visitors would not find 2 pages any more.',
  ]);
});

test('preview: no change, no URL, a page outside the CMS, and several sites', () => {
  const site = { site: 'main', publish: NOTHING, unpublish: NOTHING, delete: NOTHING };
  const textOf = (publish: object) =>
    previewText([{ ...site, publish: { ...NOTHING, ...publish } }]).split('\n')[0] ?? '';
  assert.equal(textOf({}), 'If published: No URL changes.');
  const noPath = { reason: 'slug_missing', rule: '/{slug}', message: 'm' };
  assert.equal(textOf({ noPath }), 'If published: No URL: the reason is slug_missing, of the rule /{slug}.');
  const page = { path: '/c', page: 'contact', wins: 'other', by: 'page' };
  const rule = { path: '/c', rule: '/{slug}', wins: 'other', by: 'rule' };
  assert.match(textOf({ conflict: rule }), /matches the rule \/\{slug\} of another content type/);
  const unpublished = [{ field: 'category', documentId: 'c1' }];
  assert.match(textOf({ unpublished }), /without related documents that are not published: category\.$/);
  assert.match(textOf({ conflict: page }), /belongs to the page "contact", which is not in Strapi/);
  const unknown = { path: '/c', document: name('api::a.a', 'a2', 'de'), wins: 'unknown' };
  assert.match(textOf({ conflict: unknown }), /it is not known which of both visitors would see\.$/);
  assert.match(textOf({ moves: { ...MOVES, redirects: false } }), /and the old path does not redirect\.$/);
  const secret = { document: { hidden: true }, to: '/d', force: true };
  assert.match(
    textOf({ redirect: secret }),
    /A redirect comes before this page and leads to \/d, so visitors would not see the page\.$/,
  );
  const redirect = { document: name('api::r.r', 'r1', 'de'), to: null, force: false };
  assert.match(textOf({ path: '/c', redirect }), /The redirect r1 has the same path and has no effect/);
  assert.match(textOf({ redirect }), /The redirect r1 has the path then and says that the page is gone\.$/);
  const elsewhere = { ...MOVES, redirects: false, redirect };
  assert.match(textOf({ moves: elsewhere }), /and the old path has another redirect\.$/);
  const both = previewText([site, { ...site, site: 'shop' }]).split('\n');
  assert.equal(both.length, 6);
  assert.equal(both[3], 'If published on the site shop: No URL changes.');
});
