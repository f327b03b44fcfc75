/** The real Strapi of `tests/strapi`, with content of its own. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { freePort, run } from "./process.js";

const SCRIPT = fileURLToPath(new URL("../../../../tests/strapi/start.sh", import.meta.url));
const FULL_TOKEN = "lab-full-access-token";
const ADMIN = { email: "super@example.com", password: "Passw0rd-of-the-lab" };

export const READ_TOKEN = "lab-read-only-token";
/** More than the home page lists. */
const ARTICLES = 100;

/** Starts it; its first start seeds the content. `variables` are those of its environment. */
export async function startStrapi(variables) {
  const port = await freePort();
  const env = {
    ...process.env,
    ...variables,
    PORT: String(port),
    SEED_ARTICLES: String(ARTICLES),
    SEED_MODE: "bulk",
    // Those that change are made by Strapi itself.
    SEED_SERVICE_FIRST: "20",
    DATABASE_CLIENT: "sqlite",
    DATABASE_FILENAME: `.tmp/examples-${port}.db`,
  };
  await run([SCRIPT, "install"], { env });
  // The script leaves it running, so that it needs an end of its own.
  const stop = () => void spawnSync(SCRIPT, ["reset"], { env });
  process.once("exit", stop);
  await run([SCRIPT, "start"], { env });
  return new Strapi(`http://127.0.0.1:${port}`);
}

class Strapi {
  #admin;

  constructor(url) {
    this.url = url;
  }

  async call(path, { token, ...init } = {}) {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(this.url + path, { ...init, headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text === "" ? null : JSON.parse(text);
  }

  /** One call of the Document Service. */
  action(uid, action, params) {
    const body = JSON.stringify({ uid, action, ...params });
    return this.call("/api/lab/action", { method: "POST", body, token: FULL_TOKEN });
  }

  /** The English articles of a status. */
  async articles(status) {
    const query = new URLSearchParams({ locale: "en", status, "pagination[pageSize]": String(ARTICLES) });
    return (await this.call(`/api/articles?${query}`, { token: READ_TOKEN })).data;
  }

  /** Changes fields of a version and publishes it, as an editor does. */
  async publish(uid, documentId, locale, data) {
    await this.action(uid, "update", { documentId, locale, data });
    await this.action(uid, "publish", { documentId, locale });
  }

  /** Where the panel's *Open preview* leads. */
  async preview(uid, documentId, locale) {
    this.#admin ??= this.#login();
    const query = new URLSearchParams({ documentId, locale, status: "draft" });
    const found = await this.call(`/content-manager/preview/url/${uid}?${query}`, { token: await this.#admin });
    return found.data.url;
  }

  async #login() {
    const body = JSON.stringify({ firstname: "Super", lastname: "Admin", ...ADMIN });
    const { data } = await this.call("/admin/register-admin", { method: "POST", body });
    return data.token;
  }
}
