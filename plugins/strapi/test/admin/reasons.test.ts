import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldToFix, parseReason, reasonText } from '../../admin/src/reasons';
import type { Text } from '../../admin/src/texts';

const text: Text = (id, values = {}) => `${id} ${values.field} ${values.relation} ${values.target}`;

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

test('reason: a relation that is missing is more than one cause', () => {
  assert.equal(
    reasonText(text, 'category.slug_missing'),
    'reason.field.relation_missing category.slug category slug',
  );
  assert.equal(parseReason('category.slug_empty').text, 'reason.field.empty');
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
  assert.equal(fieldToFix('publishedAt:year_not_a_date'), 'publishedAt');
  assert.equal(fieldToFix('no_rule'), null);
});
