import assert from 'node:assert/strict';
import { test } from 'node:test';
import { behindStatus } from '../../admin/src/list/behind-status';

test('column: behind the status, which Strapi adds to the columns that it has mapped', () => {
  const columns = ['id', 'title'];
  const list = behindStatus(columns, 'url');
  assert.deepEqual([...list], ['id', 'title', 'url']);
  const shown = list.map((name) => name.toUpperCase());
  assert.equal(shown.push('STATUS'), 4);
  assert.deepEqual([...shown], ['ID', 'TITLE', 'STATUS', 'URL']);
  assert.deepEqual(columns, ['id', 'title'], 'a copy');
});
