import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';

export interface Received {
  readonly event: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly orderId: string;
  // Tests access arbitrary JSON.
  readonly body: ReturnType<typeof JSON.parse>;
}

/** A status with headers, or no response at all. */
type Reply =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'silence';

/** Some receivers are sent what is not JSON. */
function jsonOrText(text: string): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A webhook receiver. */
export class Receiver {
  readonly received: Received[] = [];
  reply: (received: Received) => Reply | Promise<Reply> = () => ({ status: 200 });
  /** Highest number of concurrent requests. */
  mostAtOnce = 0;
  readonly #server: Server;
  #atOnce = 0;
  #arrivals: (() => void)[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<Receiver> {
    const server = createServer();
    const receiver = new Receiver(server);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const body = text === '' ? undefined : jsonOrText(text);
      const received = {
        event: String(request.headers['x-webhook-event']),
        target: `${request.method} ${request.url}`,
        headers: request.headers,
        orderId: body?.id,
        body,
      };
      receiver.received.push(received);
      for (const arrived of receiver.#arrivals.splice(0)) arrived();
      receiver.#atOnce += 1;
      receiver.mostAtOnce = Math.max(receiver.mostAtOnce, receiver.#atOnce);
      const reply = await receiver.reply(received);
      receiver.#atOnce -= 1;
      if (reply !== 'silence') response.writeHead(reply.status, reply.headers).end(reply.body ?? '{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    const address = this.#server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the receiver does not listen');
    return address.port;
  }

  /** A URL of this receiver. */
  at(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Events received, in order; optionally for one path only. */
  events(path?: string): string[] {
    return this.received
      .filter(({ target }) => path === undefined || target === `POST ${path}`)
      .map(({ event }) => event);
  }

  /** Resolves once this many requests have been received in total. */
  async until(count: number): Promise<void> {
    while (this.received.length < count) await new Promise<void>((resolve) => this.#arrivals.push(resolve));
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
