import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRows } from '../../server/src/operations/rows';
import type { ServiceResponse } from '../../server/src/service/client';

const KEY = { uid: 'api::a.a', locale: 'en', site: 'main', documentIds: ['a', 'b', 'c'] };

const OWNER = { contentType: 'api::a.a', documentId: 'a', locale: 'en' };

const read = (data: Record<string, unknown>, status: ServiceResponse['status'] = 200) => {
  const sent: unknown[] = [];
  const rows = readRows(async (path, query, body) => {
    sent.push({ path, query, body });
    return { status, data, details: {} };
  }, KEY);
  return { rows, sent };
};

test('rows: one request for all of them', async () => {
  const results = [
    { documentId: 'a', url: 'https://x/a', path: '/a' },
    { documentId: 'b', reason: 'slug_empty', rule: '/{slug}' },
    { documentId: 'c' },
    { documentId: 'd', url: 'https://x/a', path: '/a', sharedPath: { owner: OWNER } },
    { documentId: 'e', url: 'https://x/e', path: '/e', sharedPath: { owner: { documentId: 7 } } },
  ];
  const { rows, sent } = read({ results });
  assert.deepEqual(await rows, {
    a: { url: 'https://x/a' },
    b: { reason: 'slug_empty' },
    c: { reason: 'unknown' },
    d: { url: 'https://x/a', owner: OWNER },
    e: { url: 'https://x/e' },
  });
  const document = { uid: 'api::a.a', locale: 'en' };
  assert.deepEqual(sent, [
    {
      path: '/api/frontend-urls',
      query: { site: 'main' },
      body: { documents: ['a', 'b', 'c'].map((documentId) => ({ ...document, documentId })) },
    },
  ]);
});

test('rows: failures', async () => {
  await assert.rejects(read({}, 400).rows, { failure: 'unknown-site' });
  await assert.rejects(read({}, 404).rows, { failure: 'older-version' });
  await assert.rejects(read({ results: 'none' }).rows, { failure: 'older-version' });
  for (const url of ['javascript:alert(1)', '/a', 'data:text/html,x', 7]) {
    const { rows } = read({ results: [{ documentId: 'a', url }] });
    await assert.rejects(rows, { failure: 'not-the-service' }, String(url));
  }
});
