import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { TestService } from '../support/service.ts';

export interface Sent {
  readonly method: string;
  readonly target: string;
  readonly body: string;
}

/** A service with a live key: the sandbox behind a proxy that swaps the key. */
export interface LiveService {
  readonly baseUrl: string;
  readonly key: string;
  readonly sandbox: TestService;
  /** Requests received, in order. */
  readonly sent: readonly Sent[];
  stop(): Promise<void>;
}

export async function openLiveService(): Promise<LiveService> {
  const sandbox = await TestService.start();
  const key = 'xx_live_0123456789abcdef0123';
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request;
    const body = await text(request);
    sent.push({ method, target: url, body });
    const passed = await fetch(`${sandbox.baseUrl}${url}`, {
      method,
      headers: headersFor(request, key, sandbox.key),
      ...(body !== '' && { body }),
    });
    response.writeHead(passed.status, { 'content-type': passed.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await passed.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    key,
    sandbox,
    sent,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await sandbox.stop();
    },
  };
}

function headersFor({ headers }: IncomingMessage, from: string, to: string): Record<string, string> {
  const { authorization, accept } = headers;
  return {
    'content-type': headers['content-type'] ?? 'application/json',
    ...(accept !== undefined && { accept }),
    ...(authorization !== undefined && { authorization: authorization.replace(from, to) }),
  };
}
