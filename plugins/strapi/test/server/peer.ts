import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A scripted service on a free port; `asked` has the requests so far. */
export const startPeer = async (handler: Handler) => {
  const asked: { line: string; authorization: string | undefined; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      asked.push({
        line: `${request.method} ${request.url}`,
        authorization: request.headers.authorization,
        body,
      });
      handler(request, response, body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { address: `http://127.0.0.1:${port}`, asked, stop };
};

export const json = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(body));
};

export const data = (response: ServerResponse, found: unknown): void =>
  json(response, 200, { data: found, meta: {} });

export const error = (response: ServerResponse, status: number, details?: unknown): void =>
  json(response, status, { data: null, error: { status, name: 'Error', message: 'm', details } });
