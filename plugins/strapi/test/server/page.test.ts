import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenPage, pageAddressOf, readPage, type FoundPage } from '../../server/src/operations/page';
import { createBreaker } from '../../server/src/service/breaker';
import { createClient } from '../../server/src/service/client';
import { data, error, startPeer } from './peer';

const UID = 'api::a.a';
const NOTHING = { url: null, owner: null, page: null, redirect: null, goneSince: null };
const ABOUT = {
  kind: 'document',
  locale: 'en',
  matched: { collectionType: UID },
  documentId: 'a1',
  canonicalUrl: 'https://x.example/en/about',
};
const OWNER = { contentType: UID, documentId: 'a1', locale: 'en' };

const read = async (respond: Parameters<typeof startPeer>[0], host?: string) => {
  const peer = await startPeer(respond);
  const client = createClient(createBreaker());
  const get = (path: string, query: Record<string, string | undefined>) =>
    client.call(peer.address, { path, query, timeoutMs: 60_000 });
  try {
    const address = { pathname: '/en/about', ...(host && { host }) };
    return { page: await readPage(get, 'main', address), asked: peer.asked.map(({ line }) => line) };
  } finally {
    peer.stop();
  }
};

test('page: a URL has a host and a path, without its query; a path has no host', () => {
  assert.deepEqual(pageAddressOf('https://x.example:81/en/a?q#h'), {
    pathname: '/en/a',
    host: 'x.example:81',
  });
  assert.deepEqual(pageAddressOf('/en/über uns?q'), { pathname: '/en/%C3%BCber%20uns' });
  assert.deepEqual(pageAddressOf('//y.example/en'), { pathname: '//y.example/en' });
  for (const text of ['en/a', 'ftp://x/a', 'javascript:alert(1)', '/%FF', '/a%00', '/a%0Ab', 'https://']) {
    assert.equal(pageAddressOf(text), null, text);
  }
});

test('page: the document that owns the path, by one request', async () => {
  const { page, asked } = await read((_request, response) => data(response, ABOUT), 'x.example');
  const found = { site: 'main', kind: 'document', url: ABOUT.canonicalUrl, owner: OWNER };
  assert.deepEqual(page, { ...NOTHING, ...found });
  assert.deepEqual(asked, ['GET /api/resolve?site=main&pathname=%2Fen%2Fabout&host=x.example']);
});

const REDIRECT = { status: 308, since: '2026-11-22T19:00:00.000Z' };
const MOVED = {
  ...{ kind: 'redirect', locale: 'en', matched: { collectionType: 'api::former.former' }, documentId: null },
  redirect: { ...REDIRECT, to: ABOUT.canonicalUrl, path: '/en/about', documentId: 'a1', locale: 'en' },
};

test('page: a redirect has the document that it leads to, of whatever content type', async () => {
  let count = 0;
  const { page, asked } = await read((_request, response) => data(response, count++ ? ABOUT : MOVED));
  const found = { site: 'main', kind: 'redirect', url: ABOUT.canonicalUrl, owner: OWNER, redirect: REDIRECT };
  assert.deepEqual(page, { ...NOTHING, ...found });
  assert.equal(asked[1], 'GET /api/resolve?site=main&pathname=%2Fen%2Fabout&host=x.example');
});

test('page: a redirect whose document has moved meanwhile is no answer', async () => {
  let count = 0;
  const other = { ...ABOUT, documentId: 'b1' };
  const moving = read((_request, response) => data(response, count++ ? other : MOVED));
  await assert.rejects(moving, { failure: 'busy' });
});

test('page: a page outside the CMS, and a redirect to one', async () => {
  const contact = {
    kind: 'page',
    page: 'contact',
    matched: null,
    documentId: null,
    canonicalUrl: 'https://x/c',
  };
  const { page } = await read((_request, response) => data(response, contact));
  assert.deepEqual(page, { ...NOTHING, site: 'main', kind: 'page', page: 'contact', url: 'https://x/c' });
  const redirect = { ...MOVED.redirect, to: 'https://x/c', documentId: null };
  const moved = await read((_request, response) => data(response, { ...MOVED, redirect }));
  assert.deepEqual([moved.page?.url, moved.page?.owner, moved.asked.length], ['https://x/c', null, 1]);
});

test('page: nothing at the path, with and without a rule, and since when', async () => {
  const since = '2026-11-22T19:00:00.000Z';
  const none = { ...NOTHING, site: 'main', kind: 'none' };
  const gone = { kind: 'none', gone: { since }, documentId: null, matched: { collectionType: UID } };
  const known = await read((_request, response) => data(response, gone));
  assert.deepEqual(known.page, { ...none, goneSince: since });
  const without = await read((_request, response) => error(response, 404, { pathname: '/en/about' }));
  assert.deepEqual(without.page, none);
});

test('page: a site without documents has no pages, and an unknown one is a failure', async () => {
  assert.equal((await read((_request, response) => error(response, 501))).page, null);
  const unknown = read((_request, response) => error(response, 400));
  await assert.rejects(unknown, { failure: 'unknown-site' });
  const older = read((_request, response) => error(response, 404, { reason: 'no_route' }));
  await assert.rejects(older, { failure: 'older-version' });
  const kind = read((_request, response) => data(response, { kind: 'another' }));
  await assert.rejects(kind, { failure: 'older-version' });
});

test('page: only URLs that a browser may follow', async () => {
  const wrong = read((_request, response) =>
    data(response, { ...ABOUT, canonicalUrl: 'javascript:alert(1)' }),
  );
  await assert.rejects(wrong, { failure: 'not-the-service' });
});

test('page: of several sites the one with the host, then the first one with a page', () => {
  const page = (site: string, kind: FoundPage['kind'], url: string | null): FoundPage => ({
    ...{ ...NOTHING, site, kind, url },
  });
  const none = page('none', 'none', null);
  const main = page('main', 'document', 'https://main.example/a');
  const shop = page('shop', 'document', 'https://shop.example/a');
  const pages = [none, main, shop];
  assert.equal(chosenPage(pages, { pathname: '/a', host: 'shop.example' }), shop);
  assert.equal(chosenPage(pages, { pathname: '/a', host: 'preview.example' }), main);
  assert.equal(chosenPage(pages, { pathname: '/a' }), main);
  assert.equal(chosenPage([none], { pathname: '/a' }), none);
  assert.equal(chosenPage([], { pathname: '/a' }), undefined);
});
