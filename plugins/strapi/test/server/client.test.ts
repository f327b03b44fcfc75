import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { createBreaker } from '../../server/src/service/breaker';
import { createClient } from '../../server/src/service/client';
import { ServiceFailure } from '../../server/src/service/failure';
import { data, error, json, startPeer } from './peer';

// Longer than a response takes on a busy machine.
const call = { path: '/api/x', timeoutMs: 60_000 };

const failureOf = async (
  respond: (response: ServerResponse) => void,
  timeoutMs = call.timeoutMs,
): Promise<string> => {
  const peer = await startPeer((_request, response) => respond(response));
  try {
    await createClient(createBreaker()).call(peer.address, { ...call, timeoutMs });
    return 'none';
  } catch (failure) {
    assert.ok(failure instanceof ServiceFailure);
    return failure.failure;
  } finally {
    peer.stop();
  }
};

test('client: a response with its data', async () => {
  const peer = await startPeer((_request, response) => data(response, { url: 'u' }));
  const query = { uid: 'a::b.c', locale: undefined };
  const found = await createClient(createBreaker()).call(peer.address, { ...call, query, token: 't' });
  peer.stop();
  assert.deepEqual(found, { status: 200, data: { url: 'u' }, details: {} });
  assert.deepEqual(peer.asked, [{ line: 'GET /api/x?uid=a%3A%3Ab.c', authorization: 'Bearer t', body: '' }]);
});

test('client: an error that callers distinguish, with its details', async () => {
  const peer = await startPeer((_request, response) => error(response, 404, { reason: 'no_rule' }));
  const found = await createClient(createBreaker()).call(peer.address, call);
  peer.stop();
  assert.deepEqual(found, { status: 404, data: {}, details: { reason: 'no_rule' } });
});

test('client: each failure has its word', async () => {
  const html = (response: ServerResponse) => response.setHeader('Content-Type', 'text/html').end('<h1>');
  assert.equal(await failureOf(html), 'not-the-service');
  assert.equal(await failureOf((response) => json(response, 200, [])), 'not-the-service');
  assert.equal(await failureOf((response) => json(response, 404, 'x')), 'not-the-service');
  assert.equal(
    await failureOf((response) => response.setHeader('Content-Type', 'application/json').end('{"data":')),
    'not-the-service',
  );
  assert.equal(await failureOf((response) => error(response, 401)), 'wrong-token');
  assert.equal(await failureOf((response) => error(response, 403)), 'wrong-token');
  assert.equal(await failureOf((response) => error(response, 405)), 'older-version');
  assert.equal(await failureOf((response) => error(response, 502)), 'cms-failed');
  assert.equal(await failureOf((response) => error(response, 503)), 'busy');
  assert.equal(await failureOf((response) => response.destroy()), 'unreachable');
  assert.equal(await failureOf(() => undefined, 300), 'timeout');
  const slow = (response: ServerResponse) =>
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('{');
  assert.equal(await failureOf(slow, 300), 'timeout');
});

test('client: a redirect is not followed', async () => {
  const target = await startPeer((_request, response) => data(response, {}));
  const failure = await failureOf((response) => response.writeHead(302, { Location: target.address }).end());
  target.stop();
  assert.equal(failure, 'redirected');
  assert.deepEqual(target.asked, []);
});

test('client: no address', async () => {
  await assert.rejects(createClient(createBreaker()).call(null, call), { failure: 'not-configured' });
});

test('client: an open breaker sends no request', async () => {
  const peer = await startPeer((_request, response) => response.destroy());
  const client = createClient(createBreaker());
  for (let count = 0; count < 5; count += 1) {
    await assert.rejects(client.call(peer.address, call), { failure: 'unreachable' });
  }
  peer.stop();
  assert.equal(peer.asked.length, 3);
});

test('client: a refused token does not open the breaker', async () => {
  const peer = await startPeer((_request, response) => error(response, 401));
  const client = createClient(createBreaker());
  for (let count = 0; count < 5; count += 1) {
    await assert.rejects(client.call(peer.address, call), { failure: 'wrong-token' });
  }
  peer.stop();
  assert.equal(peer.asked.length, 5);
});
