import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldToFix, parseReason, reasonText } from '../../admin/src/reasons';
import type { Text } from '../../admin/src/texts';

const text: Text = (id, { field, title, path, reason } = {}) =>
  title ? `${id} ${title} ${path}${id === 'reason.of-related' ? `: ${reason}` : ''}` : `${id} ${field}`;

test('reason: a field and what is wrong with it', () => {
  assert.deepEqual(parseReason('slug_missing'), { field: 'slug', text: 'reason.field.missing' });
  assert.deepEqual(parseReason('slug_has_slash'), { field: 'slug', text: 'reason.field.has_slash' });
  assert.deepEqual(parseReason('own_path_empty'), { field: 'own_path', text: 'reason.field.empty' });
  assert.deepEqual(parseReason('my_empty_segment'), { field: 'my', text: 'reason.field.empty_segment' });
  assert.deepEqual(parseReason('publishedAt:year_not_a_date'), {
    field: 'publishedAt:year',
    text: 'reason.field.not_a_date',
  });
});

test('reason: a relation is not published or empty, a component is empty', () => {
  assert.equal(
    reasonText(text, { reason: 'category_relation_missing' }),
    'reason.field.relation_missing category',
  );
  assert.equal(reasonText(text, { reason: 'seo_missing' }), 'reason.field.missing seo');
  assert.equal(reasonText(text, { reason: 'slug_ends_with_slash' }), 'reason.field.ends_with_slash slug');
});

test('reason: the related entry that is at fault, or whose field is', () => {
  const related = { uid: 'c', documentId: 'c7', isSingle: false, title: 'Cat 7', path: 'category' };
  for (const [reason, state, isAtFault, expected] of [
    ['category_missing', 'draft', true, 'reason.related.draft Cat 7 category'],
    ['category_missing', 'in-other-locales', true, 'reason.related.in-other-locales Cat 7 category'],
    [
      'category.department_missing',
      'published',
      false,
      'reason.of-related Cat 7 category: reason.field.missing department',
    ],
    ['category.slug_empty', 'published', false, 'reason.of-related Cat 7 category: reason.field.empty slug'],
  ] as const) {
    assert.equal(reasonText(text, { reason, related: { ...related, state, isAtFault } }), expected);
  }
});

test('reason: the names that forms show for the fields', () => {
  const labels = { category: 'Rubrik', slug: 'Web address' };
  assert.equal(
    reasonText(text, { reason: 'category.slug_empty', labels }),
    'reason.field.empty Rubrik → Web address',
  );
  const related = { uid: 'c', documentId: 'c7', isSingle: false, title: 'Cat 7', path: 'category' };
  assert.equal(
    reasonText(text, {
      ...{ reason: 'category.slug_empty', labels },
      related: { ...related, state: 'published', isAtFault: false },
    }),
    'reason.of-related Cat 7 Rubrik: reason.field.empty Web address',
  );
});

test('reason: of the document as a whole', () => {
  for (const reason of [
    'no_rule',
    'no_base_url',
    'locale_unknown',
    'conditions_not_met',
    'path_ancestor_cycle',
  ]) {
    assert.deepEqual(parseReason(reason), { field: null, text: `reason.${reason}` });
  }
});

test('reason: one of a later version of the service is named as it is', () => {
  assert.deepEqual(parseReason('something_new'), { field: null, text: 'reason.other' });
  assert.deepEqual(parseReason(''), { field: null, text: 'reason.other' });
});

test('reason: the field of the form', () => {
  assert.equal(fieldToFix('slug_missing'), 'slug');
  assert.equal(fieldToFix('category.slug_missing'), 'category');
  assert.equal(fieldToFix('category_relation_missing'), 'category');
  assert.equal(fieldToFix('publishedAt:year_not_a_date'), 'publishedAt');
  assert.equal(fieldToFix('no_rule'), null);
});
