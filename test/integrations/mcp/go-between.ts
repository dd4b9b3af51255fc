import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readAll } from './read-all.ts';

/** A fault to inject into a request or its response. */
export interface Trouble {
  /** Delay before forwarding to the service, ms. */
  readonly delayMs?: number;
  /** Breaks the connection after the service has processed the request. */
  readonly dropsResponse?: boolean;
  /** Breaks the connection before the service has the request. */
  readonly dropsRequest?: boolean;
  /** Replaces the service's response body. */
  readonly body?: string;
  /** Status for `body`; defaults to 200. */
  readonly status?: number;
}

/** A proxy that injects faults and replaces live keys with a key the test service knows. */
export class GoBetween {
  readonly #server: Server;
  /** The fault for a request line such as `POST /orders`; undefined for none. */
  trouble: (line: string) => Trouble | undefined = () => undefined;
  /** Request counts by request line. */
  readonly seen = new Map<string, number>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(target: string, key: string): Promise<GoBetween> {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const between = new GoBetween(server);
    server.on('request', (request, response) => {
      between.#pass(request, response, target, key).catch(() => response.destroy());
    });
    return between;
  }

  get url(): string {
    return `http://127.0.0.1:${Object(this.#server.address()).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(
    request: IncomingMessage,
    response: ServerResponse,
    target: string,
    key: string,
  ): Promise<void> {
    const line = `${request.method} ${request.url?.replace(/\?.*/, '')}`;
    this.seen.set(line, (this.seen.get(line) ?? 0) + 1);
    const trouble = this.trouble(line) ?? {};
    const { delayMs = 0, dropsRequest = false, dropsResponse = false, body, status = 200 } = trouble;
    const sent = await readAll(request);
    if (dropsRequest) return void response.destroy();
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    const own = request.headers.authorization?.replace(/\w+_live_\S+/, key);
    const answer = await fetch(`${target}${request.url}`, {
      method: request.method ?? 'GET',
      headers: {
        ...(own !== undefined && { authorization: own }),
        ...(sent.length > 0 && { 'content-type': 'application/json' }),
      },
      ...(sent.length > 0 && { body: sent }),
    });
    const text = await answer.text();
    if (dropsResponse) return void response.destroy();
    response.writeHead(body === undefined ? answer.status : status, { 'content-type': 'application/json' });
    response.end(body ?? text);
  }
}
