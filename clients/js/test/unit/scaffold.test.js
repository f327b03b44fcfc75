/** The example for Next.js is what create-next-app writes (`test/scaffolds/refresh.js`), and the recipe. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const scaffold = new URL("../scaffolds/next/", import.meta.url);
const example = new URL("../../examples/next/", import.meta.url);
/** The recipe says to delete them. */
const DELETED = ["app/layout.tsx", "app/page.tsx"];
/** Those with lines of the example itself, and those that no build reads. */
const OWN = [".gitignore", "README.md", "next-env.d.ts", "next.config.ts", "package.json", "tsconfig.json"];

const files = readdirSync(scaffold, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => `${parentPath}/${name}`.slice(scaffold.pathname.length).replace(/^\//, ""));
const json = (folder, name) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));

test("files of the scaffold are those of the example", () => {
  assert.ok(files.includes("public/next.svg"), files.join());
  for (const file of files) {
    if (DELETED.includes(file)) assert.ok(!existsSync(new URL(file, example)), file);
    else if (!OWN.includes(file)) assert.deepEqual(readFileSync(new URL(file, example)), readFileSync(new URL(file, scaffold)), file);
  }
});

test("the example has the versions of the scaffold, and the client", () => {
  const [made, own] = [json(scaffold, "package.json"), json(example, "package.json")];
  assert.deepEqual(own.devDependencies, made.devDependencies);
  const { "frontend-map-client": client, ...others } = own.dependencies;
  assert.deepEqual([others, client], [made.dependencies, "file:../.."]);
  const { by } = json(new URL("../scaffolds/", import.meta.url), "next.json");
  assert.equal(by, `create-next-app@${made.dependencies.next}`);
});

test("compiler options of the scaffold hold in the example, or stricter ones", () => {
  const [made, own] = [scaffold, example].map((folder) => json(folder, "tsconfig.json").compilerOptions);
  const { target, noUncheckedIndexedAccess, allowImportingTsExtensions, ...same } = own;
  assert.deepEqual({ ...same, target: made.target }, made);
  assert.deepEqual([target, noUncheckedIndexedAccess, allowImportingTsExtensions], ["ES2023", true, true]);
});
