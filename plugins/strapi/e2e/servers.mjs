// What stands beside Strapi: a frontend that has each page, and a proxy in front of the service that
// counts requests and can fail in several ways.
import { createServer, request } from 'node:http';

const listen = (server, port) =>
  new Promise((done) => server.listen(port, '127.0.0.1', () => done(server.address().port)));

// `hold(n)` responds to n requests more, and to the others after `release()`.
export const startFrontend = async (port) => {
  let left = Infinity;
  let held = [];
  const server = createServer((asked, response) => {
    const respond = () =>
      response
        .setHeader('Content-Type', 'text/html')
        .end('<!doctype html><title>A page of the frontend</title>');
    left -= 1;
    if (left >= 0) respond();
    else held.push(respond);
  });
  return {
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

// `failure` is one of those above; `missing` are paths that the service does not have.
export const startProxy = async (port, service) => {
  const target = new URL(service);
  const state = { asked: [], responded: [], failure: null, missing: [] };
  const server = createServer((asked, response) => {
    state.asked.push(`${asked.method} ${asked.url}`);
    if (state.failure) return FAILURES[state.failure](response);
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
