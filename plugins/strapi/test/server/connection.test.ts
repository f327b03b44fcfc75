import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testConnection } from '../../server/src/operations/test-connection';
import { ServiceFailure } from '../../server/src/service/failure';
import type { Failure } from '../../shared/failures';
import type { ServiceResponse } from '../../server/src/service/client';

const response = (
  status: ServiceResponse['status'],
  details: Record<string, unknown> = {},
): ServiceResponse => ({
  status,
  data: {},
  details,
});

const SITES: ServiceResponse = { ...response(200), data: { sites: [{ key: 'main', contentTypes: [] }] } };

const NO_RULE = response(404, { reason: 'no_rule' });

/** Responses by what is asked; a word is a failure. */
const tested = (
  responses: {
    url?: ServiceResponse | Failure;
    draft?: ServiceResponse | Failure;
    report?: ServiceResponse | Failure;
  },
  site?: string,
) =>
  testConnection(async (path, query) => {
    const found =
      path === '/api/sites' ? responses.report : query.status === 'draft' ? responses.draft : responses.url;
    if (typeof found === 'string') throw new ServiceFailure(found);
    return found ?? NO_RULE;
  }, site);

test('connection: everything works', async () => {
  const works = { address: null, drafts: null, reports: null, site: null };
  assert.deepEqual(await tested({ report: SITES }, 'main'), works);
  assert.deepEqual(await tested({ report: SITES }, undefined), works);
});

test('connection: nothing else is tested where the address does not work', async () => {
  assert.deepEqual(await tested({ url: 'timeout' }, 'main'), { address: 'timeout' });
  assert.deepEqual(await tested({ url: response(404) }, 'main'), { address: 'older-version' });
  assert.deepEqual(await tested({ url: response(200) }, 'main'), { address: 'older-version' });
});

test('connection: each part has its own result', async () => {
  const refused = await tested({ draft: 'wrong-token', report: SITES }, 'main');
  assert.deepEqual(refused, { address: null, drafts: 'wrong-token', reports: null, site: null });
  const report = await tested({ report: 'wrong-token' }, 'main');
  assert.deepEqual(report, { address: null, drafts: null, reports: 'wrong-token', site: null });
  const site = await tested({ report: SITES }, 'other');
  assert.deepEqual(site, { address: null, drafts: null, reports: null, site: 'unknown-site' });
});
