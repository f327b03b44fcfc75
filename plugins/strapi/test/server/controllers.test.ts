import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from 'koa';
import reports from '../../server/src/controllers/reports';
import urls from '../../server/src/controllers/urls';
import { data, startPeer } from './peer';
import { request, strapiWith } from './strapi';

const UID = 'api::a.a';

test('controllers: reports and checks of a site that the settings do not name are a 404', async () => {
  const peer = await startPeer((_request, response) => data(response, {}));
  const strapi = strapiWith({ url: peer.address }, { site: 'main', sites: { [UID]: 'shop' } }, { [UID]: [] });
  const { overview, check, start } = reports({ strapi });
  for (const handler of [overview, check, start]) {
    await assert.rejects(handler(request({ site: 'another', uid: UID })), { status: 404 });
  }
  assert.deepEqual(peer.asked, []);
  for (const site of ['main', 'shop']) await overview(request({ site }));
  peer.stop();
  assert.equal(peer.asked.length, 6);
});

test('controllers: a URL is that of the version whose permission was checked', async () => {
  const peer = await startPeer((_request, response) => data(response, { results: [] }));
  const rows = [
    { documentId: 'd', locale: 'en', updatedAt: '2026-01-01' },
    { documentId: 'd', locale: 'de', updatedAt: '2026-01-01' },
  ];
  const strapi = strapiWith({ url: peer.address }, {}, { [UID]: rows });
  const { rows: list, document } = urls({ strapi });
  await list(request({}, { uid: UID, documentIds: ['d'] }));
  await document(request({ uid: UID, documentId: 'd' }));
  peer.stop();
  assert.equal(peer.asked[0]?.body, `{"documents":[{"uid":"${UID}","documentId":"d","locale":"en"}]}`);
  assert.match(peer.asked[1]?.line ?? '', /&locale=en/);
});

test('controllers: the owner of a path is named to those alone who may read it', async () => {
  const named = { contentType: UID, documentId: 'o', locale: 'en' };
  const hidden = { contentType: 'api::hidden.hidden', documentId: 'h', locale: 'en' };
  const resultOf = (documentId: string, owner: object) => ({
    documentId,
    url: 'https://x/a',
    path: '/a',
    sharedPath: { owner },
  });
  const results = [resultOf('d', named), resultOf('e', hidden)];
  const peer = await startPeer((_request, response) => data(response, { results }));
  const version = { locale: 'en', updatedAt: '2026-01-01' };
  const rows = ['d', 'e', 'o'].map((documentId) => ({ documentId, ...version }));
  const strapi = strapiWith({ url: peer.address }, {}, { [UID]: rows });
  const ctx = request({}, { uid: UID, documentIds: ['d', 'e'], locale: 'en' });
  await urls({ strapi }).rows(ctx);
  peer.stop();
  assert.deepEqual(ctx.body, {
    report: {
      d: { url: 'https://x/a', owner: { ...named, isSingle: false } },
      e: { url: 'https://x/a', owner: null },
    },
  });
});

const ODD = [null, 7, 'x', [null], [[]], {}, [{}], [{ endedAt: 'x' }], [{ endedAt: 'x', pages: [null] }]];
const ODD_ROWS = [
  [{ kind: 'shared_path' }],
  [{ kind: 'shared_path', owner: null, others: [null] }],
  [{ contentType: UID, since: 7 }, { contentType: UID }],
  [{ contentType: UID, dead: [null] }],
];

test('controllers: each body of another server has a result, and ends no process', async () => {
  for (const odd of [...ODD, ...ODD_ROWS]) {
    const peer = await startPeer((_request, response) => {
      const members = [
        'results',
        'problems',
        'validations',
        'redirects',
        'alternates',
        'formerPaths',
        'site',
      ];
      const found = Object.fromEntries(members.map((name) => [name, odd]));
      data(response, { canonicalUrl: 'https://x/a', canonicalPath: '/a', ...found });
    });
    const rows = [{ documentId: 'd', locale: 'en', updatedAt: '2026-01-01' }];
    const strapi = strapiWith({ url: peer.address }, { site: 'main' }, { [UID]: rows });
    const contexts: [(ctx: Context) => Promise<void>, Context][] = [
      [urls({ strapi }).rows, request({}, { uid: UID, documentIds: ['d'] })],
      [urls({ strapi }).document, request({ uid: UID, documentId: 'd' })],
      [reports({ strapi }).overview, request({ site: 'main' })],
    ];
    for (const [handler, ctx] of contexts) {
      await handler(ctx);
      assert.match(JSON.stringify(ctx.body), /^\{"(report|failure)":/);
    }
    peer.stop();
  }
});
