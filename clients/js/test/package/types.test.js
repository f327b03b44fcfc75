/** The types as frontends see them, and those that are generated from the service's description. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import openapiTS, { astToString, COMMENT_HEADER } from "openapi-typescript";
import { errorsOf } from "../support/compile.js";

const file = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

test("frontend that handles each content type and kind compiles", () => {
  assert.deepEqual(errorsOf(["settings.d.ts", "complete.ts"]), []);
});

test("switch without one content type, rule, page or kind does not compile, nor does a name that the site does not have", () => {
  const errors = errorsOf(["settings.d.ts", "incomplete.ts"]);
  assert.ok(errors.every(({ text }) => text.endsWith("// error")), JSON.stringify(errors));
  assert.equal(new Set(errors.map(({ line }) => line)).size, 13, JSON.stringify(errors));
});

test("frontend without declared sites compiles", () => {
  assert.deepEqual(errorsOf(["undeclared.ts"]), []);
});

test("types are those of docs/openapi.yaml", async () => {
  const generated = await openapiTS(new URL("../../../../docs/openapi.yaml", import.meta.url));
  const text = await readFile(file("src/openapi.ts"), "utf8");
  const current = text === `${COMMENT_HEADER}${astToString(generated)}`;
  assert.ok(current, "docs/openapi.yaml has changed: npm run generate");
});
