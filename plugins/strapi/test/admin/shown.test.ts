import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delayOf, mayPass } from '../../admin/src/api/loaded';
import { languageName } from '../../admin/src/language';
import { decoded } from '../../admin/src/decoded';

test('URL: decoded, except for what has a meaning, is invisible or turns text around', () => {
  for (const [url, expected] of [
    ['https://x/de/gr%C3%B6%C3%9Fe', 'https://x/de/größe'],
    ['/%E6%9D%B1%E4%BA%AC', '/東京'],
    ['/a%2Fb%3Fc%23d', '/a%2Fb%3Fc%23d'],
    ['/a%20b', '/a%20b'],
    ['/a%E2%80%AEb', '/a%E2%80%AEb'],
    ['/a%00b', '/a%00b'],
    ['/%FF', '/%FF'],
  ] as const) {
    assert.equal(decoded(url), expected);
  }
});

test('language: its name in the language of the admin, or its code', () => {
  assert.equal(languageName('de', 'en'), 'German');
  assert.equal(languageName('de', 'de'), 'Deutsch');
  assert.match(languageName('pt_BR', 'en'), /Portuguese/);
  assert.equal(languageName('not a locale', 'en'), 'not a locale');
});

test('result: attempts after failures that may pass, more and more rarely', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 9].map(delayOf), [5, 10, 20, 40, 60, 60]);
  const failed = (failure: 'unreachable' | 'wrong-token') => mayPass({ state: 'done', result: { failure } });
  assert.deepEqual([failed('unreachable'), failed('wrong-token')], [true, false]);
  assert.deepEqual([mayPass({ state: 'error' }), mayPass({ state: 'loading' })], [true, false]);
  assert.equal(mayPass({ state: 'done', result: { report: 1 } }), false);
  assert.equal(mayPass({ state: 'done', result: { report: 1, missing: 'busy' } }), true);
});
