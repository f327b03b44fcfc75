import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBreaker } from '../../server/src/service/breaker';

test('breaker: opens after three failures, and lets one probe through after a pause', () => {
  let now = 0;
  const breaker = createBreaker(() => now);
  breaker.failed();
  breaker.failed();
  assert.equal(breaker.allows(), true);
  breaker.failed();
  assert.equal(breaker.allows(), false);
  now = 5_000;
  assert.equal(breaker.allows(), true);
  assert.equal(breaker.allows(), false, 'the probe is in flight');
  breaker.succeeded();
  assert.equal(breaker.allows(), true);
});

test('breaker: a failed probe opens it again', () => {
  let now = 0;
  const breaker = createBreaker(() => now);
  for (let count = 0; count < 3; count += 1) breaker.failed();
  now = 5_000;
  assert.equal(breaker.allows(), true);
  breaker.failed();
  now = 9_999;
  assert.equal(breaker.allows(), false);
  now = 10_000;
  assert.equal(breaker.allows(), true);
});
