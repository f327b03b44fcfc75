import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAddress } from '../../server/src/service/address';

test('address: http and https, without a slash at the end', () => {
  assert.equal(parseAddress(' http://map:8080/ '), 'http://map:8080');
  assert.equal(parseAddress('https://example.com/map//'), 'https://example.com/map');
});

test('address: nothing else is one', () => {
  const others = [
    'ftp://map',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'map:8080',
    '//map',
    'http://',
    '',
    'http://user@map',
    'http://:secret@map',
    'http://map?a=b',
    'http://map#a',
    null,
    undefined,
    7,
    {},
  ];
  for (const other of others) assert.equal(parseAddress(other), null, String(other));
});
