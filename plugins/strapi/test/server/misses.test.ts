import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missesOf, missesWith } from '../../server/src/operations/misses';
import { versionKey, type MayRead, type Row } from '../../server/src/operations/reports';
import reports from '../../server/src/controllers/reports';
import type { ServiceResponse } from '../../server/src/service/client';
import { data, error, startPeer } from './peer';
import { request, strapiWith } from './strapi';

const knowledge = {
  typeOf: (uid: string) => ({ typeName: `name of ${uid}`, isSingle: false }),
  locales: ['en', 'de'],
};
const mayRead: MayRead = async (uid) => (uid === 'some' ? new Set([versionKey('a', 'en')]) : 'none');

const responseOf = (misses: unknown, status: ServiceResponse['status'] = 200): ServiceResponse => ({
  status,
  data: { misses },
  details: {},
});

const document = (contentType: string, documentId: string): Row => ({
  path: '/en/caf%C3%A9',
  url: 'https://x/en/caf%C3%A9',
  locale: 'en',
  contentType,
  documentId,
  reason: 'similar',
});

const miss = (path: string | null, suggestion: Row | null): Row => ({
  ...{ kind: path ? 'path' : 'scanners', path, count: 12, error: 5 },
  ...{ firstAt: '2026-01-01T00:00:00.000Z', lastAt: '2026-01-02T00:00:00.000Z', suggestion },
});

test('misses: a suggestion is shown to those alone who may read its document', async () => {
  const page = { path: '/en/search', locale: 'en', page: 'search', reason: 'other_case' };
  const rows = [
    miss('/en/a', document('some', 'a')),
    miss('/en/b', document('some', 'b')),
    miss('/en/c', document('closed', 'a')),
    miss('/en/d', page),
    miss('/en/e', { ...page, reason: 'of a later version' }),
    miss(null, null),
  ];
  const found = await missesOf(responseOf(rows), mayRead, knowledge);
  const version = { contentType: 'some', documentId: 'a', locale: 'en' };
  assert.deepEqual(found[0], {
    ...{ path: '/en/a', host: null, least: 7, most: 12 },
    ...{ firstAt: '2026-01-01T00:00:00.000Z', lastAt: '2026-01-02T00:00:00.000Z' },
    suggestion: {
      path: '/en/caf%C3%A9',
      reason: 'similar',
      document: { ...version, typeName: 'name of some', isSingle: false },
    },
    redirect: null,
  });
  assert.deepEqual(
    found.map(({ path, suggestion }) => [path, suggestion?.path ?? null]),
    [
      ['/en/a', '/en/caf%C3%A9'],
      ['/en/b', null],
      ['/en/c', null],
      ['/en/d', '/en/search'],
      ['/en/e', null],
      [null, null],
    ],
  );
  const paths = (search: string) => missesWith(found, search).map(({ path }) => path);
  assert.deepEqual(paths('CAFÉ'), ['/en/a']);
  assert.deepEqual(paths('/en/b'), ['/en/b']);
});

test('misses: a redirect has no target that the admin may not read, and no locale that Strapi does not have', async () => {
  const redirect = { from: '/en/x', to: '/en/café', locale: 'en' };
  const rows = [
    { ...miss('/en/a', document('some', 'a')), redirect },
    { ...miss('/en/b', document('some', 'b')), redirect },
    { ...miss('/fr/c', null), redirect: { from: '/fr/c', locale: 'fr' } },
    { ...miss('/en/d', null), redirect: { to: '/en/d' } },
    miss('/en/%2A', null),
    miss(null, null),
  ];
  const found = await missesOf(responseOf(rows), mayRead, knowledge);
  assert.deepEqual(
    found.map((row) => row.redirect),
    [redirect, { ...redirect, to: null }, { from: '/fr/c', to: null, locale: null }, null, null, null],
  );
});

test('misses: an older service is no empty list', async () => {
  await assert.rejects(missesOf(responseOf([], 404), mayRead, knowledge), { failure: 'older-version' });
});

test('misses: a row is cleared with the token, and the list is read again', async () => {
  const peer = await startPeer((asked, response) =>
    data(response, asked.method === 'DELETE' ? { cleared: 1 } : { misses: [miss('/en/a', null)] }),
  );
  const strapi = strapiWith({ url: peer.address, validateToken: 't' }, { site: 'main' }, {});
  const { misses, clearMisses } = reports({ strapi });
  await misses(request({ site: 'main' }));
  const ctx = request({ site: 'main', path: '/en/a b', host: 'example.com:8080' });
  await clearMisses(ctx);
  await clearMisses(request({ site: 'main' }));
  await misses(request({ site: 'main' }));
  await assert.rejects(clearMisses(request({ site: 'main', path: 'en' })), /`path`/);
  await assert.rejects(clearMisses(request({ site: 'another' })), { status: 404 });
  peer.stop();
  assert.deepEqual(ctx.body, { report: { count: 1 } });
  assert.deepEqual(
    peer.asked.map(({ line, authorization }) => [line, authorization]),
    [
      ['GET /api/misses?site=main', 'Bearer t'],
      ['DELETE /api/misses?site=main&pathname=%2Fen%2Fa+b&host=example.com%3A8080', 'Bearer t'],
      ['DELETE /api/misses?site=main', 'Bearer t'],
      ['GET /api/misses?site=main', 'Bearer t'],
    ],
  );
});

test('misses: a service that clears nothing without a token says so', async () => {
  const peer = await startPeer((_request, response) => error(response, 501));
  const strapi = strapiWith({ url: peer.address }, { site: 'main' }, {});
  const [list, clear] = [request({ site: 'main' }), request({ site: 'main' })];
  await reports({ strapi }).misses(list);
  await reports({ strapi }).clearMisses(clear);
  peer.stop();
  assert.deepEqual([list.body, clear.body], [{ report: null }, { failure: 'wrong-token' }]);
});
