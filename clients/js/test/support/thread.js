/** A scripted service in a thread of its own: it responds while this one is busy. */
import { createServer } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

const { body, state } = workerData;
const server = createServer(async (_, response) => {
  Atomics.store(state, 0, 1);
  Atomics.notify(state, 0);
  response.setHeader("content-type", "application/json");
  if (body) response.end(body, () => (Atomics.store(state, 1, 1), Atomics.notify(state, 1)));
});
server.listen(0, "127.0.0.1", () => parentPort.postMessage(`http://127.0.0.1:${server.address().port}`));
