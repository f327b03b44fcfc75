/** The types of the examples are those that the service writes for their settings. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { binary, skip } from "../support/binary.js";

const example = (path) => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url));

for (const file of ["next/frontend-map.d.ts", "nuxt/frontend-map.d.ts", "sveltekit/src/frontend-map.d.ts", "astro/src/frontend-map.d.ts"]) {
  test(`${file} is up to date`, { skip }, () => {
    const settings = example("shared/settings.toml");
    execFileSync(binary, ["--config", settings, "types", "--site", "main", "--output", example(file), "--check"]);
  });
}
