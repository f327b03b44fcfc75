import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDocument, type ResolveSupport } from '../../server/src/operations/document';
import { createBreaker } from '../../server/src/service/breaker';
import { createClient } from '../../server/src/service/client';
import { data, error, startPeer } from './peer';

type Respond = Parameters<typeof startPeer>[0];

const KEY = { uid: 'api::a.a', documentId: 'a1', locale: 'en', site: 'main' };
const both = { published: true, draft: true };
const onlyPublished = { published: true, draft: false };

const ALWAYS: ResolveSupport = { mayResolve: () => true, markUnsupported: () => undefined };

const RESOLVED = {
  canonicalUrl: 'https://x/en/a',
  canonicalPath: '/en/a',
  alternates: { en: 'https://x/en/a', de: 'https://x/de/a' },
  formerPaths: ['/en/old'],
  site: 'main',
};
const PAGE = {
  url: 'https://x/en/a',
  status: 404,
  ok: false,
  locale: 'en',
  rule: '/{slug}',
  documentId: 'a1',
};

const read = async (
  respond: Respond,
  versions: { published: boolean; draft: boolean },
  resolves = ALWAYS,
) => {
  const peer = await startPeer(respond);
  const client = createClient(createBreaker());
  const tokens = { draft: 'd', validate: 'v' };
  const get = (path: string, query: Record<string, string | undefined>, token?: 'draft' | 'validate') =>
    client.call(peer.address, { path, query, token: token && tokens[token], timeoutMs: 60_000 });
  try {
    return { report: await readDocument(get, KEY, versions, resolves), asked: peer.asked };
  } finally {
    peer.stop();
  }
};

test('document: three requests, each with its own token', async () => {
  const { report, asked } = await read((request, response) => {
    const url = request.url ?? '';
    if (url.startsWith('/api/resolve')) return data(response, RESOLVED);
    if (url.startsWith('/api/frontend-url')) return data(response, { url: 'https://x/en/b', path: '/en/b' });
    return data(response, { validations: [{ endedAt: '2026-01-01T00:00:00Z', pages: [PAGE] }] });
  }, both);
  assert.deepEqual(report, {
    published: { url: 'https://x/en/a', path: '/en/a' },
    draft: { url: 'https://x/en/b', path: '/en/b' },
    alternates: RESOLVED.alternates,
    formerPaths: ['/en/old'],
    checked: {
      at: '2026-01-01T00:00:00Z',
      urls: [{ url: PAGE.url, status: 404, ok: false, reason: undefined, location: undefined }],
    },
  });
  const query = 'uid=api%3A%3Aa.a&documentId=a1&locale=en&site=main';
  assert.deepEqual(asked.map(({ line, authorization }) => [line, authorization]).sort(), [
    [`GET /api/frontend-url?${query}&status=draft&details=true`, 'Bearer d'],
    [`GET /api/resolve?${query}`, undefined],
    ['GET /api/validations?site=main&contentType=api%3A%3Aa.a&documentId=a1', 'Bearer v'],
  ]);
});

test('document: what was found for another locale is not shown', async () => {
  const { report } = await read((request, response) => {
    if (request.url?.startsWith('/api/resolve')) return data(response, RESOLVED);
    const pages = [{ ...PAGE, locale: 'de' }];
    return data(response, { validations: [{ endedAt: '2026-01-01T00:00:00Z', pages }] });
  }, onlyPublished);
  assert.deepEqual(report.checked?.urls, []);
});

test('document: the owner of a path that another document has', async () => {
  const owner = { contentType: 'api::b.b', documentId: 'b1', locale: 'en' };
  const sharedPath = { owner };
  const { report } = await read((request, response) => {
    if (request.url?.startsWith('/api/resolve')) return data(response, { ...RESOLVED, sharedPath });
    if (request.url?.startsWith('/api/validations')) return data(response, { validations: [] });
    return data(response, { url: 'https://x/en/a', path: '/en/a', sharedPath });
  }, both);
  assert.deepEqual(report.published, { url: 'https://x/en/a', path: '/en/a', owner });
  assert.equal(report.draft, null, 'the same address and the same owner');
});

test('document: the reason of the published version', async () => {
  const { report } = await read((_request, response) => {
    error(response, 404, { reason: 'slug_empty', rule: '/{slug}' });
  }, onlyPublished);
  assert.deepEqual(report.published, { reason: 'slug_empty', rule: '/{slug}' });
  assert.equal(report.draft, null);
});

test('document: a draft with the same URL is not shown twice', async () => {
  const { report } = await read((request, response) => {
    if (request.url?.startsWith('/api/resolve')) return data(response, RESOLVED);
    if (request.url?.startsWith('/api/validations')) return data(response, { validations: [] });
    return data(response, { url: 'https://x/en/a', path: '/en/a' });
  }, both);
  assert.equal(report.draft, null);
  assert.equal(report.checked, null);
});

test('document: a site that does not resolve by documents is asked for the URL alone', async () => {
  const respond: Respond = (request, response) => {
    if (request.url?.startsWith('/api/resolve')) return error(response, 501);
    if (request.url?.startsWith('/api/validations')) return error(response, 404);
    return data(response, { url: 'https://x/en/a', path: '/en/a' });
  };
  let mayResolve = true;
  const resolves = { mayResolve: () => mayResolve, markUnsupported: () => void (mayResolve = false) };
  const { report } = await read(respond, onlyPublished, resolves);
  assert.deepEqual(report.published, { url: 'https://x/en/a', path: '/en/a' });
  const { asked } = await read(respond, onlyPublished, resolves);
  const paths = asked.map(({ line }) => line.split('?')[0]).sort();
  assert.deepEqual(paths, ['GET /api/frontend-url', 'GET /api/validations']);
});

test('document: an older version without /api/resolve is asked for the URL alone', async () => {
  const { report } = await read((request, response) => {
    if (request.url?.startsWith('/api/frontend-url'))
      return data(response, { url: 'https://x/en/a', path: '/en/a' });
    return error(response, 404);
  }, onlyPublished);
  assert.deepEqual(report.published, { url: 'https://x/en/a', path: '/en/a' });
  assert.equal(report.checked, null);
});

test('document: a locale without a base URL', async () => {
  const { report } = await read((request, response) => {
    if (request.url?.startsWith('/api/resolve')) return data(response, { ...RESOLVED, canonicalUrl: null });
    return data(response, { validations: [] });
  }, onlyPublished);
  assert.deepEqual(report.published, { reason: 'no_base_url', rule: null });
});

test('document: a refused draft token does not hide the published URL', async () => {
  const { report } = await read((request, response) => {
    if (request.url?.startsWith('/api/resolve')) return data(response, RESOLVED);
    if (request.url?.startsWith('/api/validations')) return data(response, { validations: [] });
    return error(response, 403);
  }, both);
  assert.deepEqual(report.published, { url: 'https://x/en/a', path: '/en/a' });
  assert.equal(report.draft, null);
});

test('document: a 404 without a reason is of an older version', async () => {
  await assert.rejects(
    read((_request, response) => error(response, 404), onlyPublished),
    {
      failure: 'older-version',
    },
  );
});

test('document: only URLs that a browser may follow', async () => {
  const wrong = [
    { ...RESOLVED, canonicalUrl: 'javascript:alert(1)' },
    { ...RESOLVED, alternates: { de: 'javascript:alert(1)' } },
  ];
  for (const resolved of wrong) {
    const respond: Respond = (_request, response) => data(response, resolved);
    await assert.rejects(read(respond, onlyPublished), { failure: 'not-the-service' });
  }
});
