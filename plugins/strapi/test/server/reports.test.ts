import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  movesOf,
  problemsOf,
  runsOf,
  versionKey,
  type MayRead,
  type Row,
} from '../../server/src/operations/reports';
import type { ServiceResponse } from '../../server/src/service/client';

const response = (data: Row, status: ServiceResponse['status'] = 200): ServiceResponse => ({
  status,
  data,
  details: {},
});

const row = (contentType: string, documentId: string, locale = 'en'): Row => ({
  contentType,
  documentId,
  locale,
});

/** `open` is readable, of `some` the document `a` in English, of everything else nothing. */
const mayRead: MayRead = async (uid) => {
  if (uid === 'open') return 'all';
  return uid === 'some' ? new Set([versionKey('a', 'en')]) : 'none';
};

const noUrl = (version: Row): Row => ({ kind: 'no_url', reason: 'slug_empty', ...version });

test('problems: rows that may not be read are neither listed nor counted', async () => {
  const rows = [
    noUrl(row('open', 'x')),
    noUrl(row('some', 'a')),
    noUrl(row('some', 'b')),
    noUrl(row('closed', 'a')),
  ];
  const found = await problemsOf(response({ count: 4, truncated: false, problems: rows }), mayRead);
  assert.deepEqual(found, [rows[0], rows[1]]);
});

test('problems: the locale counts', async () => {
  const rows = [noUrl(row('some', 'a', 'en')), noUrl(row('some', 'a', 'de'))];
  const found = await problemsOf(response({ problems: rows }), mayRead);
  assert.deepEqual(found, [rows[0]]);
});

test('problems: a path is listed if all its documents are readable', async () => {
  const shared = (owner: Row, others: Row[]): Row => ({ kind: 'shared_path', path: '/a', owner, others });
  const rows = [
    shared(row('open', 'x'), [row('some', 'a')]),
    shared(row('open', 'x'), [row('open', 'y'), row('closed', 'a')]),
    shared(row('closed', 'x'), [row('open', 'y')]),
  ];
  const found = await problemsOf(response({ problems: rows }), mayRead);
  assert.deepEqual(found, [rows[0]]);
});

test('problems: a document that is not localized is readable in each locale', async () => {
  const readable: MayRead = async () => new Set([versionKey('a', null)]);
  const rows = [noUrl(row('t', 'a', 'de')), noUrl(row('t', 'b', 'de'))];
  assert.deepEqual(await problemsOf(response({ problems: rows }), readable), [rows[0]]);
});

test('checks: no count of pages that may not be read', async () => {
  const dead = ['a', 'b'].map((documentId) => ({
    documentId,
    locale: 'en',
    url: `/${documentId}`,
    status: 404,
  }));
  const run = { count: 7, endedAt: 't', truncated: false, dead };
  const validations = ['open', 'some', 'closed'].map((contentType) => ({ ...run, contentType }));
  const found = await runsOf(response({ validations }), mayRead);
  assert.deepEqual(
    found.map(({ uid, count, dead }) => [uid, count, dead.length]),
    [
      ['open', 7, 2],
      ['some', null, 1],
    ],
  );
});

test('moves: the latest first, of readable documents', async () => {
  const move = (at: number, contentType: string): Row => ({
    ...row(contentType, 'x'),
    from: `/${at}`,
    since: `2026-01-01T00:00:00.${String(at).padStart(3, '0')}Z`,
  });
  const redirects = Array.from({ length: 240 }, (_, at) => move(at, at % 2 ? 'open' : 'closed'));
  const found = await movesOf(response({ redirects }), mayRead);
  assert.equal(found.length, 120);
  assert.equal(found[0]?.from, '/239');
  assert.ok(found.every(({ contentType }) => contentType === 'open'));
});

test('reports: a response without rows is no empty report', async () => {
  await assert.rejects(problemsOf(response({}), mayRead), { failure: 'older-version' });
  await assert.rejects(problemsOf(response({}, 400), mayRead), { failure: 'unknown-site' });
  await assert.rejects(runsOf(response({}, 404), mayRead), { failure: 'older-version' });
});
