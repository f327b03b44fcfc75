import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testConnection } from '../../server/src/operations/test-connection';
import { ServiceFailure } from '../../server/src/service/failure';
import type { Failure } from '../../shared/failures';
import type { Reply } from '../../server/src/service/client';

const reply = (status: Reply['status'], details: Record<string, unknown> = {}): Reply => ({
  status,
  data: {},
  details,
});

const NO_RULE = reply(404, { reason: 'no_rule' });

/** Responses by what is asked; a word is a failure. */
const tested = (
  replies: { url?: Reply | Failure; draft?: Reply | Failure; report?: Reply | Failure },
  site?: string,
) =>
  testConnection(async (path, query) => {
    const found =
      path === '/api/validations' ? replies.report : query.status === 'draft' ? replies.draft : replies.url;
    if (typeof found === 'string') throw new ServiceFailure(found);
    return found ?? NO_RULE;
  }, site);

test('connection: everything works', async () => {
  const works = { address: null, drafts: null, reports: null, site: null };
  assert.deepEqual(await tested({ report: reply(200) }, 'main'), works);
  assert.deepEqual(await tested({}, undefined), works);
});

test('connection: behind an address that does not work nothing is tested', async () => {
  assert.deepEqual(await tested({ url: 'timeout' }, 'main'), { address: 'timeout' });
  assert.deepEqual(await tested({ url: reply(404) }, 'main'), { address: 'older-version' });
  assert.deepEqual(await tested({ url: reply(200) }, 'main'), { address: 'older-version' });
});

test('connection: each part has its own result', async () => {
  const refused = await tested({ draft: 'wrong-token', report: reply(200) }, 'main');
  assert.deepEqual(refused, { address: null, drafts: 'wrong-token', reports: null, site: null });
  const report = await tested({ report: 'wrong-token' }, 'main');
  assert.deepEqual(report, { address: null, drafts: null, reports: 'wrong-token', site: null });
  const site = await tested({ report: reply(400) }, 'other');
  assert.deepEqual(site, { address: null, drafts: null, reports: null, site: 'unknown-site' });
});
