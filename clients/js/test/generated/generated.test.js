/** Clients that others' generators write from docs/openapi.yaml compile strictly, and make a call. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { promisify } from "node:util";
import { folder, skip, start, until } from "../support/binary.js";

const here = fileURLToPath(new URL(".", import.meta.url));
const demo = (name) => readFile(new URL(`../../../../config/demo/${name}`, import.meta.url), "utf8");
const DESCRIPTION = fileURLToPath(new URL("../../../../docs/openapi.yaml", import.meta.url));
const OPTIONS = ["--strict", "--target", "es2022", "--module", "nodenext", "--lib", "es2023,dom,dom.iterable"];

const GENERATORS = {
  "openapi-fetch": ["openapi-typescript", DESCRIPTION, "--output", "openapi-typescript/schema.ts"],
  "hey-api": ["openapi-ts", "-i", DESCRIPTION, "-o", "hey-api", "-c", "@hey-api/client-fetch"],
  orval: ["orval", "--input", DESCRIPTION, "--output", "orval/api.ts", "--client", "fetch"],
};

/** `tsc` and the generators end with an error where they fail. */
async function run(cwd, command, ...words) {
  await promisify(execFile)(`${here}node_modules/.bin/${command}`, words, { cwd }).catch((error) => {
    throw new Error(`${command}: ${error.stdout}${error.stderr}`);
  });
}

for (const [name, generator] of Object.entries(GENERATORS)) {
  test(`${name}: generated client compiles, narrows by kind, and makes a call`, { skip }, async (t) => {
    const settings = (await demo("settings.toml")).replace('key = "main"', 'key = "main"\nresolve = "documents"').replace("# path = ", "path = ");
    const path = await folder(t, { "settings.toml": settings, "content.json": await demo("content.json"), "package.json": '{"type":"module"}' });
    await cp(`${here}${name}.ts`, `${path}/use.ts`);
    await cp(`${here}node_modules`, `${path}/node_modules`, { recursive: true, filter: (from) => !/node_modules\/(?!openapi-fetch|openapi-typescript-helpers).+/.test(from) });
    const service = start(t, path);
    await run(path, ...generator);
    await run(path, "tsc", ...OPTIONS, "--outDir", "built", "use.ts");
    const { call } = await import(`${path}/built/use.js`);
    const { url } = await service;
    assert.equal(await until((result) => result === "p1about", () => call(url)), "p1about");
  });
}
