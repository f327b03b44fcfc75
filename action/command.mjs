// What both steps of the action share.
import { join } from "node:path";

const { RUNNER_TEMP } = process.env;

export const BINARY = join(RUNNER_TEMP, "frontend-map/node_modules/.bin/frontend-map");

const escaped = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapedProperty = (text) => escaped(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

/** An annotation, by a workflow command of GitHub Actions. `level`: `error`, `warning` or `notice`. */
export function annotate(level, text, properties = {}) {
  const list = Object.entries(properties).map(([name, value]) => `${name}=${escapedProperty(String(value))}`);
  console.log(`::${level}${list.length > 0 ? ` ${list.join()}` : ""}::${escaped(text)}`);
}
