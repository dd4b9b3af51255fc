import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestService } from './service.ts';

interface Bill {
  readonly body: string;
  orderId?: string;
}

/** How a till deviates from correct behavior in one test. */
interface Mood {
  methods: readonly string[];
  /** Added to the price, cents. */
  surcharge: number;
  currency: string;
  /** Extra fields of the challenge's request, such as decimals. */
  request: Record<string, unknown>;
  realm: string;
  expiresInMs: number;
  digestOf: (body: string) => string;
  /** How many paid requests get no response: before the work is done, or after it. */
  lost: { before: number; after: number };
  /** How many paid requests are told that the order exists already, and not which. */
  taken: number;
}

/**
 * A payment-by-challenge service on a real socket: charges without an account and forwards orders to the sandbox.
 * Records every payment it receives.
 */
export class Till {
  readonly mood: Mood = {
    methods: ['stripe', 'sandbox', 'tempo'],
    surcharge: 0,
    currency: 'usd',
    request: {},
    realm: 'the till',
    expiresInMs: 300_000,
    digestOf: (body) => `sha-256=${createHash('sha256').update(body).digest('base64')}`,
    lost: { before: 0, after: 0 },
    taken: 0,
  };
  /** Challenge id of every payment received, repeats included. */
  readonly paid: string[] = [];
  readonly payloads: unknown[] = [];
  requested = 0;
  readonly #service: TestService;
  readonly #bills = new Map<string, Bill>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  private constructor(service: TestService) {
    this.#service = service;
  }

  static async open(): Promise<Till> {
    const till = new Till(await TestService.start({ now: Date.now() }));
    await new Promise<void>((resolve) => till.#server.listen(0, '127.0.0.1', resolve));
    return till;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  product(slug = 'test-success'): string {
    return this.#service.product(slug);
  }

  async orders(): Promise<number> {
    return (await this.#service.send('GET', '/orders')).body.total;
  }

  async cancel(id: string): Promise<void> {
    await this.#service.send('POST', `/orders/${id}/cancel`);
  }

  /** Forgets all earlier payments. */
  forget(): void {
    this.#bills.clear();
  }

  /** Advances the service's clock, ms. */
  pass(ms: number): void {
    this.#service.pass(ms);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#service.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    const { url = '', method = '', headers } = request;
    if (url.startsWith('/agent/')) return this.#sell(url, body, headers.authorization, response);
    const key = headers.authorization?.replace('Bearer ', '') ?? null;
    const sent = await this.#service.send(method, url, body === '' ? undefined : body, key);
    response.writeHead(sent.status, { 'content-type': 'application/json' }).end(sent.text);
  }

  async #sell(
    url: string,
    body: string,
    authorization: string | undefined,
    response: ServerResponse,
  ): Promise<void> {
    const payment = /^Payment (.+)$/.exec(authorization ?? '')?.[1];
    if (payment === undefined) return this.#ask(url, body, response);
    const { challenge, payload } = JSON.parse(Buffer.from(payment, 'base64url').toString());
    if (this.mood.lost.before > 0) {
      this.mood.lost.before -= 1;
      response.destroy();
      return;
    }
    this.paid.push(challenge.id);
    this.payloads.push(payload);
    if (this.mood.taken > 0) {
      this.mood.taken -= 1;
      const refusal = { code: 'already_exists', message: 'It exists already.', details: {} };
      response.writeHead(409, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
      return;
    }
    const bill = this.#bills.get(challenge.id);
    if (bill?.body !== body) return this.#ask(url, body, response);
    await this.#hand(url, bill, response);
  }

  #ask(url: string, body: string, response: ServerResponse): void {
    this.requested += 1;
    const only = new URL(url, 'http://till').searchParams.get('method');
    const price = (JSON.parse(body || '{}').max_price ?? -99) + 100 + this.mood.surcharge;
    const challenges = this.mood.methods
      .filter((name) => only === null || name === only)
      .map((name) =>
        this.#challenge(name, String(url.includes('orders') ? price : 1 + this.mood.surcharge), body),
      );
    response
      .writeHead(402, { 'www-authenticate': challenges, 'content-type': 'application/problem+json' })
      .end(
        JSON.stringify({ type: 'about:blank', title: 'Payment Required', status: 402, detail: 'pay first' }),
      );
  }

  #challenge(method: string, amount: string, body: string): string {
    const id = randomUUID();
    this.#bills.set(id, { body });
    const { currency, expiresInMs, digestOf, realm } = this.mood;
    const requested = { amount, currency, recipient: 'till', ...this.mood.request };
    const request = Buffer.from(JSON.stringify(requested)).toString('base64url');
    const expires = new Date(Date.now() + expiresInMs).toISOString();
    return `Payment id="${id}", realm="${realm}", method="${method}", intent="charge", request="${request}", expires="${expires}", digest="${digestOf(body)}"`;
  }

  async #hand(url: string, bill: Bill, response: ServerResponse): Promise<void> {
    const receipt = { method: 'x', reference: 'r-1', status: 'success', timestamp: '2026-03-01T12:00:00Z' };
    const headers = {
      'content-type': 'application/json',
      'payment-receipt': Buffer.from(JSON.stringify(receipt)).toString('base64url'),
      'x-api-key': this.#service.key,
    };
    const again = bill.orderId !== undefined;
    const sent = url.includes('orders')
      ? await this.#service.send('POST', '/orders', bill.body)
      : await this.#service.send('GET', url.replace('/agent', ''));
    if (!again) bill.orderId = sent.body.id;
    if (this.mood.lost.after > 0) {
      this.mood.lost.after -= 1;
      response.destroy();
      return;
    }
    response.writeHead(sent.status, headers).end(sent.text);
  }
}
