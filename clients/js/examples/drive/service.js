/** The service's own binary, and the proxy through which the examples reach it. */
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child, responds } from "./process.js";
import { READ_TOKEN } from "./strapi.js";

/** Known to the examples, too. */
export const DRAFT_TOKEN = "draft-token-of-the-examples";
export const HOOK_SECRET = "hook-secret-of-the-examples";
export const NOTIFY_SECRET = "whsec_c2VjcmV0IG9mIHRoZSBleGFtcGxlczogMzIgYnl0";

const SHARED = new URL("../shared/settings.toml", import.meta.url);
/** The documents of the demo. */
export const CONTENT = fileURLToPath(new URL("../shared/content.json", import.meta.url));

/** The settings of the examples, with a webhook for the frontend. */
async function settings({ site, webhook }) {
  const notify = `[[notify]]\nurl = "${site}${webhook}"\nsecret_file = "notify-secret"\n`;
  return `${await readFile(SHARED, "utf8")}\n${webhook ? notify : ""}`;
}

/** The service; it may be stopped and started again. */
export class Service {
  constructor(binary, port) {
    this.binary = binary;
    this.port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  /**
   * `of` has the addresses of the frontend (`site`) and of `strapi`, and the path of the frontend's
   * `webhook`. Without `strapi`, the content is that of the file `content`, or of the demo.
   */
  async start(of) {
    this.folder = await mkdtemp(join(tmpdir(), "frontend-map-examples-"));
    this.of = of;
    await writeFile(join(this.folder, "settings.toml"), await settings(of));
    await writeFile(join(this.folder, "notify-secret"), NOTIFY_SECRET);
    await this.resume();
  }

  async resume() {
    this.child = new Child([this.binary, "--config", join(this.folder, "settings.toml"), "serve"], {
      env: {
        PATH: process.env.PATH,
        FRONT_END_URL_MAIN: this.of.site,
        FRONTEND_MAP__SERVER__LISTEN: `127.0.0.1:${this.port}`,
        FRONTEND_MAP__SERVER__ADMIN_LISTEN: "",
        FRONTEND_MAP__SERVER__DRAIN_DELAY_MS: "0",
        FRONTEND_MAP__SNAPSHOTS__READY_SECONDS: "300",
        FRONTEND_MAP__STORE__PATH: join(this.folder, "frontend-map.redb"),
        ...this.#cms(),
        FRONTEND_MAP__AUTH__DRAFT_TOKEN: DRAFT_TOKEN,
        FRONTEND_MAP__HOOKS__SECRET: HOOK_SECRET,
      },
    });
    await responds(`${this.url}/readyz`, this.child);
  }

  #cms() {
    if (!this.of.strapi) return { FRONTEND_MAP__CMS__PATH: this.of.content ?? CONTENT };
    return { FRONTEND_MAP__CMS__SOURCE: "strapi", FRONTEND_MAP__CMS__URL: this.of.strapi, FRONTEND_MAP__CMS__TOKEN: READ_TOKEN };
  }

  /** It keeps its connections and responds to nothing. */
  freeze() {
    this.child.signal("SIGSTOP");
  }

  thaw() {
    this.child.signal("SIGCONT");
  }

  async pause() {
    await this.child?.stop();
  }

  async stop() {
    await this.pause();
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
  }

  /** `data` of a response about the site. */
  async data(path, query = {}) {
    const response = await fetch(`${this.url}${path}?${new URLSearchParams({ site: "main", ...query })}`);
    return (await response.json()).data;
  }

  resolve(pathname) {
    return this.data("/api/resolve", { pathname });
  }
}

/** Passes requests on to the service, and counts them by method and route. */
export class CountingProxy {
  counts = {};

  async start(service) {
    this.target = new URL(service.url);
    this.server = createServer((from, to) => {
      const route = `${from.method} ${new URL(from.url, this.target).pathname}`;
      this.counts[route] = (this.counts[route] ?? 0) + 1;
      this.respond(from, to);
    });
    await this.listen(0);
    this.url = `http://127.0.0.1:${this.server.address().port}`;
  }

  async listen(port) {
    this.server.listen(port, "127.0.0.1");
    await once(this.server, "listening");
  }

  respond(from, to) {
    this.pass(from, to);
  }

  /** Passes a request on, to another `path` and with other `headers` of the response if they are given. */
  pass(from, to, { path = from.url, headers = {} } = {}) {
    const { hostname: host, port } = this.target;
    const passed = request({ host, port, method: from.method, path, headers: from.headers }, (response) => {
      to.writeHead(response.statusCode, { ...response.headers, ...headers });
      response.pipe(to);
    });
    // As if the service itself were reached.
    passed.once("error", () => to.destroy());
    from.pipe(passed);
  }

  /** The requests that `call` causes. */
  async counted(call) {
    this.counts = {};
    await call();
    return this.counts;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
