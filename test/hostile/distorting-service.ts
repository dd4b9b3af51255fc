import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { OperationName } from '../../src/api/operations/index.ts';
import { findRoute } from '../../src/sandbox/routes.ts';
import type { TestService } from '../support/service.ts';
import type { Mutation } from './mutations.ts';
import { changedRefusal, type RefusalSample } from './refusals.ts';

/** A valid sandbox response to an operation. */
export interface Sample {
  readonly operation: OperationName;
  readonly body: unknown;
}

/** Which operation's responses to alter, and how: the sandbox's own responses, or an error in their place. */
export interface Attempt {
  readonly operation: OperationName;
  readonly mutation: Mutation;
  readonly refusal?: RefusalSample;
}

/**
 * The sandbox with one value changed in the responses of one operation. Its clock advances with each request, so that a
 * watched order finishes.
 */
export class DistortingService {
  readonly #service: TestService;
  readonly #server: Server;
  /** Valid responses recorded since they were last taken. */
  readonly samples: Sample[] = [];
  /** Operations called since this was last cleared. */
  readonly called = new Set<OperationName>();
  target: Attempt | undefined;

  private constructor(service: TestService) {
    this.#service = service;
    this.#server = createServer((request, response) => {
      this.#respond(request).then(
        ({ status, headers, text }) => response.writeHead(status, headers).end(text),
        () => response.destroy(),
      );
    });
  }

  static async start(service: TestService): Promise<DistortingService> {
    const distorting = new DistortingService(service);
    await new Promise<void>((resolve) => distorting.#server.listen(0, '127.0.0.1', resolve));
    return distorting;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #respond(request: IncomingMessage) {
    const { method = '', url = '', headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const found = findRoute(method, new URL(url, 'http://x').pathname);
    const name = 'kind' in found && found.kind === 'operation' ? found.name : undefined;
    if (name) this.called.add(name);
    const { operation, mutation, refusal } = this.target ?? {};
    if (name && mutation && refusal && operation === name) return changedRefusal(name, refusal, mutation);
    const response = await fetch(`${this.#service.baseUrl}${url}`, {
      method,
      headers: passedOn(headers),
      redirect: 'manual',
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    this.#service.pass(3000);
    const text = await response.text();
    const passed = { status: response.status, headers: givenBack(response), text };
    if (!name || !response.ok || !response.headers.get('content-type')?.includes('json')) return passed;
    const body: unknown = withHaste(JSON.parse(text));
    this.samples.push({ operation: name, body });
    if (name === 'device.code') await this.#approve(Object(body).user_code);
    const changed = mutation && operation === name ? mutation.apply(body) : body;
    return { ...passed, text: JSON.stringify(changed) ?? '' };
  }

  /** Approves at once, like a quick user. */
  async #approve(code: string): Promise<void> {
    await this.#service.send('POST', '/sandbox/trigger', { event: 'device-approve', id: code });
  }
}

/** Lets a device poll as fast as permitted. */
const withHaste = (body: object): object => ('interval' in body ? { ...body, interval: 1 } : body);

function passedOn({
  host: _,
  connection: __,
  'content-length': ___,
  ...headers
}: IncomingMessage['headers']) {
  const given = Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(given);
}

function givenBack(response: Response): Record<string, string | string[]> {
  const names = ['content-type', 'payment-receipt', 'x-api-key', 'retry-after', 'x-request-id'];
  const plain = names.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  // `fetch` joins the repeated headers, one challenge per method.
  const challenges = (response.headers.get('www-authenticate') ?? '').split(/, (?=Payment )/).filter(Boolean);
  return { ...Object.fromEntries(plain), ...(challenges.length > 0 && { 'www-authenticate': challenges }) };
}
