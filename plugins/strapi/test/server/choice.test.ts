import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choiceOf } from '../../server/src/controllers/parameters';
import { choose, type Choice } from '../../server/src/operations/choice';
import type { Finding } from '../../shared/problems';

const finding = (documentId: string, changed: Partial<Finding> = {}): Finding => ({
  ...{ contentType: 'api::a.a', documentId, locale: 'en', title: `Title ${documentId}` },
  ...{ kind: 'no_url', typeName: 'A', isSingle: false, cause: 'one' },
  ...changed,
});

const FINDINGS = [
  finding('1'),
  finding('2', { cause: 'two', kind: 'shared_path', url: '/caf%C3%A9' }),
  finding('3', { cause: 'two', contentType: 'api::b.b', typeName: 'B' }),
  finding('4', { cause: 'two', locale: 'de' }),
];

const shown = (choice: Partial<Choice>, isCut = false) => {
  const found = choose(FINDINGS, isCut, { page: 1, pageSize: 20, ...choice });
  return {
    ...found,
    ids: found.findings?.rows.map(({ documentId }) => documentId),
    counts: found.causes?.rows.map(({ count, example }) => `${example.cause} ${count}`),
  };
};

test('choice: causes, those of most pages first, and what is left out is said', () => {
  const found = shown({}, true);
  assert.deepEqual(found.counts, ['two 3', 'one 1']);
  assert.deepEqual([found.ids, found.total, found.isCut], [undefined, 4, true]);
  assert.deepEqual(shown({ sort: 'count:ASC' }).counts, ['one 1', 'two 3']);
  assert.deepEqual(found.contentTypes, [
    { uid: 'api::a.a', name: 'A' },
    { uid: 'api::b.b', name: 'B' },
  ]);
  assert.deepEqual(found.locales, ['de', 'en']);
});

test('choice: the pages of a cause, each filter, and all one by one', () => {
  assert.deepEqual(shown({ cause: 'two' }).ids, ['2', '3', '4']);
  assert.equal(shown({ cause: 'two' }).cause?.count, 3);
  assert.deepEqual(shown({ isFlat: true, kind: 'shared_path' }).ids, ['2']);
  assert.deepEqual(shown({ isFlat: true, contentType: 'api::b.b' }).ids, ['3']);
  assert.deepEqual(shown({ isFlat: true, locale: 'de' }).ids, ['4']);
  assert.deepEqual(shown({ isFlat: true, sort: 'title:DESC' }).ids, ['4', '3', '2', '1']);
});

test('choice: a search finds titles, ids and paths, encoded or not, in any letter case', () => {
  for (const [search, ids] of [
    ['TITLE 3', ['3']],
    ['café', ['2']],
    ['caf%c3%a9', ['2']],
    ['nothing', []],
  ] as const) {
    assert.deepEqual(shown({ isFlat: true, search }).ids, ids, search);
  }
  assert.deepEqual(shown({ search: 'title 3' }).counts, ['two 1']);
});

test('choice: a search for the entry at fault finds all its pages, in all languages', () => {
  const related = { uid: 'c', documentId: 'c7', isSingle: false, path: 'category', isAtFault: true };
  const of = (id: string, title: string) =>
    finding(id, { cause: 'entry', related: { ...related, title, state: 'draft' } });
  const findings = [of('1', 'News'), of('2', 'Nachrichten'), finding('3')];
  const found = choose(findings, false, { page: 1, pageSize: 20, search: 'nachr' });
  assert.deepEqual(
    found.causes?.rows.map(({ count }) => count),
    [2],
  );
});

test('choice: pages', () => {
  const found = shown({ isFlat: true, page: 2, pageSize: 3 });
  assert.deepEqual([found.ids, found.findings?.count, found.findings?.pageCount], [['4'], 4, 2]);
  assert.deepEqual(shown({ isFlat: true, page: 9 }).ids, []);
});

test('choice: parameters that are not of a table are refused', () => {
  assert.deepEqual(choiceOf({}).page, 1);
  assert.equal(choiceOf({ pageSize: '1000' }).pageSize, 100);
  for (const query of [
    { page: '0' },
    { page: '-1' },
    { page: ['1', '2'] },
    { kind: 'x' },
    { contentType: 'x' },
    { sort: 'title' },
    { _q: 'x'.repeat(1_001) },
  ]) {
    assert.throws(() => choiceOf(query), /is missing or invalid/, JSON.stringify(query));
  }
});
