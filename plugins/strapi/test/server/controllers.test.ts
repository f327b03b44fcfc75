import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from 'koa';
import reports from '../../server/src/controllers/reports';
import settings from '../../server/src/controllers/settings';
import urls from '../../server/src/controllers/urls';
import type { DocumentReport } from '../../shared/reports';
import { data, error, startPeer } from './peer';
import { request, strapiWith } from './strapi';

const UID = 'api::a.a';

test('controllers: reports and checks of a site that the settings do not name are a 404', async () => {
  const peer = await startPeer((_request, response) => data(response, {}));
  const strapi = strapiWith({ url: peer.address }, { site: 'main', sites: { [UID]: 'shop' } }, { [UID]: [] });
  const { overview, findings, checks, moves, misses, links, clearMisses, check, start } = reports({ strapi });
  for (const handler of [overview, findings, checks, moves, misses, links, clearMisses, check, start]) {
    await assert.rejects(handler(request({ site: 'another', uid: UID })), { status: 404 });
  }
  assert.deepEqual(peer.asked, []);
  for (const site of ['main', 'shop']) await overview(request({ site }));
  peer.stop();
  assert.equal(peer.asked.length, 4);
});

test('controllers: a URL is that of the version whose permission was checked', async () => {
  const locales = ['de', 'en'].map((locale) => ({ locale, url: `https://x/${locale}`, path: `/${locale}` }));
  const peer = await startPeer((_request, response) => data(response, { results: [], locales }));
  const rows = [
    { documentId: 'd', locale: 'en', updatedAt: '2026-01-01' },
    { documentId: 'd', locale: 'de', updatedAt: '2026-01-01' },
  ];
  const strapi = strapiWith({ url: peer.address }, {}, { [UID]: rows });
  const { rows: list, document } = urls({ strapi });
  await list(request({}, { uid: UID, documentIds: ['d'] }));
  const ctx = request({ uid: UID, documentId: 'd' });
  await document(ctx);
  peer.stop();
  assert.equal(peer.asked[0]?.body, `{"documents":[{"uid":"${UID}","documentId":"d","locale":"en"}]}`);
  const { report } = ctx.body as { report: DocumentReport };
  assert.deepEqual(report.published, { url: 'https://x/en', path: '/en' });
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

test('controllers: the first pages that move along are those that the admin may read', async () => {
  const pageOf = (contentType: string, documentId: string) => ({
    ...{ contentType, documentId, locale: 'en', title: documentId, redirects: true },
    ...{ from: `/${documentId}`, to: `/x/${documentId}` },
  });
  const first = [pageOf('api::hidden.hidden', 'h'), ...['a', 'b', 'c', 'e'].map((id) => pageOf(UID, id))];
  const publish = { url: 'https://x/d', path: '/d', dependents: { count: 12, more: false, first } };
  const sites = [{ site: 'main', publish, unpublish: {}, delete: {} }];
  const locales = [{ locale: 'en', url: 'https://x/d', path: '/d' }];
  const peer = await startPeer((_request, response) => data(response, { site: 'main', sites, locales }));
  const rows = ['a', 'b', 'c', 'd', 'e'].map((documentId) => ({
    documentId,
    ...{ locale: 'en', updatedAt: '2026-01-01' },
  }));
  const ctx = request({ uid: UID, documentId: 'd', locale: 'en' });
  const strapi = strapiWith({ url: peer.address }, {}, { [UID]: rows });
  Object.assign(strapi.contentTypes[UID]!, { options: { draftAndPublish: true } });
  await urls({ strapi }).document(ctx);
  peer.stop();
  const { before } = (ctx.body as { report: DocumentReport }).report;
  assert.deepEqual([before?.publish.dependents.count, before?.publish.redirects], [12, true]);
  assert.deepEqual(
    before?.moving,
    ['a', 'b', 'c'].map((id) => ({ from: `/${id}`, to: `/x/${id}` })),
  );
});

test('controllers: a document without a preview says why, and is not kept', async () => {
  const locales = [{ locale: 'en', url: 'https://x/d', path: '/d' }];
  let previews = 0;
  const peer = await startPeer((asked, response) => {
    if (asked.url?.startsWith('/api/document')) return data(response, { locales });
    previews += 1;
    return previews === 1 ? error(response, 503) : data(response, { sites: [] });
  });
  const rows = [{ documentId: 'd', locale: 'en', updatedAt: '2026-01-01' }];
  const strapi = strapiWith({ url: peer.address, cacheMs: 60_000 }, {}, { [UID]: rows });
  Object.assign(strapi.contentTypes[UID]!, { options: { draftAndPublish: true } });
  const read = async () => {
    const ctx = request({ uid: UID, documentId: 'd', locale: 'en' });
    await urls({ strapi }).document(ctx);
    return ctx.body as { report: DocumentReport; missing?: string };
  };
  const [first, second, third] = [await read(), await read(), await read()];
  peer.stop();
  assert.deepEqual(first.report.published, { url: 'https://x/d', path: '/d' });
  assert.deepEqual([first.missing, second.missing, third.missing], ['busy', undefined, undefined]);
  assert.equal(previews, 2);
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
        'misses',
        'links',
        'locales',
        'formerPaths',
        'sites',
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
      [reports({ strapi }).findings, request({ site: 'main' })],
      [reports({ strapi }).checks, request({ site: 'main' })],
      [reports({ strapi }).moves, request({ site: 'main' })],
      [reports({ strapi }).misses, request({ site: 'main' })],
      [reports({ strapi }).links, request({ site: 'main' })],
      [urls({ strapi }).links, request({ uid: UID, documentId: 'd', path: '/a' })],
    ];
    for (const [handler, ctx] of contexts) {
      await handler(ctx);
      assert.match(JSON.stringify(ctx.body), /^\{"(report|failure)":/);
    }
    peer.stop();
  }
});

/** A service with these sites, which has a rule for `UID` in each. */
const serviceOf = (keys: string[]) =>
  startPeer((_request, response) =>
    data(response, {
      sites: keys.map((key) => ({ key, contentTypes: [UID] })),
      problems: [],
      validations: [],
    }),
  );

test('controllers: the only site of the service is the site, and one of several is not', async () => {
  for (const [keys, expected] of [
    [['main'], ['main']],
    [['main', 'shop'], []],
  ] as const) {
    const peer = await serviceOf([...keys]);
    const strapi = strapiWith({ url: peer.address }, {}, { [UID]: [] });
    const [list, first] = [request({}), request({})];
    await reports({ strapi }).sites(list);
    await reports({ strapi }).overview(first);
    peer.stop();
    assert.deepEqual(
      list.body,
      expected.map((key) => ({ key, redirects: null })),
    );
    const { report } = first.body as { report: { site: string } | null };
    assert.equal(report?.site, expected[0]);
  }
});

test('controllers: the types with a rule are those of the sites in the settings; unknown without a service', async () => {
  const peer = await serviceOf(['main', 'shop']);
  const partsOf = async (url: string, site: string) => {
    const ctx = request({});
    await settings({ strapi: strapiWith({ url }, { site }, { [UID]: [] }) }).parts(ctx);
    return (ctx.body as { contentTypes: string[] | null }).contentTypes;
  };
  assert.deepEqual(await partsOf(peer.address, 'main'), [UID]);
  assert.deepEqual(await partsOf(peer.address, ''), [UID]);
  assert.deepEqual(await partsOf(peer.address, 'another'), []);
  peer.stop();
  assert.equal(await partsOf(peer.address, 'main'), null);
});
