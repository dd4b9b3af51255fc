import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Number of its connection, counted from 1. */
  readonly connection: number;
}

export interface Peer {
  readonly url: string;
  readonly received: Received[];
  /** Number of connections opened. */
  connections(): number;
}

type Respond = (response: ServerResponse, request: Received, socket: Socket) => void;

/** Starts a service on a real socket: each request gets the next response, and the last one repeats. */
export async function peer(...responses: Respond[]): Promise<Peer> {
  const received: Received[] = [];
  const sockets: Socket[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method = '', url = '', headers, socket } = request;
      const one = {
        method,
        target: url,
        headers,
        body: Buffer.concat(parts).toString(),
        connection: sockets.indexOf(socket) + 1,
      };
      received.push(one);
      responses[Math.min(received.length, responses.length) - 1]?.(response, one, socket);
    });
  });
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received, connections: () => sockets.length };
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

export const text =
  (body: string | Buffer, status = 200, headers: Record<string, string> = {}): Respond =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

/** The connection ends without a response. */
export const reset: Respond = (_response, _request, socket) => void socket.destroy();

/** Never responds. */
export const hang: Respond = () => {};

/** Closes the connection before the declared content length. */
export const truncated: Respond = (response, _request, socket) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"orders": [', () => setImmediate(() => socket.destroy()));
};

export const redirect = (location: string, status = 302): Respond => text('', status, { location });

/** Returns the URL of a port nothing listens on. */
export async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}
