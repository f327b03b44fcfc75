// What stands beside Strapi: a frontend that has each page, and a proxy in front of the service that
// counts requests and can fail in several ways.
import { createServer, request } from 'node:http';

const listen = (server, port) =>
  new Promise((done) => server.listen(port, '127.0.0.1', () => done(server.address().port)));

// What the service says of a path of the site `main`; a path that no rule matches has no page either.
export const resolved = async (service, pathname) => {
  const query = new URLSearchParams({ site: 'main', pathname });
  const response = await fetch(`${service}/api/resolve?${query}`);
  if (response.status === 404) return { kind: 'none' };
  return (await response.json()).data ?? {};
};

// `hold(n)` responds to n requests more, and to the others after `release()`. With the address of the
// service in `resolver`, it redirects, and has no page, where the service says so.
export const startFrontend = async (port) => {
  let left = Infinity;
  let held = [];
  const state = { resolver: null };
  const server = createServer(async (asked, response) => {
    const { kind, redirect } = state.resolver ? await resolved(state.resolver, asked.url) : {};
    const respond = () => {
      if (kind === 'redirect') response.writeHead(redirect.status, { Location: redirect.to });
      else response.writeHead(kind === 'none' ? 404 : 200, { 'Content-Type': 'text/html' });
      response.end('<!doctype html><title>A page of the frontend</title>');
    };
    left -= 1;
    if (left >= 0) respond();
    else held.push(respond);
  });
  return {
    state,
    port: await listen(server, port),
    stop: () => server.close(),
    hold(count) {
      left = count;
    },
    release() {
      left = Infinity;
      for (const respond of held) respond();
      held = [];
    },
  };
};

const FAILURES = {
  html: (response) => response.setHeader('Content-Type', 'text/html').end('<h1>a shop</h1>'),
  redirect: (response) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
  closed: (response) => response.destroy(),
  silent: () => undefined,
};

// `failure` is one of those above; `missing` are paths that the service does not have, and `busy` those
// that get a 503.
export const startProxy = async (port, service) => {
  const target = new URL(service);
  const state = { asked: [], responded: [], failure: null, missing: [], busy: [] };
  const server = createServer((asked, response) => {
    state.asked.push(`${asked.method} ${asked.url}`);
    if (state.failure) return FAILURES[state.failure](response);
    if (state.busy.some((path) => asked.url.startsWith(path))) return response.writeHead(503).end();
    const { method, headers } = asked;
    const isMissing = state.missing.some((path) => asked.url.startsWith(path));
    const path = isMissing ? '/api/no-such-route' : asked.url;
    const options = { host: target.hostname, port: target.port, method, headers, path };
    const sent = request(options, (found) => {
      state.responded.push(`${method} ${asked.url} ${found.statusCode}`);
      response.writeHead(found.statusCode, found.headers);
      found.pipe(response);
    });
    sent.on('error', () => response.destroy());
    return asked.pipe(sent);
  });
  return { state, port: await listen(server, port), stop: () => server.close() };
};
