import type { ServedRequest } from '../../src/api/control.ts';
import type { SandboxConfig } from '../../src/sandbox/config.ts';
import { type Served, serveSandbox } from '../../src/sandbox/serve.ts';
import type { Fault } from '../../src/sandbox/server/faults.ts';
import type { Users } from '../../src/sandbox/server/owner.ts';
import { orderBody } from './order-body.ts';

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests access arbitrary JSON.
  readonly body: ReturnType<typeof JSON.parse>;
}

/** The sandbox over real HTTP, with a clock controlled by the test. */
export class TestService {
  readonly #served: Served;
  readonly #clock: { now: number };
  readonly bugs: unknown[];
  key = '';

  private constructor(served: Served, clock: { now: number }, bugs: unknown[]) {
    this.#served = served;
    this.#clock = clock;
    this.bugs = bugs;
  }

  static async start(
    options: {
      file?: string;
      seed?: number;
      config?: Partial<SandboxConfig>;
      now?: number;
      faults?: readonly Fault[];
      onRequest?: (request: ServedRequest) => void;
      users?: Users;
    } = {},
  ): Promise<TestService> {
    const clock = { now: options.now ?? Date.parse('2026-03-01T12:00:00Z') };
    const bugs: unknown[] = [];
    const served = await serveSandbox({
      host: '127.0.0.1',
      port: 0,
      file: options.file ?? ':memory:',
      seed: options.seed ?? 7,
      ...(options.config && { config: options.config }),
      ...(options.faults && { faults: options.faults }),
      ...(options.users && { users: options.users }),
      ...(options.onRequest && { onRequest: options.onRequest }),
      now: () => clock.now,
      report: (error) => bugs.push(error),
    });
    const service = new TestService(served, clock, bugs);
    service.key = await service.mint();
    return service;
  }

  get baseUrl(): string {
    return this.#served.baseUrl;
  }

  /** URL that opens the console. */
  get consoleUrl(): string {
    return this.#served.consoleUrl;
  }

  /** The token the same user's command line sends. */
  get token(): string | undefined {
    return this.#served.token;
  }

  /** The parts behind the HTTP server. */
  get parts(): Served['service'] {
    return this.#served.service;
  }

  product(slug: string): string {
    return `${this.#served.shopUrl}/${slug}`;
  }

  /** Advances the clock, ms. */
  pass(ms: number): void {
    this.#clock.now += ms;
  }

  async mint(body?: unknown): Promise<string> {
    return (await this.send('POST', '/sandbox/keys', body, null)).body.api_key;
  }

  async send(
    method: string,
    target: string,
    body?: unknown,
    key: string | null = this.key,
    headers: Record<string, string> = {},
  ): Promise<ServiceResponse> {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${this.baseUrl}${target}`, {
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
      redirect: 'manual',
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true && text !== '';
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  }

  order(slug: string, more: Record<string, unknown> = {}, key: string = this.key): Promise<ServiceResponse> {
    return this.send('POST', '/orders', { ...orderBody(this.product(slug)), ...more }, key);
  }

  stop(): Promise<void> {
    return this.#served.close();
  }
}
