import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsOf, type Knowledge } from '../../server/src/operations/findings';
import type { Row } from '../../server/src/operations/reports';
import type { Related } from '../../shared/reports';

const row = (documentId: string, reason = 'category_missing', locale = 'en'): Row => ({
  kind: 'no_url',
  contentType: 'a',
  documentId,
  locale,
  reason,
});

const CATEGORY: Related = {
  uid: 'c',
  documentId: 'c7',
  isSingle: false,
  title: 'Cat 7',
  path: 'category',
  state: 'draft',
  isAtFault: true,
};

const knowledge = (changed: Partial<Knowledge> = {}): Knowledge => ({
  typeOf: (uid) => ({ typeName: `Type ${uid}`, isSingle: false }),
  titles: async () => [],
  labels: async () => ({ category: 'Category' }),
  related: async (_uid, _locale, reason, ids) => new Map(ids.map((id) => [id, { reason }])),
  ...changed,
});

test('findings: the pages of one entry are one cause, in all languages', async () => {
  const related: Knowledge['related'] = async (_uid, locale, reason, ids) => {
    const state = locale === 'de' ? ('in-other-locales' as const) : ('draft' as const);
    const of = (id: string) => (id === 'z' ? { reason } : { reason, related: { ...CATEGORY, state } });
    return new Map(ids.map((id) => [id, of(id)]));
  };
  const rows = [row('x'), row('y'), row('x', 'category_missing', 'de'), row('z')];
  const found = await findingsOf(rows, [], knowledge({ related }));
  const causes = found.map(({ cause }) => cause);
  assert.deepEqual(new Set(causes.slice(0, 3)).size, 1);
  assert.notEqual(causes[3], causes[0]);
  assert.equal(found[0]?.related?.title, 'Cat 7');
  assert.deepEqual(found[0]?.labels, { category: 'Category' });
});

test('findings: a field without a value and one with an empty text are one cause', async () => {
  const rows = [row('x', 'slug_missing'), row('y', 'slug_empty'), row('z', 'slug_has_slash')];
  const [missing, empty, slash] = (await findingsOf(rows, [], knowledge())).map(({ cause }) => cause);
  assert.equal(missing, empty);
  assert.notEqual(missing, slash);
});

test('findings: each document that shares a path has the owner, and the owner has no row', async () => {
  const version = (documentId: string): Row => ({ contentType: 'a', documentId, locale: 'en' });
  const shared = {
    kind: 'shared_path',
    path: '/x',
    owner: version('o'),
    others: [version('p'), version('q')],
  };
  const titles: Knowledge['titles'] = async (_uid, ids) =>
    ids.map((documentId) => ({ documentId, locale: 'en', title: `T${documentId}` }));
  const found = await findingsOf([shared], [], knowledge({ titles }));
  assert.deepEqual(
    found.map(({ title, owner }) => [title, owner?.title]),
    [
      ['Tp', 'To'],
      ['Tq', 'To'],
    ],
  );
  assert.equal(found[0]?.cause, found[1]?.cause);
  assert.match(found[0]?.cause ?? '', /^[\w-]{16}$/);
});

test('findings: titles are those of the version, those of the service stay, 500 documents a query', async () => {
  const rows = Array.from({ length: 600 }, (_, at) => row(String(at)));
  const asked: number[] = [];
  const titles: Knowledge['titles'] = async (_uid, ids) => {
    asked.push(ids.length);
    return ids.flatMap((documentId) => [
      { documentId, locale: 'de', title: `D${documentId}` },
      { documentId, locale: 'en', title: `E${documentId}` },
    ]);
  };
  const given = { ...row('given'), title: 'Given' };
  const found = await findingsOf([given, ...rows, row('1', 'slug_empty', 'de')], [], knowledge({ titles }));
  assert.deepEqual(asked, [500, 100]);
  assert.deepEqual(
    [found[0], found[600], found[601]].map((one) => one?.title),
    ['Given', 'E599', 'D1'],
  );
  const plain = { documentId: '1', locale: null, title: 'Same' };
  const [same] = await findingsOf([row('1')], [], knowledge({ titles: async () => [plain] }));
  assert.equal(same?.title, 'Same');
});

test('findings: dead pages of one status and type are one cause', async () => {
  const dead = [404, 404, null].map((status, at) => ({
    ...{ contentType: 'a', documentId: String(at), locale: 'en', url: `https://x/${at}`, status },
    ...(status === null && { reason: 'a time-out' }),
  }));
  const found = await findingsOf([], [{ uid: 'a', count: 3, endedAt: '', isCut: false, dead }], knowledge());
  assert.deepEqual(
    found.map(({ kind, status }) => [kind, status]),
    [
      ['dead', '404'],
      ['dead', '404'],
      ['dead', 'a time-out'],
    ],
  );
  const [one, other, timeout] = found.map(({ cause }) => cause);
  assert.deepEqual([one === other, one === timeout], [true, false]);
});

test('findings: a redirect says what it does not do, and all pages that it hides are one cause', async () => {
  const redirect = (kind: string, documentId: string, more: Row): Row => ({
    kind,
    contentType: 'r',
    documentId,
    locale: 'en',
    ...more,
  });
  const rows = [
    redirect('redirect_hides_page', 'one', { path: '/a' }),
    redirect('redirect_hides_page', 'one', { path: '/b' }),
    redirect('redirect_hides_page', 'two', { path: '/c' }),
    redirect('redirect_unusable', 'three', { reason: 'from_not_allowed' }),
    redirect('redirect_unusable', 'four', { reason: 'from_not_allowed' }),
    redirect('redirect_shadowed', 'five', { path: '/d' }),
  ];
  const found = await findingsOf(rows, [], knowledge());
  assert.deepEqual(
    found.map(({ kind, redirectProblem, url, status }) => [kind, redirectProblem, url, status]),
    [
      ['redirect', 'redirect_hides_page', '/a', undefined],
      ['redirect', 'redirect_hides_page', '/b', undefined],
      ['redirect', 'redirect_hides_page', '/c', undefined],
      ['redirect', 'redirect_unusable', undefined, 'from_not_allowed'],
      ['redirect', 'redirect_unusable', undefined, 'from_not_allowed'],
      ['redirect', 'redirect_shadowed', '/d', undefined],
    ],
  );
  const [first, second, third, fourth, fifth, sixth] = found.map(({ cause }) => cause);
  assert.equal(first, second);
  assert.notEqual(second, third);
  assert.equal(fourth, fifth);
  assert.notEqual(fifth, sixth);
});
