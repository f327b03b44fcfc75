// What both steps of the action share.
import { spawnSync } from "node:child_process";
import { join } from "node:path";

const { RUNNER_TEMP } = process.env;
const BINARY = join(RUNNER_TEMP, "frontend-map/node_modules/.bin/frontend-map");

/** Status and stdout of the command; its stderr is that of the step. */
export function frontendMap(args) {
  const stdio = ["ignore", "pipe", "inherit"];
  const { status, stdout, error } = spawnSync(BINARY, args, { encoding: "utf8", stdio, maxBuffer: 2 ** 28 });
  if (error) console.error(`frontend-map could not be run: ${error.message}`);
  return { status: status ?? 1, stdout: stdout ?? "" };
}

const escaped = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapedProperty = (text) => escaped(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** An annotation, by a workflow command of GitHub Actions. `level`: `error`, `warning` or `notice`. */
export function annotate(level, text, properties = {}) {
  const list = Object.entries(properties).map(([name, value]) => `${name}=${escapedProperty(String(value))}`);
  console.log(`::${level}${list.length > 0 ? ` ${list.join()}` : ""}::${escaped(text)}`);
}

/** Prints a text of the CMS, in which the runner looks for no commands. */
export function print(text) {
  const token = crypto.randomUUID();
  console.log(`::stop-commands::${token}\n${text}\n::${token}::`);
}
