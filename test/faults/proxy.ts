import {
  createServer,
  request as forward,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { retryWhile } from '../../src/platform/async.ts';
import { reset } from '../../src/sandbox/server/fault-injection.ts';

/**
 * Faults of a single request. `before`: the service never receives it. `after`: the service has already processed it.
 */
export const networkFaults = [
  'reset-before',
  'reset-after',
  'silence-before',
  'silence-after',
  'half-response',
  '500-before',
  '500-after',
  '502-html-before',
  '502-html-after',
  '503-before',
  '429-before',
  '429-after',
  'slow-bytes',
  'truncated-json',
] as const;
export type NetworkFault = (typeof networkFaults)[number] | 'none';

/** Endpoints that create something. */
const creates: ReadonlySet<string> = new Set(['/orders', '/orders/bulk', '/agent/orders', '/returns']);

/** Stages of a request at which a harness may act on the client. */
export type Moment = 'request-came' | 'work-done' | 'half-responded' | 'responded';

/** Picks a port outside the ephemeral range, so that it is still free when a stopped proxy restarts. */
const ownPort = (): number => 20_000 + Math.floor(Math.random() * 12_000);

/** Another proxy may have picked the same port. */
const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';

interface Relayed {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** A proxy between program and service that injects the given faults into creates, or into what `isHurt` says. */
export class FaultProxy {
  readonly #server: Server;
  readonly #target: URL;
  /** Faults for the next creates, in order; later requests pass through. */
  faults: NetworkFault[] = [];
  isHurt = (path: string): boolean => creates.has(path);
  onMoment: (moment: Moment) => void = () => {};
  /** Awaited before a create, or what `isHurt` says, is passed on. */
  before: () => Promise<unknown> | undefined = () => undefined;

  constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
  }

  /** @param port the port of a stopped proxy to replace. */
  async start(port?: number): Promise<string> {
    await retryWhile(isTaken, () => this.#listen(port ?? ownPort()), {});
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await whole(request);
    const isCreate = request.method === 'POST' && this.isHurt(request.url ?? '');
    const fault = isCreate ? (this.faults.shift() ?? 'none') : 'none';
    if (isCreate) this.onMoment('request-came');
    if (fault.endsWith('-before')) return spoil(fault, response, undefined);
    if (isCreate) await this.before();
    const relayed = await this.#pass(request, body);
    if (isCreate) this.onMoment('work-done');
    if (fault === 'none') {
      await send(response, relayed);
      if (isCreate) this.onMoment('responded');
      return;
    }
    if (fault === 'half-response' || fault === 'truncated-json') {
      await half(fault, response, relayed);
      this.onMoment('half-responded');
      return;
    }
    return spoil(fault, response, relayed);
  }

  #pass(request: IncomingMessage, body: Buffer): Promise<Relayed> {
    return new Promise((resolve, reject) => {
      const { host: _, connection: __, ...headers } = request.headers;
      const outgoing = forward(
        {
          host: this.#target.hostname,
          port: this.#target.port,
          method: request.method,
          path: request.url,
          headers: { ...headers, 'content-length': body.length },
        },
        (incoming) => {
          whole(incoming).then(
            (bytes) =>
              resolve({ status: incoming.statusCode ?? 500, headers: incoming.headers, body: bytes }),
            reject,
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }
}

async function whole(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function send(response: ServerResponse, { status, headers, body }: Relayed): Promise<void> {
  const { 'transfer-encoding': _, connection: __, ...rest } = headers;
  response.writeHead(status, { ...rest, 'content-length': body.length });
  return new Promise((resolve) => response.end(body, () => resolve()));
}

async function half(
  fault: NetworkFault,
  response: ServerResponse,
  { status, headers, body }: Relayed,
): Promise<void> {
  const part = body.subarray(0, Math.floor(body.length / 2));
  const isWholeToHttp = fault === 'truncated-json';
  response.writeHead(status, {
    'content-type': headers['content-type'],
    'content-length': isWholeToHttp ? part.length : body.length,
  });
  await new Promise((resolve) => response.write(part, resolve));
  if (isWholeToHttp) response.end();
  else response.destroy();
}

const statuses: Readonly<
  Record<string, { status: number; type: string; body: string; headers?: Record<string, string> }>
> = {
  '500': {
    status: 500,
    type: 'application/json',
    body: '{"code":"internal_error","message":"no","details":{}}',
  },
  '502': { status: 502, type: 'text/html', body: '<html><h1>Bad gateway</h1></html>' },
  '503': {
    status: 503,
    type: 'application/json',
    body: '{"code":"service_unavailable","message":"no","details":{}}',
  },
  '429': {
    status: 429,
    type: 'application/json',
    body: '{"code":"rate_limit_exceeded","message":"no","details":{}}',
    headers: { 'retry-after': '0' },
  },
};

async function spoil(
  fault: NetworkFault,
  response: ServerResponse,
  relayed: Relayed | undefined,
): Promise<void> {
  if (fault.startsWith('reset')) reset(response.socket);
  else if (fault === 'slow-bytes' && relayed) {
    response.writeHead(relayed.status, {
      'content-type': relayed.headers['content-type'],
      'content-length': relayed.body.length,
    });
    const step = Math.ceil(relayed.body.length / 8);
    for (let at = 0; at < relayed.body.length; at += step) {
      response.write(relayed.body.subarray(at, at + step));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    response.end();
  } else if (!fault.startsWith('silence')) {
    const { status, type, body, headers } = statuses[fault.slice(0, 3)] ?? {
      status: 500,
      type: 'text/plain',
      body: '',
      headers: {},
    };
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(body);
  }
}
