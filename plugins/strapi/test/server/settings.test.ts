import assert from 'node:assert/strict';
import { test } from 'node:test';
import config from '../../server/src/config';
import { settingsInput } from '../../server/src/controllers/settings-input';
import { effective, view } from '../../server/src/settings/effective';
import { NOTHING_STORED, type Stored } from '../../server/src/settings/stored';

const decrypt = (text: string) => text.replace('encrypted ', '');
const times = { timeoutMs: 2_000, cacheMs: 5_000 };
const stored: Stored = {
  ...NOTHING_STORED,
  url: 'http://stored:1',
  draftToken: 'encrypted stored-draft',
  validateToken: 'encrypted stored-validate',
  site: 'main',
  sites: { 'api::a.a': 'shop' },
};

test('settings: the stored ones are used without a configuration', () => {
  const found = effective({ ...times }, stored, decrypt);
  assert.equal(found.address, 'http://stored:1');
  assert.equal(found.draftToken, 'stored-draft');
  assert.equal(found.validateToken, 'stored-validate');
  assert.equal(found.siteOf('api::a.a'), 'shop');
  assert.equal(found.siteOf('api::b.b'), 'main');
});

test('settings: the site comes from the configuration, except for single content types', () => {
  const found = effective({ ...times, site: 'configured' }, stored, decrypt);
  assert.deepEqual(['api::a.a', 'api::b.b'].map(found.siteOf), ['shop', 'configured']);
  const shown = view({ ...times, site: 'configured' }, stored);
  assert.deepEqual([shown.site, shown.siteSource], ['configured', 'configuration']);
});

test('settings: the configuration wins', () => {
  const configured = { ...times, url: 'http://configured:2/', draftToken: 'configured-draft' };
  const found = effective(configured, stored, decrypt);
  assert.equal(found.address, 'http://configured:2');
  assert.equal(found.draftToken, 'configured-draft');
  assert.equal(found.validateToken, undefined, 'a stored token is not sent to another address');
});

test('settings: a token of the configuration is not sent to a stored address', () => {
  const found = effective({ ...times, draftToken: 'configured-draft' }, stored, decrypt);
  assert.equal(found.address, 'http://stored:1');
  assert.equal(found.draftToken, undefined);
});

test('settings: a token that cannot be decrypted is none', () => {
  assert.equal(effective({ ...times }, stored, () => null).draftToken, undefined);
});

test('settings: the view has no token', () => {
  const configured = { ...times, validateToken: 'configured-validate', hookSecret: 'configured-secret' };
  const shown = view(configured, stored);
  assert.deepEqual(shown, {
    url: 'http://stored:1',
    urlSource: 'stored',
    draftToken: 'stored',
    validateToken: 'configuration',
    hookSecret: true,
    site: 'main',
    siteSource: 'stored',
    sites: { 'api::a.a': 'shop' },
    parts: { panel: true, column: true, widget: true },
  });
});

test('settings: the configuration is checked at the start', () => {
  assert.doesNotThrow(() => config.validator({ ...times, url: 'https://map' }));
  assert.throws(() => config.validator({ ...times, url: 'http://user:secret@map' }), /`url`/);
  assert.throws(() => config.validator({ ...times, timeoutMs: -1 }), /`timeoutMs`/);
});

const input = {
  url: 'http://map:8080/',
  site: 'main',
  sites: {},
  parts: { panel: true, column: false, widget: true },
};

test('settings: an input is checked', () => {
  assert.deepEqual(
    settingsInput({ ...input, draftToken: 't', sites: { 'api::a.a': 'shop', 'api::b.b': '' }, more: 1 }),
    {
      ...input,
      url: 'http://map:8080',
      draftToken: 't',
      validateToken: undefined,
      sites: { 'api::a.a': 'shop' },
    },
  );
  assert.equal(settingsInput({ ...input, url: '' }).url, '');
  const wrong: [string, unknown][] = [
    ['url', 'ftp://map'],
    ['url', null],
    ['site', 'a b'],
    ['site', 7],
    ['sites', []],
    ['sites', { a: 7 }],
    ['draftToken', 'a\r\nb'],
    ['draftToken', 7],
    ['validateToken', 'x'.repeat(4_097)],
    ['parts', null],
    ['parts', { panel: true }],
  ];
  for (const [name, value] of wrong) {
    assert.throws(
      () => settingsInput({ ...input, [name]: value }),
      { name: 'ValidationError' },
      `${name} ${value}`,
    );
  }
  assert.throws(() => settingsInput(null), { name: 'ValidationError' });
});
