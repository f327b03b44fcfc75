import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DocumentKey, readDocument, type Versions } from '../../server/src/operations/document';
import { createBreaker } from '../../server/src/service/breaker';
import { createClient } from '../../server/src/service/client';
import { data, error, startPeer } from './peer';

type Respond = Parameters<typeof startPeer>[0];

const KEY = { uid: 'api::a.a', documentId: 'a1', locale: 'en', site: 'main' };
const both = { published: true, draft: true, hasDraft: true };
const onlyPublished = { published: true, draft: false, hasDraft: false };

const CHECK = { url: 'https://x/en/a', status: 404, ok: false, at: '2026-01-01T00:00:00Z' };
const ENGLISH = { locale: 'en', url: 'https://x/en/a', path: '/en/a', formerPaths: ['/en/old'] };
const GERMAN = { locale: 'de', url: 'https://x/de/a', path: '/de/a', formerPaths: [] };
const FRENCH = { locale: 'fr', reason: 'slug_empty', rule: '/{slug}' };

const read = async (respond: Respond, versions: Versions, key: DocumentKey = KEY) => {
  const peer = await startPeer(respond);
  const client = createClient(createBreaker());
  const tokens = { draft: 'd', validate: 'v' };
  const get = (path: string, query: Record<string, string | undefined>, token?: 'draft' | 'validate') =>
    client.call(peer.address, { path, query, token: token && tokens[token], timeoutMs: 60_000 });
  try {
    return { report: await readDocument(get, key, versions), asked: peer.asked };
  } finally {
    peer.stop();
  }
};

const NOTHING = {
  ...{ ok: true, conflict: null, moves: null },
  ...{ dependents: { count: 0, more: false, first: [] }, gone: { count: 0, more: false, first: [] } },
};
const EFFECT = {
  ...{ conflict: null, redirect: null, moves: null, redirects: false, unpublished: [] },
  ...{ dependents: { count: 0, more: false }, gone: { count: 0, more: false } },
};

/** A service with these rows, where publishing the draft does this. */
const serviceWith =
  (locales: unknown, publish: object = { url: 'https://x/en/b', path: '/en/b' }): Respond =>
  (request, response) => {
    if (request.url?.startsWith('/api/document')) return data(response, { site: 'main', locales });
    const other = { site: 'other', path: null, publish: NOTHING, unpublish: NOTHING, delete: NOTHING };
    data(response, { sites: [other, { ...other, site: 'main', publish: { ...NOTHING, ...publish } }] });
  };

test('document: two requests, each with its own token', async () => {
  const rows = [{ ...ENGLISH, lastCheck: CHECK }, GERMAN, FRENCH];
  const { report, asked } = await read(serviceWith(rows), both);
  assert.deepEqual(report, {
    published: { url: 'https://x/en/a', path: '/en/a' },
    draft: { url: 'https://x/en/b', path: '/en/b' },
    languages: [
      { locale: 'de', address: { url: 'https://x/de/a', path: '/de/a' } },
      { locale: 'fr', address: { reason: 'slug_empty', rule: '/{slug}' } },
    ],
    formerPaths: ['/en/old'],
    check: { at: CHECK.at, isCurrent: true, status: 404, ok: false },
    previewFailure: null,
    before: { isPublished: false, moving: [], publish: EFFECT, unpublish: EFFECT, delete: EFFECT },
  });
  assert.deepEqual(asked.map(({ line, authorization }) => [line, authorization]).sort(), [
    ['GET /api/document?uid=api%3A%3Aa.a&documentId=a1&site=main', 'Bearer v'],
    ['GET /api/publish-preview?uid=api%3A%3Aa.a&documentId=a1&locale=en&site=main', 'Bearer d'],
  ]);
});

