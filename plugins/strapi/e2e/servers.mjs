// What stands beside Strapi: a frontend that has each page, and a proxy in front of the service that
// counts requests and can fail in several ways.
import { createServer, request } from 'node:http';

const listen = (server, port) =>
  new Promise((done) => server.listen(port, '127.0.0.1', () => done(server.address().port)));

export const startFrontend = async (port) => {
  const server = createServer((asked, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>A page of the frontend</title>');
  });
  return { port: await listen(server, port), stop: () => server.close() };
};

const FAILURES = {
  html: (response) => response.setHeader('Content-Type', 'text/html').end('<h1>a shop</h1>'),
  redirect: (response) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
  closed: (response) => response.destroy(),
  silent: () => undefined,
};

export const startProxy = async (port, service) => {
  const target = new URL(service);
  const state = { asked: [], failure: null };
  const server = createServer((asked, response) => {
    state.asked.push(`${asked.method} ${asked.url}`);
    if (state.failure) return FAILURES[state.failure](response);
    const { method, headers, url } = asked;
    const options = { host: target.hostname, port: target.port, method, headers, path: url };
    const sent = request(options, (found) => {
      response.writeHead(found.statusCode, found.headers);
      found.pipe(response);
    });
    sent.on('error', () => response.destroy());
    return asked.pipe(sent);
  });
  return { ...state, state, port: await listen(server, port), stop: () => server.close() };
};
