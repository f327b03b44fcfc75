/** One example: what it supports, and how it is built and started. */
import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Child, freePort, responds, run } from "./process.js";
import { CONTENT, DRAFT_TOKEN, NOTIFY_SECRET } from "./service.js";
import { READ_TOKEN } from "./strapi.js";

export const PREVIEW_SECRET = "s&cret of the examples";

export class Example {
  constructor(name) {
    this.name = name;
    this.folder = fileURLToPath(new URL(`../${name}/`, import.meta.url));
    // { checks: names of checks.js, webhook?: the path of its route for webhooks, isStatic?: the build
    // requests all pages of the service, basePath?: its BASE_PATH, own?: for the check of this name }
    const { checks, webhook, isStatic = false, basePath = "", own } = JSON.parse(readFileSync(`${this.folder}package.json`, "utf8")).drive;
    Object.assign(this, { checks, webhook, isStatic, basePath, own });
  }

  /** Chooses its address; `port` fixes it. */
  async locate(port) {
    this.port = port ?? (await freePort());
    this.url = `http://127.0.0.1:${this.port}${this.basePath}`;
  }

  #options({ service, strapi, content = CONTENT } = {}) {
    const env = {
      ...process.env,
      // Astro, Nuxt and SvelteKit need a later Node.js than this Strapi takes.
      ...(process.env.EXAMPLES_NODE && { PATH: `${process.env.EXAMPLES_NODE}:${process.env.PATH}` }),
      HOST: "127.0.0.1",
      PORT: String(this.port),
      SITE_URL: this.url,
      ...(this.basePath && { BASE_PATH: this.basePath }),
      FRONTEND_MAP_URL: service,
      FRONTEND_MAP_TOKEN: DRAFT_TOKEN,
      FRONTEND_MAP_WEBHOOK_SECRET: NOTIFY_SECRET,
      ...(strapi ? { STRAPI_URL: strapi, STRAPI_TOKEN: READ_TOKEN } : { CONTENT: content }),
      PREVIEW_SECRET,
    };
    return { cwd: this.folder, env };
  }

  /**
   * From the lock file; the client is packed, as it would be published. Not `npm ci`: lock files have
   * no optional packages of other platforms, which npm ci refuses.
   */
  async install() {
    // npm would keep the one that is there.
    await rm(`${this.folder}node_modules/frontend-map-client`, { recursive: true, force: true });
    await run(["npm", "install", "--no-save", "--no-audit", "--no-fund"], this.#options());
  }

  async build(addresses) {
    await run(["npm", "run", "build"], this.#options(addresses));
  }

  async start(addresses) {
    this.child = new Child(["npm", "run", "start"], this.#options(addresses));
    await responds(`${this.url}/en`, this.child);
  }

  async stop() {
    await this.child?.stop();
  }
}
