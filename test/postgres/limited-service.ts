import {
  createServer,
  request as forward,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Limits {
  /** Delay of each response, ms. */
  readonly latencyMs?: number;
  /** Maximum requests per second; any more get a 429 with a retry-after. */
  readonly perSecond?: number;
}

/** A proxy that adds latency or a rate limit to a service. */
export class LimitedService {
  readonly #server: Server;
  readonly #target: URL;
  readonly #limits: Limits;
  /** Arrival times of forwarded and refused requests, ms. */
  readonly passed: number[] = [];
  readonly refused: number[] = [];
  #open = 0;
  /** Highest number of concurrent requests. */
  mostAtOnce = 0;
  /** Called for each request before it is forwarded. */
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