test('document: the URL of a draft alone where the preview of an unpublished document fails', async () => {
  const respond: Respond = (request, response) => {
    if (request.url?.startsWith('/api/document')) return data(response, { site: 'main', locales: [ENGLISH] });
    if (request.url?.startsWith('/api/publish-preview')) return error(response, 502, 'BadGatewayError');
    data(response, { url: 'https://x/en/draft', path: '/en/draft' });
  };
  const { report, asked } = await read(respond, { published: false, draft: true, hasDraft: true });
  assert.deepEqual(report.draft, { url: 'https://x/en/draft', path: '/en/draft' });
  assert.equal(report.before, null);
  const last = 'GET /api/frontend-url?uid=api%3A%3Aa.a&documentId=a1&locale=en&site=main&status=draft';
  assert.ok(
    asked.some(({ line }) => line === last),
    JSON.stringify(asked),
  );
});

test('document: the check of another URL is not that of the present one', async () => {
  const lastCheck = { ...CHECK, url: 'https://x/en/before', status: 200, ok: true };
  const { report } = await read(serviceWith([{ ...ENGLISH, lastCheck }]), onlyPublished);
  assert.equal(report.check?.isCurrent, false);
  const withoutUrl = { locale: 'en', reason: 'slug_empty', rule: null, lastCheck };
  assert.equal((await read(serviceWith([withoutUrl]), onlyPublished)).report.check?.isCurrent, false);
});

test('document: a draft has the other languages, and nothing of its own before', async () => {
  const rows = [{ locale: 'en', reason: 'no_version', rule: null }, GERMAN];
  const { report } = await read(serviceWith(rows), { ...both, published: false });
  assert.equal(report.published, null);
  assert.deepEqual(
    report.languages.map(({ locale }) => locale),
    ['de'],
  );
  assert.deepEqual([report.formerPaths, report.check], [[], null]);
});

test('document: one that is not localized has one row', async () => {
  const { report } = await read(serviceWith([ENGLISH]), onlyPublished, {
    uid: 'api::a.a',
    documentId: 'a1',
    site: 'main',
  });
  assert.deepEqual(report.published, { url: 'https://x/en/a', path: '/en/a' });
  assert.deepEqual(report.languages, []);
});

for (const rows of [[ENGLISH], [ENGLISH, GERMAN]]) {
  test(`document: a locale that a site with ${rows.length} does not have`, async () => {
    const { report } = await read(serviceWith(rows), onlyPublished, { ...KEY, locale: 'it' });
    assert.deepEqual(report.published, { reason: 'locale_unknown', rule: null });
    assert.equal(report.languages.length, rows.length);
  });
}

test('document: the owner of a path that another document has', async () => {
  const owner = { contentType: 'api::b.b', documentId: 'b1', locale: 'en' };
  const sharedPath = { owner };
  const conflict = { path: '/en/a', document: owner, wins: 'other', by: 'owned_before' };
  const draft = { url: 'https://x/en/a', path: '/en/a', conflict };
  const { report } = await read(serviceWith([{ ...ENGLISH, sharedPath }], draft), both);
  assert.deepEqual(report.published, { url: 'https://x/en/a', path: '/en/a', owner });
  assert.equal(report.draft, null, 'the same address and the same owner');
});

