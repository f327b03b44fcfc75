/** Child processes, each with its log, and conditions that are awaited. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";

/** Longer than anything that is awaited takes on a busy machine. */
const TIMEOUT_MS = 120_000;

/** What still runs; it ends with this process. */
const running = new Set();
process.once("exit", () => running.forEach((child) => child.signal("SIGKILL")));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.listenerCount(signal) === 1 && process.exit(1));

/** A process that runs until `stop`. */
export class Child {
  log = "";

  constructor(command, options) {
    // A group of its own: `npm` starts the server as a child, and does not pass signals on.
    this.process = spawn(command[0], command.slice(1), { detached: true, stdio: ["ignore", "pipe", "pipe"], ...options });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (this.log += text));
    }
    this.ended = new Promise((resolve) => {
      this.process.once("error", (error) => resolve(String(error)));
      this.process.once("close", (status, signal) => resolve(status ?? signal));
    });
    running.add(this);
    void this.ended.then(() => running.delete(this));
  }

  signal(signal) {
    try {
      process.kill(-this.process.pid, signal);
    } catch {
      // It has ended already.
    }
  }

  async stop() {
    this.signal("SIGTERM");
    await this.ended;
  }
}

/** Runs a command to its end. @throws Error with its output unless its status is 0. */
export async function run(command, options) {
  const child = new Child(command, options);
  const status = await child.ended;
  if (status !== 0) throw new Error(`${command.join(" ")}: ${status}\n${child.log.slice(-4_000)}`);
  return child.log;
}

/** The first result of `call` for which `holds` is true; an error counts as a result. */
export async function until(what, call, holds = Boolean, timeoutMs = TIMEOUT_MS) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const result = await call().catch((error) => error);
    if (!(result instanceof Error) && holds(result)) return result;
    if (performance.now() > deadline) throw new Error(`${what}: not in ${timeoutMs / 1000} s; last: ${result}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until a server responds with 2xx. */
export function responds(url, child) {
  return until(url, async () => {
    if (child && (child.process.exitCode ?? child.process.signalCode) !== null) {
      process.stderr.write(child.log.slice(-4_000));
      throw new Error("the process has ended");
    }
    const response = await fetch(url, { redirect: "manual" });
    await response.body?.cancel();
    return response.status;
  }, (status) => status < 400);
}

/** Requests at the same time. */
const AT_ONCE = 8;

/** Calls `call` with each item, some at the same time; the results, in the order of the items. */
export async function mapAtOnce(items, call) {
  const results = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [at, item] of waiting) results[at] = await call(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

/** Status and text of a response, and after how many milliseconds it was complete. */
export async function timed(url, init) {
  const start = performance.now();
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, text, ms: performance.now() - start };
}

/** A port on which nothing listens. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
