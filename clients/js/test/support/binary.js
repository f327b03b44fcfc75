/** The service's own binary, on settings and content of a test. */
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where it is; without it, contract tests are skipped. */
export const binary = process.env.FRONTEND_MAP_BINARY;

/** For `test`: why the contract tests do not run. */
export const skip = binary ? false : "FRONTEND_MAP_BINARY is not set";

/** A folder that ends with the test. */
export async function folder(t, files) {
  const path = await mkdtemp(join(tmpdir(), "frontend-map-client-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

/**
 * Starts the service on `settings.toml` of a folder.
 *
 * @returns its address, and `stop`, which waits for its end. It ends with the test in any case.
 */
export async function start(t, path, env = {}) {
  const child = spawn(binary, ["--config", join(path, "settings.toml"), "serve"], {
    env: { ...process.env, FRONTEND_MAP__SERVER__LISTEN: "127.0.0.1:0", FRONTEND_MAP__SERVER__ADMIN_LISTEN: "127.0.0.1:0", FRONTEND_MAP__SERVER__DRAIN_DELAY_MS: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (log += text));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const end = (signal) => {
    child.kill(signal);
    return ended;
  };
  const stop = () => end("SIGTERM");
  t.after(() => end("SIGKILL"));
  for await (const line of createInterface(child.stdout)) return { url: `http://${line}`, stop };
  throw new Error(`the service has not started: ${log}`);
}

/** The result of `call`, as soon as `holds`. */
export async function until(holds, call) {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const result = await call().catch((error) => error);
    if (holds(result)) return result;
    if (performance.now() > deadline) throw new Error(`not within a minute; last: ${JSON.stringify(result)} ${result}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