test('document: what publishing would do', async () => {
  const document = { contentType: 'api::b.b', documentId: 'b1', locale: 'en', title: 'Secret' };
  const page = { ...document, from: '/en/secret', to: '/en/b', redirects: true };
  const { report } = await read(
    serviceWith([ENGLISH], {
      ...{ url: 'https://x/en/b', path: '/en/b' },
      conflict: { path: '/en/b', document, wins: 'this', by: 'listed' },
      redirect: { document, to: null, force: true },
      moves: { from: '/en/a', to: '/en/b', redirects: false, redirect: { document, to: '/c', force: false } },
      dependents: { count: 12, more: true, first: [page] },
      gone: { count: 1, more: true, first: [{ ...document, path: '/en/secret' }] },
      unpublished: [{ field: 'parent', documentId: 'p1' }],
    }),
    both,
  );
  const owner = { contentType: 'api::b.b', documentId: 'b1', locale: 'en' };
  assert.deepEqual(report.before?.publish, {
    conflict: { wins: 'this', owner },
    redirect: { to: null, force: true },
    moves: { from: '/en/a', to: '/en/b', redirects: false, redirect: true },
    dependents: { count: 12, more: true },
    redirects: true,
    gone: { count: 1, more: true },
    unpublished: ['parent'],
  });
  assert.deepEqual(report.before.moving, [{ ...owner, from: '/en/secret', to: '/en/b' }]);
  assert.doesNotMatch(JSON.stringify(report), /Secret/, 'no title: who may read it is not known');
  assert.deepEqual(report.draft, { url: 'https://x/en/b', path: '/en/b' }, 'the path is its own then');
});

test('document: a draft without changes has no URL of its own, and a preview', async () => {
  const unchanged = { published: true, draft: false, hasDraft: true };
  const { report, asked } = await read(serviceWith([ENGLISH]), unchanged);
  assert.equal(report.draft, null);
  assert.deepEqual(report.before?.unpublish, EFFECT);
  assert.equal(asked.length, 2);
});

test('document: a draft that can have no URL', async () => {
  const noPath = { reason: 'slug_empty', rule: '/{slug}', message: 'm' };
  const { report } = await read(serviceWith([ENGLISH], { noPath }), both);
  assert.deepEqual(report.draft, { reason: 'slug_empty', rule: '/{slug}' });
});

test('document: a preview that does not come in time hides no published URL', async () => {
  const failing =
    (status: number): Respond =>
    (request, response) => {
      if (request.url?.startsWith('/api/document')) return data(response, { locales: [ENGLISH] });
      return error(response, status);
    };
  for (const [status, failure] of [
    [502, 'cms-failed'],
    [503, 'busy'],
    [504, 'cms-failed'],
  ] as const) {
    const { report } = await read(failing(status), both);
    assert.deepEqual([report.draft, report.before], [null, null]);
    assert.equal(report.previewFailure, failure, 'an editor must not believe that nothing would happen');
    assert.deepEqual(report.published, { url: 'https://x/en/a', path: '/en/a' });
  }
  await assert.rejects(read(failing(502), { ...both, published: false }), { failure: 'cms-failed' });
});

test('document: a type without a rule', async () => {
  const { report } = await read((_request, response) => error(response, 404, { reason: 'no_rule' }), both);
  assert.deepEqual(report.published, { reason: 'no_rule', rule: null });
});

test('document: a locale without a base URL', async () => {
  const { report } = await read(serviceWith([{ ...ENGLISH, url: null }]), onlyPublished);
  assert.deepEqual(report.published, { reason: 'no_base_url', rule: null });
});

test('document: a refused draft token does not hide the published URL', async () => {
  const { report } = await read((request, response) => {
    if (request.url?.startsWith('/api/document')) return data(response, { locales: [ENGLISH] });
    return error(response, 403);
  }, both);
  assert.deepEqual(report.published, { url: 'https://x/en/a', path: '/en/a' });
  assert.deepEqual([report.draft, report.previewFailure], [null, null], 'the service may show no drafts');
});

test('document: a 404 without a reason, or of the address, is of an older version', async () => {
  for (const details of [undefined, { reason: 'no_route' }]) {
    const respond: Respond = (_request, response) => error(response, 404, details);
    await assert.rejects(read(respond, onlyPublished), { failure: 'older-version' });
  }
});

test('document: only URLs that a browser may follow', async () => {
  const wrong = { ...ENGLISH, url: 'javascript:alert(1)' };
  for (const rows of [[wrong], [ENGLISH, { ...wrong, locale: 'de' }]]) {
    await assert.rejects(read(serviceWith(rows), onlyPublished), { failure: 'not-the-service' });
  }
});
