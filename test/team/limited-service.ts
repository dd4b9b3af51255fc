import {
  createServer,
  request as forward,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Limits {
  /** How long each response is held back, ms. */
  readonly latencyMs?: number;
  /** Requests in any second; whoever comes beyond gets 429 and is told when to come again. */
  readonly perSecond?: number;
}

/** A service that takes its time, or has none for more than so many requests a second, in front of another. */
export class LimitedService {
  readonly #server: Server;
  readonly #target: URL;
  readonly #limits: Limits;
  /** When each request came that was let through, and each that was refused, ms. */
  readonly passed: number[] = [];
  readonly refused: number[] = [];
  #open = 0;
  /** The most that were there at once. */
  mostAtOnce = 0;
  /** Is told of each request before it goes on. */
  onRequest: (method: string, path: string) => void = () => {};

  constructor(target: string, limits: Limits) {
    this.#target = new URL(target);
    this.#limits = limits;
    this.#server = createServer({ keepAlive: true }, (request, response) => this.#handle(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const now = performance.now();
    const { perSecond = Number.POSITIVE_INFINITY, latencyMs = 0 } = this.#limits;
    const lately = this.passed.filter((at) => at > now - 1000);
    if (lately.length >= perSecond) {
      this.refused.push(now);
      request.resume();
      const afterMs = (lately[0] ?? now) + 1000 - now;
      response.writeHead(429, {
        'content-type': 'application/json',
        'retry-after': (afterMs / 1000).toFixed(3),
      });
      response.end('{"error":{"code":"rate_limit_exceeded","message":"too many requests"}}');
      return;
    }
    this.passed.push(now);
    this.onRequest(request.method ?? '', request.url ?? '');
    this.#open += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open);
    response.on('close', () => {
      this.#open -= 1;
    });
    const body: Buffer[] = [];
    request.on('data', (piece) => body.push(piece));
    request.on('end', () =>
      setTimeout(() => this.#forward(request, response, Buffer.concat(body)), latencyMs),
    );
  }

  #forward({ method, url, headers }: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const { hostname, port } = this.#target;
    const inner = forward({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    inner.on('error', () => response.destroy());
    inner.end(body);
  }
}
