#!/usr/bin/env node
/**
 * Writes the code of the examples into the pages that show it: `node extract.js`.
 *
 * Each block of code after a comment such as `<!-- next/proxy.ts#proxy -->` is the region of that
 * file, between `#region proxy` and `#endregion`; without `#…`, the whole file. A test compares.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const EXAMPLES = new URL("./", import.meta.url);
const RECIPES = new URL("../../../docs/frontends/", import.meta.url);
/** A comment with the source, then a block of code. */
const BLOCK = /^(<!-- (\S+?)(?:#(\S+))? -->\n)```\w*\n[^]*?^```$/gm;

/** The pages that show code of the examples, as URLs. */
export function pages() {
  const recipes = readdirSync(RECIPES).filter((name) => name.endsWith(".md"));
  return [new URL("../README.md", import.meta.url), ...recipes.map((name) => new URL(name, RECIPES))];
}

/** The blocks of code of a page: { file, region?, code, isWhole: whether nothing of the file is outside of them }. */
export function blocks(page) {
  return [...page.matchAll(BLOCK)].map(([block, , file, region]) => {
    const code = block.split("\n").slice(2, -1).join("\n");
    return { file, region, code, isWhole: region === undefined || withoutRegion(file, region) === "" };
  });
}

/** The page as it must be. @throws Error for a source that does not exist. */
export function filled(page) {
  return page.replace(BLOCK, (_, comment, file, region) => {
    const language = extname(file).slice(1);
    return `${comment}\`\`\`${language}\n${source(file, region)}\n\`\`\``;
  });
}

/** What a file has beside a region. */
function withoutRegion(file, region) {
  const shown = new Set(source(file, region).split("\n").map((line) => line.trim()));
  const lines = readFileSync(new URL(file, EXAMPLES), "utf8").split("\n").map((line) => line.trim());
  return lines.filter((line) => !shown.has(line) && !/#(end)?region/.test(line)).join("\n");
}

/** A region without its own lines and its indentation. */
function source(file, region) {
  const lines = readFileSync(new URL(file, EXAMPLES), "utf8").trimEnd().split("\n");
  const from = region === undefined ? -1 : lines.findIndex((line) => line.includes("#region") && line.split(/\s+/).includes(region));
  const to = region === undefined ? lines.length : lines.findIndex((line, at) => at > from && line.includes("#endregion"));
  if ((region !== undefined && from < 0) || to < 0) throw new Error(`${file} has no region ${region}`);
  const shown = lines.slice(from + 1, to).filter((line) => !/#(end)?region/.test(line));
  const indents = shown.filter((line) => line !== "").map((line) => line.search(/\S/));
  return shown.map((line) => line.slice(Math.min(...indents))).join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const page of pages()) writeFileSync(page, filled(readFileSync(page, "utf8")));
}
