import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsOf } from '../../admin/src/page/findings';
import type { Overview } from '../../shared/problems';

test('findings: each document that shares a path has the owner, and the owner has no row', () => {
  const version = (documentId: string) => ({ contentType: 'api::a.a', documentId, locale: 'en' });
  const overview: Overview = {
    problems: {
      count: 1,
      truncated: false,
      problems: [
        { kind: 'shared_path', path: '/x', owner: version('o'), others: [version('a'), version('b')] },
      ],
    },
    checks: [],
    moves: null,
  };
  const found = findingsOf(overview).map(({ version, owner }) => [version.documentId, owner?.documentId]);
  assert.deepEqual(found, [
    ['a', 'o'],
    ['b', 'o'],
  ]);
});
