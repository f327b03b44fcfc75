import assert from 'node:assert/strict';
import { test } from 'node:test';
import de from '../../admin/src/translations/de.json';
import en from '../../admin/src/translations/en.json';
import { FAILURES } from '../../shared/failures';

const placeholders = (text: string): string[] =>
  [...text.matchAll(/\{(\w+)[,}]/g)].map(([, name]) => name ?? '').sort();

test('translations: German has each text, with the same placeholders', () => {
  assert.deepEqual(Object.keys(de), Object.keys(en));
  const german: Record<string, string> = de;
  for (const [id, text] of Object.entries(en)) {
    assert.notEqual(german[id], '', id);
    assert.deepEqual(placeholders(german[id] ?? ''), placeholders(text), id);
  }
});

test('translations: each failure has words', () => {
  for (const failure of FAILURES) assert.ok(`failure.${failure}` in en, failure);
});
