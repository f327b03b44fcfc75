/** The example sites and the service's settings for them. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { binary, skip } from "../support/binary.js";

const examples = fileURLToPath(new URL("../../examples/", import.meta.url));

for (const file of ["next/", "next-cache/", "nuxt/shared/", "astro/src/", "sveltekit/src/"].map((folder) => `${folder}frontend-map.d.ts`)) {
  test(`types in ${file} are those of the settings`, { skip }, () => {
    const settings = ["--config", `${examples}shared/settings.toml`];
    // Fails unless the file is what the command would write.
    execFileSync(binary, [...settings, "types", "--site", "main", "--output", examples + file, "--check"], { stdio: "pipe" });
  });
}
