import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBatches } from '../../admin/src/list/batch';

const scripted = () => {
  const calls: { uid: string; locale: string | undefined; ids: string[] }[] = [];
  const ask = createBatches(async (uid, locale, ids) => {
    calls.push({ uid, locale, ids });
    return {
      report: Object.fromEntries(ids.filter((id) => id !== 'none').map((id) => [id, { url: `/${id}` }])),
    };
  });
  return { calls, ask };
};

test('batch: the rows of one tick are one request', async () => {
  const { calls, ask } = scripted();
  const ids = Array.from({ length: 100 }, (_, at) => `d${at}`);
  const found = await Promise.all(ids.map((id) => ask('u', 'en', id)));
  assert.equal(calls.length, 1);
  assert.deepEqual(calls[0]?.ids, ids);
  assert.deepEqual(found[7], { url: '/d7' });
});

test('batch: one request for each type and locale, and for each 100 rows', async () => {
  const { calls, ask } = scripted();
  const many = Array.from({ length: 101 }, (_, at) => ask('u', 'en', `d${at}`));
  await Promise.all([...many, ask('u', 'de', 'd0'), ask('v', undefined, 'd0')]);
  assert.deepEqual(
    calls.map(({ uid, locale, ids }) => [uid, locale, ids.length]),
    [
      ['u', 'en', 100],
      ['u', 'en', 1],
      ['u', 'de', 1],
      ['v', undefined, 1],
    ],
  );
});

test('batch: a document twice is asked for once', async () => {
  const { calls, ask } = scripted();
  await Promise.all([ask('u', 'en', 'a'), ask('u', 'en', 'a')]);
  assert.deepEqual(calls[0]?.ids, ['a']);
});

test('batch: a row that is not in the response has an unknown reason', async () => {
  assert.deepEqual(await scripted().ask('u', 'en', 'none'), { reason: 'unknown' });
});

test('batch: a failed request fails each row', async () => {
  const ask = createBatches(() => Promise.reject(new Error('offline')));
  const found = await Promise.all([ask('u', 'en', 'a'), ask('u', 'en', 'b')]);
  assert.deepEqual(found, [{ failure: 'unreachable' }, { failure: 'unreachable' }]);
});
