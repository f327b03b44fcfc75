/** What each runtime has to do with the client. Runs in the runtime itself, so it imports nothing of Node.js. */
import { createFrontendMap } from "frontend-map-client";

/** The document that each path of the scripted service has. */
const DOCUMENT = "a1";
const SECRET = `whsec_${btoa("7".repeat(32))}`;
/** No check waits for it. */
const TIMEOUT_MS = 60_000;

const create = (url, more = {}) => createFrontendMap({ url, site: "main", timeoutMs: TIMEOUT_MS, ...more });
const nameOf = (promise) => promise.then(() => "no error", (error) => error.name);

async function collect(rows) {
  const paths = [];
  for await (const { path } of rows) paths.push(path);
  return paths;
}

async function webhook() {
  const body = JSON.stringify({ type: "frontend-map.changes", data: { changes: [] } });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const text = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", text.encode("7".repeat(32)), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const bytes = new Uint8Array(await crypto.subtle.sign("HMAC", key, text.encode(`e1.${timestamp}.${body}`)));
  const headers = { "webhook-id": "e1", "webhook-timestamp": timestamp, "webhook-signature": `v1,${btoa(String.fromCharCode(...bytes))}` };
  return new Request("https://x/hook", { method: "POST", headers, body });
}

/** `[what, call, expected]` for a service at this address. */
const CHECKS = [
  ["document", async (url) => (await create(url).resolve("/en/a")).documentId, DOCUMENT],
  ["no page", async (url) => (await create(url).resolve("/none")).kind, "none"],
  ["draft, with the token", async (url) => (await create(url, { token: "t" }).resolve("/en/a", { draft: true })).pathname, "Bearer t"],
  ["service that redirects", (url) => nameOf(create(`${url}/redirects`, { token: "t" }).resolve("/en/a", { draft: true })), "ConnectionError"],
  ["no service", (url) => nameOf(create("http://127.0.0.1:1").resolve("/en/a")), "ConnectionError"],
  ["service that hangs", (url) => nameOf(create(`${url}/hangs`, { timeoutMs: 200 }).resolve("/en/a")), "TimeoutError"],
  [
    "caller that gives up",
    async (url) => {
      const controller = new AbortController();
      const call = nameOf(create(`${url}/hangs`).resolve("/en/a", { signal: controller.signal }));
      controller.abort();
      return call;
    },
    "AbortError",
  ],
  [
    "last good result",
    async (url) => {
      let base = url;
      const map = create("http://service", { lastGood: 1, fetch: (to, init) => fetch(to.replace("http://service", base), init) });
      await map.resolve("/en/a");
      base = "http://127.0.0.1:1";
      const { documentId, lastGood } = await map.resolve("/en/a");
      return `${documentId} ${lastGood.error.name}`;
    },
    `${DOCUMENT} ConnectionError`,
  ],
  ["URLs of a batch", async (url) => (await create(url).urls([{ uid: "a", documentId: "x" }, { uid: "a", documentId: "y" }])).map(({ path }) => path).join(), "/en/x,/en/y"],
  ["all pages", async (url) => (await collect(create(url).pages())).join(), "/en/a,/en/b"],
  ["half a list", (url) => nameOf(collect(create(`${url}/half`).pages())), "InvalidResponseError"],
  ["changes", async (url) => (await create(url).changes()).cursor, "c1"],
  ["webhook", async (url) => (await create(url).verifyWebhook(await webhook(), SECRET)).id, "e1"],
  ["forged webhook", async (url) => nameOf(create(url).verifyWebhook(await webhook(), `whsec_${btoa("8".repeat(32))}`)), "WebhookError"],
  [
    "sitemap file, whole and labelled as it is",
    async (url) => {
      const request = new Request("https://x/sitemaps/a.xml", { headers: { "accept-encoding": "gzip" } });
      const response = await create(url).sitemap(request);
      const bytes = new Uint8Array(await response.arrayBuffer());
      const packed = response.headers.get("content-encoding") === "gzip";
      const body = packed ? new Response(bytes).body.pipeThrough(new DecompressionStream("gzip")) : bytes;
      return `${response.status} ${packed === (bytes[0] === 0x1f)} ${await new Response(body).text()}`;
    },
    "200 true <?xml version=\"1.0\"?><urlset></urlset>",
  ],
  ["sitemap file that has not changed", async (url) => (await create(url).sitemap(new Request("https://x/sitemaps/a.xml", { headers: { "if-none-match": '"1"' } }))).status, 304],
];

/** The checks that fail in this runtime, each with what came instead. */
export async function failures(service) {
  const failed = [];
  for (const [what, call, expected] of CHECKS) {
    const actual = await call(service).catch((error) => `${error.name}: ${error.message}; ${error.cause ?? ""}`);
    if (actual !== expected) failed.push({ what, expected, actual: String(actual) });
  }
  return failed;
}

/** One client for all requests, as a frontend has it. */
let shared;

/** What a visitor's request for a page leads to: its path, or the error. */
export async function visit(service, pathname) {
  shared ??= create(service, { lastGood: 10 });
  const page = await shared.resolve(pathname);
  const { path } = await shared.url({ uid: "a", documentId: pathname.slice(1) });
  return `${page.documentId} ${path}`;
}
