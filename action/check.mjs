// Checks the settings, and annotates each finding at its line.
import { appendFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { annotate, frontendMap } from "./command.mjs";

const { GITHUB_OUTPUT, OFFLINE, RUNNER_TEMP, SETTINGS, STRICT } = process.env;
const LEVELS = { error: "error", warning: "warning", note: "notice" };

const args = ["--config", SETTINGS, "check", "--format", "sarif"];
if (STRICT === "true") args.push("--strict");
if (OFFLINE === "true") args.push("--offline");
const { status, stdout } = frontendMap(args);
if (stdout) {
  // A job may check several files.
  const sarif = join(mkdtempSync(join(RUNNER_TEMP, "frontend-map-")), "frontend-map.sarif");
  writeFileSync(sarif, stdout);
  appendFileSync(GITHUB_OUTPUT, `sarif=${sarif}\n`);
  for (const { level, ruleId, message, locations } of JSON.parse(stdout).runs[0].results) {
    const { artifactLocation, region } = locations[0].physicalLocation;
    const file = decodeURIComponent(artifactLocation.uri);
    annotate(LEVELS[level], message.text, { file, line: region.startLine, title: ruleId });
  }
}
process.exitCode = status;
