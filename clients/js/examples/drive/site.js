/** An example in front of the service, over documents in a file that may be edited. */
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, timed, until } from "./process.js";
import { CountingProxy, Service } from "./service.js";

/** An article for a file of documents. */
export const article = (documentId, slug, locale = "en") =>
  ({ documentId, locale, status: "published", title: `Article ${slug}`, slug, body: `The article ${slug}.` });

/** Longer than a page of a site that hangs is waited for. */
const LIMIT_MS = 10_000;

export class Site {
  constructor(example, articles, proxy = new CountingProxy()) {
    Object.assign(this, { example, articles, proxy });
  }

  /** `skip`: those of the steps `install` and `build` that are done already. */
  async start(binary, skip = []) {
    const { example, proxy } = this;
    this.folder = await mkdtemp(join(tmpdir(), "frontend-map-site-"));
    this.content = join(this.folder, "content.json");
    await this.publish();
    await example.locate();
    this.service = new Service(binary, await freePort());
    await this.service.start({ site: example.url, webhook: example.webhook, content: this.content });
    await proxy.start(this.service);
    const addresses = { service: proxy.url, content: this.content };
    if (!skip.includes("install")) await example.install();
    if (!skip.includes("build")) await example.build(addresses);
    await example.start(addresses);
  }

  async stop() {
    await this.example.stop();
    await this.service?.stop();
    if (this.proxy.server) this.proxy.stop();
    if (this.folder) await rm(this.folder, { recursive: true, force: true });
  }

  /** Writes the documents, at once for those who read the file. */
  async publish() {
    const text = JSON.stringify({ "api::article.article": this.articles, "api::page.page": [] });
    await writeFile(`${this.content}.new`, text);
    await rename(`${this.content}.new`, this.content);
  }

  /** Waits until the service knows that there is a document at each of the paths. */
  async known(paths) {
    for (const path of paths) await until(path, () => this.service.resolve(path), (page) => page?.kind === "document");
  }

  /** Visits a page; a status of 0 is none within `LIMIT_MS`, a connection that is closed, or redirects without end. */
  async visit(path, init) {
    const start = performance.now();
    try {
      const visited = await timed(this.example.url + path, { signal: AbortSignal.timeout(LIMIT_MS), ...init });
      return { ...visited, heading: /<h1[^>]*>(.*?)<\/h1>/s.exec(visited.text)?.[1] };
    } catch (error) {
      if (error.name !== "TimeoutError" && !(error instanceof TypeError)) throw error;
      return { status: 0, ms: performance.now() - start };
    }
  }
}
