/** Pages for users have the code of the examples, which are built and driven in a browser. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { filled, pages } from "../../examples/extract.js";

/** Languages of files that the examples have; others, such as shell and settings, may stand alone. */
const CODE = /^```(js|ts|tsx|vue|svelte|astro)$/;

for (const page of pages()) {
  const name = page.pathname.split("/").slice(-3).join("/");
  test(`code in ${name} is that of the examples`, async () => {
    const text = await readFile(page, "utf8");
    assert.equal(text, filled(text), "run `node examples/extract.js`");
  });

  if (!name.includes("/frontends/")) continue;
  test(`code in ${name} has a source`, async () => {
    const lines = (await readFile(page, "utf8")).split("\n");
    const typed = lines.filter((line, at) => CODE.test(line) && !lines[at - 1].startsWith("<!-- "));
    assert.deepEqual(typed, []);
  });
}

test("source that does not exist is an error", () => {
  const block = (from) => `<!-- ${from} -->\n\`\`\`ts\n\`\`\`\n`;
  assert.throws(() => filled(block("next/proxy.ts#nothing")), /no region nothing/);
  assert.throws(() => filled(block("next/nothing.ts")));
  assert.match(filled(block("next/proxy.ts#proxy")), /= proxyOf</);
});
