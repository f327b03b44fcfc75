/** Time-outs in a process that is busy itself, such as with rendering. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { createFrontendMap } from "frontend-map-client";
import { document, success } from "../support/server.js";

const TIMEOUT_MS = 400;

/** A service in a thread of its own; it never responds without a `body`. `state` has whether it was asked, and has responded. */
async function serve(t, body) {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(new URL("../support/thread.js", import.meta.url), { workerData: { body, state } });
  t.after(() => worker.terminate());
  const [url] = await once(worker, "message");
  return { state, map: createFrontendMap({ url, site: "main", timeoutMs: TIMEOUT_MS }) };
}

/** Keeps this thread busy until a time. */
function busyUntil(time) {
  while (performance.now() < time);
}

const asked = async (state) => {
  while (Atomics.load(state, 0) === 0) await new Promise(setImmediate);
};

test("response that has arrived in time is read, although the process was busy until after the time-out", async (t) => {
  const { state, map } = await serve(t, JSON.stringify(success(document("/en/a"))));
  const began = performance.now();
  const call = map.resolve("/en/a");
  await asked(state);
  Atomics.wait(state, 1, 0);
  busyUntil(began + 2 * TIMEOUT_MS);
  assert.equal((await call).kind, "document");
});

test("process that is busy all the time does not wait for ever", async (t) => {
  const { state, map } = await serve(t, null);
  let isOver = false;
  const call = map.resolve("/en/a").finally(() => (isOver = true));
  const rejected = assert.rejects(call, { name: "TimeoutError" });
  await asked(state);
  for (let turn = 0; !isOver; turn += 1) {
    assert.ok(turn < 20, "still waiting");
    busyUntil(performance.now() + TIMEOUT_MS);
    await new Promise(setImmediate);
  }
  await rejected;
});
