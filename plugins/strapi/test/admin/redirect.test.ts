import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf, createLink, PARAMETER, valuesIn } from '../../admin/src/redirect/link';

const type = { uid: 'api::redirect.redirect', from: 'from', to: 'to', isLocalized: true };

const PATHS = ['/', '/de/über%20alles', '/en/100%25', '/what%3F', '/日本/%2Bx%26y%23', '/en/“q”'];

test('link: the values survive the address, also where it is decoded once more', () => {
  for (const from of PATHS) {
    for (const to of ['/en/größe', 'https://example.de/x', null]) {
      const link = createLink(type, { from, to, locale: 'de' });
      const [path, query] = link.split('?') as [string, string];
      assert.equal(path, '/content-manager/collection-types/api::redirect.redirect/create');
      for (const written of [query, decodeURIComponent(query)]) {
        const parameters = new URLSearchParams(written);
        assert.equal(parameters.get('plugins[i18n][locale]'), 'de');
        assert.deepEqual(valuesIn(parameters.get(PARAMETER)), { from, to });
      }
    }
  }
});

test('link: the locale is that of a localized type alone', () => {
  const redirect = { from: '/a', to: null, locale: 'de' };
  assert.ok(!createLink({ ...type, isLocalized: false }, redirect).includes('locale'));
  assert.ok(!createLink(type, { ...redirect, locale: null }).includes('locale'));
});

test('link: what it has not written fills nothing', () => {
  const written = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const value of [null, 7, {}, { from: 7 }, { from: 'a' }, { to: '/a' }]) {
    assert.equal(valuesIn(written(value)), null, JSON.stringify(value));
  }
  for (const parameter of [undefined, null, '', '%', 'ä', ['x'], { from: '/a' }]) {
    assert.equal(valuesIn(parameter), null);
  }
  assert.deepEqual(valuesIn(written({ from: '/a', to: ['x'] })), { from: '/a', to: null });
});

test('form: empty fields are filled, and a target where both have one', () => {
  const values = { from: '/a', to: '/b' };
  const changes = (form: Record<string, unknown>) => Object.fromEntries(changesOf(type, values, form));
  assert.deepEqual(changes({}), values);
  assert.deepEqual(changes({ from: null, to: '' }), values);
  assert.deepEqual(changes({ from: '/mine', to: undefined }), { to: '/b' });
  assert.deepEqual(changesOf({ ...type, to: null }, values, {}), [['from', '/a']]);
  assert.deepEqual(changesOf(type, { ...values, to: null }, {}), [['from', '/a']]);
});
