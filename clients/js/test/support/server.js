/** A scripted service: a real HTTP server on a port of its own. */
import { once } from "node:events";
import { createServer } from "node:http";

/**
 * Starts a server that ends with the test.
 *
 * @param {import("node:test").TestContext} t
 * @param {(request: Received, response: import("node:http").ServerResponse) => unknown} respond
 * @returns {Promise<{ url: string, received: Received[] }>} where it is, and what it has received.
 *
 * @typedef {{ method: string, url: URL, headers: Record<string, string>, body: string }} Received
 */
export async function serve(t, respond) {
  const received = [];
  const server = createServer(async (message, response) => {
    const body = await text(message);
    const url = new URL(message.url, "http://service");
    const request = { method: message.method, url, headers: message.headers, body };
    received.push(request);
    await respond(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, received };
}

async function text(message) {
  let body = "";
  for await (const chunk of message.setEncoding("utf8")) body += chunk;
  return body;
}

/** A response of the service. */
export function send(response, status, body, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

export const success = (data) => ({ data, meta: {} });

export const failure = (status, name, details) => ({
  data: null,
  error: { status, name, message: `the message of ${name}`, ...(details && { details }) },
});

/** A document as `/api/resolve` returns it. */
export function document(pathname, more = {}) {
  return {
    site: "main",
    pathname,
    locale: "en",
    matched: { collectionType: "api::page.page", rule: "/{locale}/{slug}", params: { locale: "en", slug: "a" } },
    kind: "document",
    resolvedBy: "documents",
    documentId: "a1",
    canonicalPath: pathname,
    canonicalUrl: `https://www.example.com${pathname}`,
    isCanonical: true,
    resource: null,
    lastModified: null,
    breadcrumbs: [{ path: "/en", url: "https://www.example.com/en", page: "home" }],
    alternates: { en: `https://www.example.com${pathname}` },
    ...more,
  };
}

/** Responds to a batch with a URL for each document. */
export function sendUrls(request, response) {
  const { documents } = JSON.parse(request.body);
  const results = documents.map(({ uid, documentId, locale }) => ({
    uid,
    documentId,
    locale: locale ?? "en",
    url: `https://www.example.com/${locale ?? "en"}/${documentId}`,
    path: `/${locale ?? "en"}/${documentId}`,
  }));
  send(response, 200, success({ results }));
}

/** An address at which nothing listens. */
export async function closedPort() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

/** A promise, and what settles it. */
export function deferred() {
  let settle;
  const promise = new Promise((resolve) => (settle = resolve));
  return { promise, resolve: settle };
}
