import assert from 'node:assert/strict';
import { test } from 'node:test';
import { excludesNothing } from '../../server/src/content/conditions';

const named = (locales: string[]) => ({ $and: [{ locale: { $in: locales } }] });

test('conditions: none, or all locales', () => {
  assert.equal(excludesNothing(undefined, ['en']), true);
  assert.equal(excludesNothing(named(['en', 'de', 'fr']), ['de', 'en']), true);
});

test('conditions: everything else may exclude documents', () => {
  const others = [
    named(['en']),
    {},
    { $and: [] },
    { locale: { $in: ['en', 'de'] } },
    { $and: [{ locale: { $in: ['en', 'de'] } }, { $or: [{ 'createdBy.id': 1 }] }] },
    { $and: [{ locale: { $in: ['en', 'de'] }, 'createdBy.id': 1 }] },
    { $and: [{ locale: { $in: ['en', 'de'], $ne: 'de' } }] },
    { $and: [{ locale: { $in: ['en', 'de'] } }], $or: [{ id: 1 }] },
    { $and: [{ 'createdBy.id': 1 }] },
  ];
  for (const other of others)
    assert.equal(excludesNothing(other, ['en', 'de']), false, JSON.stringify(other));
});
