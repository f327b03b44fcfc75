import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCache } from '../../server/src/service/cache';

test('cache: keeps a result, and shares a call in flight', async () => {
  let now = 0;
  let calls = 0;
  const cache = createCache<number>(100, { now: () => now });
  const load = async () => (calls += 1);
  assert.deepEqual(await Promise.all([cache.get('a', load), cache.get('a', load)]), [1, 1]);
  now = 99;
  assert.equal(await cache.get('a', load), 1);
  assert.equal(await cache.get('b', load), 2);
  now = 100;
  assert.equal(await cache.get('a', load), 3);
});

test('cache: a failed call is not kept', async () => {
  const cache = createCache<number>(100);
  await assert.rejects(cache.get('a', async () => Promise.reject(new Error('down'))));
  assert.equal(await cache.get('a', async () => 1), 1);
});

test('cache: large results are fewer', async () => {
  let calls = 0;
  const cache = createCache<number>(1_000_000, { max: 2 });
  const load = async () => (calls += 1);
  for (const key of ['a', 'b', 'c', 'b', 'a']) await cache.get(key, load);
  assert.equal(calls, 4);
});

test('cache: has at most 1,000 entries', async () => {
  let calls = 0;
  const cache = createCache<number>(1_000_000);
  const load = async () => (calls += 1);
  for (let key = 0; key < 1_001; key += 1) await cache.get(String(key), load);
  await cache.get('0', load);
  await cache.get('1000', load);
  assert.equal(calls, 1_002);
});

test('cache: a result that is not to be kept is shared while it is loaded, and loaded again', async () => {
  let loads = 0;
  const cache = createCache<number>(1_000);
  const load = async () => (loads += 1);
  const isKept = (value: number) => value > 1;
  const both = [cache.get('a', load, isKept), cache.get('a', load, isKept)];
  assert.deepEqual(await Promise.all(both), [1, 1]);
  assert.equal(await cache.get('a', load, isKept), 2);
  assert.equal(await cache.get('a', load, isKept), 2);
});
