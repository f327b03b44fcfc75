import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { CheckRun } from '../../shared/check';
import { createChecks } from '../../server/src/operations/checks';
import { error, startPeer } from './peer';

const TARGET = { token: 'v', site: 'main', uid: 'api::a.a' };
const RESULT = '{"data":{"validated":true},"meta":{}}';

const begin = (response: ServerResponse): void => {
  response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
  response.write('{"progress":{"checked":0,"total":7}}\n{"finding":{"url":"/a"}}\n{"progr');
};

const settled = async (read: () => CheckRun): Promise<CheckRun> => {
  for (;;) {
    const run = read();
    if (run.state !== 'running') return run;
    await new Promise((done) => setTimeout(done, 5));
  }
};

test('checks: a run is followed to its last line, with and without its end of line', async () => {
  for (const end of ['\n', '']) {
    const peer = await startPeer((_request, response) => {
      begin(response);
      response.end(`ess":{"checked":7,"total":7}}\n${RESULT}${end}`);
    });
    const checks = createChecks();
    assert.deepEqual(checks.state(TARGET), { state: 'none' });
    checks.start({ ...TARGET, address: peer.address });
    assert.deepEqual(await settled(() => checks.state(TARGET)), { state: 'done', checked: 7, total: 7 });
    peer.stop();
    assert.deepEqual(peer.asked, [
      {
        line: 'GET /api/build-sitemap?site=main&contentType=api%3A%3Aa.a&validate=true',
        authorization: 'Bearer v',
        body: '',
      },
    ]);
  }
});

test('checks: a second start joins the run, and its progress is known', async () => {
  let finish = (): void => undefined;
  const peer = await startPeer((_request, response) => {
    begin(response);
    finish = () => response.end(`ess":{"checked":7,"total":7}}\n${RESULT}`);
  });
  const checks = createChecks();
  checks.start({ ...TARGET, address: peer.address });
  while (JSON.stringify(checks.state(TARGET)) !== '{"state":"running","checked":0,"total":7}') {
    await new Promise((done) => setTimeout(done, 5));
  }
  assert.deepEqual(checks.start({ ...TARGET, address: peer.address }), {
    state: 'running',
    checked: 0,
    total: 7,
  });
  finish();
  await settled(() => checks.state(TARGET));
  peer.stop();
  assert.equal(peer.asked.length, 1);
});

test('checks: a run that breaks off is not done', async () => {
  const broken: [string, (response: ServerResponse) => void][] = [
    [
      'unreachable',
      (response) => response.end('ess":{"checked":1,"total":7}}\n{"stopped":{"reason":"shutdown"}}\n'),
    ],
    ['unreachable', (response) => response.destroy()],
    ['unreachable', (response) => response.end()],
  ];
  for (const [failure, end] of broken) {
    const peer = await startPeer((_request, response) => {
      begin(response);
      setImmediate(() => end(response));
    });
    const checks = createChecks();
    checks.start({ ...TARGET, address: peer.address });
    assert.deepEqual(await settled(() => checks.state(TARGET)), { state: 'failed', failure });
    peer.stop();
  }
});

test('checks: a run that cannot start has its reason', async () => {
  const cases: [number, string][] = [
    [400, 'unknown-site'],
    [401, 'wrong-token'],
    [503, 'busy'],
    [502, 'cms-failed'],
  ];
  for (const [status, failure] of cases) {
    const peer = await startPeer((_request, response) => error(response, status));
    const checks = createChecks();
    checks.start({ ...TARGET, address: peer.address });
    assert.deepEqual(await settled(() => checks.state(TARGET)), { state: 'failed', failure });
    peer.stop();
  }
  const checks = createChecks();
  checks.start({ ...TARGET, address: null });
  assert.deepEqual(await settled(() => checks.state(TARGET)), { state: 'failed', failure: 'not-configured' });
});

test('checks: a line without an end is not kept in memory', async () => {
  const peer = await startPeer((_request, response) => {
    begin(response);
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(2 ** 20)));
    };
    response.on('drain', write);
    write();
  });
  const checks = createChecks();
  checks.start({ ...TARGET, address: peer.address });
  assert.deepEqual(await settled(() => checks.state(TARGET)), {
    state: 'failed',
    failure: 'not-the-service',
  });
  peer.stop();
});
