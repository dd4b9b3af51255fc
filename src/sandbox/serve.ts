import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { bringUpToDate } from './advance.ts';
import { largestBody } from './app.ts';
import type { SandboxConfig } from './config.ts';
import { openSandbox } from './open.ts';
import { json } from './refusal.ts';
import type { Handle, SandboxResponse } from './wire.ts';

export interface ServeOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** File of the store, or `:memory:`. */
  readonly file: string;
  readonly seed?: number;
  readonly config?: Partial<SandboxConfig>;
  readonly now: () => number;
  readonly report: (error: unknown) => void;
}

export interface Served {
  readonly baseUrl: string;
  readonly legacyBaseUrl: string;
  readonly shopUrl: string;
  close(): Promise<void>;
}

/** How often due work is brought about while nobody asks, ms. */
const tickMs = 500;

/** Serves the sandbox over HTTP. @throws Error where the port is taken, StoreError where the data cannot be used. */
export async function serveSandbox(options: ServeOptions): Promise<Served> {
  const server = createServer({
    maxHeaderSize: 32 * 1024,
    requestTimeout: 60_000,
    headersTimeout: 20_000,
    keepAliveTimeout: 30_000,
  });
  await listen(server, options.port, options.host);
  const baseUrl = addressOf(server, options.host);
  try {
    const { handle, service, close } = await openSandbox({ ...options, baseUrl });
    server.on('request', (request, response) => {
      respond(handle, request, response).catch((error: unknown) => {
        if (!response.destroyed) options.report(error);
        response.destroy();
      });
    });
    const tick = setInterval(() => bringUpToDate(service, service.clock.now()).catch(options.report), tickMs);
    return {
      baseUrl,
      legacyBaseUrl: baseUrl,
      shopUrl: service.config.shopUrl,
      async close() {
        clearInterval(tick);
        await stop(server);
        close();
      },
    };
  } catch (error) {
    await stop(server);
    throw error;
  }
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function addressOf(server: Server, host: string): string {
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    // Whoever still reads gets a moment to finish.
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}

async function respond(handle: Handle, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  const answer = body
    ? await handle({
        method: request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET'),
        target: request.url ?? '/',
        headers: request.headers,
        body,
        remoteAddress: request.socket.remoteAddress ?? '',
      })
    : json(
        413,
        { code: 'bad_request', message: `The body is larger than ${largestBody} bytes.`, details: {} },
        { connection: 'close' },
      );
  await write(answer, response, request.method === 'HEAD');
}

/** The whole body; undefined where it is too large, of which no more is kept than is allowed. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size <= largestBody) chunks.push(chunk);
    else if (size > largestBody * 4) return undefined;
  }
  return size > largestBody ? undefined : Buffer.concat(chunks);
}

async function write(
  { status, headers, body }: SandboxResponse,
  response: ServerResponse,
  headOnly: boolean,
): Promise<void> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) {
    const bytes = body === null ? undefined : Buffer.from(body);
    response.writeHead(status, { ...headers, ...(bytes && { 'content-length': bytes.length }) });
    response.end(headOnly ? undefined : bytes);
    return;
  }
  response.writeHead(status, headers);
  if (headOnly) response.end();
  else await pipeline(Readable.from(body), response);
}
