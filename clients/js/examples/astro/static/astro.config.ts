import { defineConfig } from "astro/config";

export default defineConfig({ srcDir: "./static", outDir: "./dist/static" });
