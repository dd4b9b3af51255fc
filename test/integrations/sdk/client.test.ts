import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createClient } from '../../../src/integrations/sdk/client.ts';
import type {
  Client,
  ClientOptions,
  RequestSent,
  ResponseReceived,
  RetryPlanned,
} from '../../../src/integrations/sdk/client-types.ts';
import {
  DeadlineError,
  ErrandError,
  InDoubtError,
  InterruptedError,
  OrderFailedError,
  ServiceError,
  UsageError,
} from '../../../src/integrations/sdk/index.ts';
import { openJournal, placeOrder } from '../../../src/integrations/sdk/safely.ts';
import { startSandbox } from '../../../src/integrations/sdk/sandbox.ts';
import type { Sandbox, SandboxOptions } from '../../../src/integrations/sdk/sandbox-types.ts';
import { waitFor } from '../../../src/integrations/sdk/wait.ts';
import { parseWebhook, WebhookError } from '../../../src/integrations/sdk/webhook.ts';
import { makeWorkspace } from '../../support/workspace.ts';

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ port: false, ...options });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

function clientOf({ baseUrl, apiKey, fetch }: Sandbox): Client {
  const client = createClient({ baseUrl, apiKey, transport: fetch });
  onTestFinished(() => client.close());
  return client;
}

async function place(client: Client, { exampleOrder }: Sandbox, key: string): Promise<string> {
  const body = { ...exampleOrder, idempotency_key: key };
  return (await client.call('order.create', { body })).body.id;
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('it succeeded'),
    (error: unknown) => error,
  );

async function each(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows);
}

/** A client whose requests reach nobody; the n-th gets the n-th of these statuses, and later ones wait for ever. */
function scripted(statuses: readonly number[], more: Partial<ClientOptions> = {}) {
  const seen: { url: string; init: RequestInit }[] = [];
  const client = createClient({
    baseUrl: 'https://host.example',
    apiKey: 'shop_test_00000000000000000000000000000000',
    transport: (url, init) => {
      seen.push({ url, init });
      const status = statuses[seen.length - 1];
      if (status === undefined)
        return new Promise((_, reject) =>
          init.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
        );
      const body = status === 200 ? '{"balance":1}' : '{"code":"service_unavailable","message":"no"}';
      const headers = { 'content-type': 'application/json', 'x-request-id': `r${seen.length}` };
      return Promise.resolve(new Response(body, { status, headers }));
    },
    ...more,
  });
  onTestFinished(() => client.close());
  return { client, seen };
}

describe('client.list', () => {
  test('gives records and pages, each loop anew, and stops where the loop does', async () => {
    const sandbox = await start();
    const client = clientOf(sandbox);
    const ids = [await place(client, sandbox, 'a'), await place(client, sandbox, 'b')];
    const orders = client.list('order.list', { query: { limit: 1 } });
    for (const _ of [1, 2]) {
      const found: string[] = [];
      for await (const order of orders) found.push(order.id);
      expect(found.toSorted()).toEqual(ids.toSorted());
    }
    const sizes: number[] = [];
    for await (const { rows, total } of orders.pages()) sizes.push(rows.length, total ?? 0);
    expect(sizes).toEqual([1, 2, 1, 2]);
    for await (const { id } of orders) {
      expect(ids).toContain(id);
      break;
    }
  });

  test('takes the options of a call, and refuses others before anything is sent', async () => {
    const sandbox = await start();
    const client = clientOf(sandbox);
    const reason = new DOMException('enough', 'AbortError');
    const all = client.list('order.list', {}, { signal: AbortSignal.abort(reason) });
    const aborted = await failureOf(each(all));
    expect([aborted, Object(aborted).cause]).toEqual([
      expect.any(InterruptedError),
      expect.objectContaining({ name: 'AbortError', message: 'enough' }),
    ]);
    const refused = await failureOf(each(client.list('order.list', {}, Object({ timeout: 5 }))));
    expect([refused, Object(refused).message]).toEqual([
      expect.any(UsageError),
      expect.stringContaining('did you mean "timeoutMs"?'),
    ]);
    expect(sandbox.requests()).toEqual([]);
  });
});

describe('the options of one call', () => {
  test('retries, timeoutMs and headers go before those of the client', async () => {
    const { client, seen } = scripted([503, 503], { retries: 5 });
    await failureOf(client.call('wallet.get', {}, { retries: 0, headers: { 'X-Trace': 't1' } }));
    expect(seen.map(({ init }) => Object(init.headers)['x-trace'])).toEqual(['t1']);
    const slow = scripted([]);
    const late = await failureOf(slow.client.call('wallet.get', {}, { timeoutMs: 20, retries: 0 }));
    expect(late).toBeInstanceOf(DeadlineError);
    expect(Object(late).cause).toMatchObject({ name: 'TimeoutError' });
  });

  test.each(['Host', 'content-length', 'X-Original-URL', 'X-HTTP-Method-Override', 'a b'])(
    'refuse the header %s',
    async (name) => {
      const { client, seen } = scripted([200]);
      const refused = await failureOf(client.call('wallet.get', {}, { headers: { [name]: '1' } }));
      expect(refused).toBeInstanceOf(UsageError);
      expect(seen).toEqual([]);
    },
  );

  test('never replace what the client sends itself', async () => {
    const { client, seen } = scripted([200]);
    const headers = { Authorization: 'Bearer other', 'User-Agent': 'other', accept: 'text/html' };
    await client.call('wallet.get', {}, { headers });
    expect(seen[0]?.init.headers).toMatchObject({
      authorization: expect.stringContaining('shop_test_'),
      'user-agent': expect.stringMatching(/^errand\//),
      accept: 'application/json',
    });
  });
});

describe('what ended a call', () => {
  const body = {
    products: [{ url: 'https://shop.example/1' }],
    max_price: 100,
    idempotency_key: 'one',
    shipping_address: {
      ...{ first_name: 'A', last_name: 'B', address_line1: '1', city: 'C', postal_code: '1' },
      ...{ country: 'DE', phone_number: '1' },
    },
  };

  test.each([
    ['an AbortError', () => AbortSignal.timeout(5), 'TimeoutError'],
    ['a TimeoutError', () => abortedSoon(new DOMException('stop', 'AbortError')), 'AbortError'],
    ['an error of the program', () => abortedSoon(new RangeError('stop')), 'RangeError'],
  ])('stands in cause, and an order that was sent is in doubt: %s', async (_, signalOf, name) => {
    const read = await failureOf(scripted([]).client.call('wallet.get', {}, { signal: signalOf() }));
    expect(read).toBeInstanceOf(InterruptedError);
    expect(Object(read).cause).toMatchObject({ name });
    const ordered = await failureOf(
      scripted([]).client.call('order.create', { body }, { signal: signalOf() }),
    );
    expect(ordered).toBeInstanceOf(InDoubtError);
    expect(Object(ordered).cause).toMatchObject({ name });
  });

  test.each([
    { payment: 'Payment abc' },
    { payment: 'x402 abc' },
    { headers: { Authorization: 'Payment abc' } },
    { headers: { 'PAYMENT-SIGNATURE': 'abc' } },
  ])('a paid order that was sent is in doubt, however its payment was given: %j', async (paid) => {
    const { client, seen } = scripted([]);
    const signal = abortedSoon(new RangeError('stop'));
    const ordered = await failureOf(client.call('agent.order.create', { body }, { ...paid, signal }));
    expect(ordered).toBeInstanceOf(InDoubtError);
    const { authorization, 'payment-signature': signature } = Object(seen[0]?.init.headers);
    expect([authorization, signature]).toContainEqual(expect.stringContaining('abc'));
  });

  test('an order that timed out is in doubt, with a TimeoutError as its cause', async () => {
    const options = { timeoutMs: 20, retries: 0 };
    const late = await failureOf(scripted([]).client.call('order.create', { body }, options));
    expect([late, Object(late).cause.name]).toEqual([expect.any(InDoubtError), 'TimeoutError']);
  });

  test('an order placed by errand/safely is in doubt too, with the reason as its cause', async () => {
    const workspace = makeWorkspace();
    onTestFinished(() => workspace.remove());
    const journal = await openJournal({ folder: join(workspace.folder, 'journal') });
    onTestFinished(() => journal.close());
    const stop = new AbortController();
    const { client } = scripted([], {
      onRequest: ({ method }) => {
        if (method === 'POST') setTimeout(() => stop.abort(new DOMException('stop', 'AbortError')), 5);
      },
    });
    const { idempotency_key: _, ...order } = body;
    const ordered = await failureOf(placeOrder(client, journal, order, { signal: stop.signal }));
    expect([ordered, Object(ordered).cause?.name]).toEqual([expect.any(InDoubtError), 'AbortError']);
  });
});

/** Aborts once the request is under way. */
function abortedSoon(reason: unknown): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(reason), 5);
  return controller.signal;
}

describe('hooks', () => {
  test('see each attempt with its operation, and no key; what one throws changes nothing', async () => {
    const requests: RequestSent[] = [];
    const responses: ResponseReceived[] = [];
    const retries: RetryPlanned[] = [];
    const warnings = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    onTestFinished(() => warnings.mockRestore());
    const { client } = scripted([503, 200], {
      onRequest: (request) => requests.push(request),
      onResponse: (response) => {
        responses.push(response);
        throw new Error('a bug of the program');
      },
      onRetry: (retry) => retries.push(retry),
    });
    expect((await client.call('wallet.get')).body.balance).toBe(1);
    const of = { operation: 'wallet.get', method: 'GET', url: 'https://host.example/wallet/me' };
    expect(requests).toMatchObject([
      { ...of, attempt: 1 },
      { ...of, attempt: 2 },
    ]);
    expect(responses).toMatchObject([
      { ...of, attempt: 1, status: 503, requestId: 'r1' },
      { ...of, attempt: 2, status: 200, requestId: 'r2' },
    ]);
    expect(retries).toMatchObject([{ ...of, attempt: 2, status: 503 }]);
    expect(JSON.stringify([requests, responses])).not.toContain('000000');
    expect(warnings).toHaveBeenCalledWith(
      expect.stringContaining('a bug of the program'),
      'ErrandHookWarning',
    );
  });

  test('may be async; what one rejects with is warned of, and ends no program', async () => {
    const warned = new Promise((resolve) => process.once('warning', resolve));
    const { client } = scripted([200], {
      onRequest: async () => {
        throw new Error('a bug of the program');
      },
    });
    expect((await client.call('wallet.get')).body.balance).toBe(1);
    expect(await warned).toMatchObject({ name: 'ErrandHookWarning' });
  });

  test('appInfo is in the user agent, and takes no line break', async () => {
    const appInfo = { name: 'shop', version: '2.1', url: 'https://shop.example' };
    const { client, seen } = scripted([200], { appInfo });
    await client.call('wallet.get');
    expect(Object(seen[0]?.init.headers)['user-agent']).toMatch(
      /^errand\/\S+ shop\/2\.1 \(https:\/\/shop\.example\)$/,
    );
    expect(() => scripted([], { appInfo: { name: 'a\nb' } })).toThrow(UsageError);
    expect(() => scripted([], { appInfo: { ...appInfo, url: 'https://a) b' } })).toThrow(UsageError);
  });
});

test('an error has its code, and that of a service is of the contract', async () => {
  const client = clientOf(await start());
  const missing = await failureOf(
    client.call('order.get', { path: { order_id: '11111111-2222-4333-8444-555555555555' } }),
  );
  if (!(missing instanceof ServiceError)) return expect.fail(String(missing));
  // It would not compile if the codes were not known.
  const code: 'not_found' | (string & {}) | undefined = missing.code;
  expect(code).toBe('not_found');
});

describe('waitFor', () => {
  test('resolves with the order as soon as it is placed, and tells each change', async () => {
    const sandbox = await start({ speed: 1000 });
    const client = clientOf(sandbox);
    const id = await place(client, sandbox, 'a');
    const states: string[] = [];
    const order = await waitFor(client, id, {
      intervalMs: 5,
      onUpdate: ({ status }) => states.push(status),
    });
    expect([order.id, order.status, states.at(-1)]).toEqual([id, 'order_placed', 'order_placed']);
  });

  test('waits for what onUpdate does, and throws what it rejects with', async () => {
    const sandbox = await start({ clock: 'frozen' });
    const client = clientOf(sandbox);
    const id = await place(client, sandbox, 'a');
    const onUpdate = async () => {
      throw new RangeError('a bug of the program');
    };
    expect(
      await failureOf(waitFor(client, id, { intervalMs: 5, timeoutMs: 1_000, onUpdate })),
    ).toBeInstanceOf(RangeError);
  });

  test('throws the order that failed, with the reason', async () => {
    const sandbox = await start({ speed: 1000 });
    const client = clientOf(sandbox);
    const url = sandbox.exampleOrder.products[0]?.url.replace(/[^/]+$/, 'test-price-exceeded') ?? '';
    const body = { ...sandbox.exampleOrder, products: [{ url }], idempotency_key: 'f' };
    const { body: made } = await client.call('order.create', { body });
    const failed = await failureOf(waitFor(client, made.id, { intervalMs: 5 }));
    if (!(failed instanceof OrderFailedError)) return expect.fail(String(failed));
    expect([failed.order.id, failed.type, failed.category]).toEqual([
      made.id,
      'max_price_exceeded',
      'ended_badly',
    ]);
  });

  test('ends with the time, or with the signal, and leaves the order as it is', async () => {
    const sandbox = await start({ clock: 'frozen' });
    const client = clientOf(sandbox);
    const id = await place(client, sandbox, 'a');
    const late = await failureOf(waitFor(client, id, { intervalMs: 5, timeoutMs: 20 }));
    expect(late).toMatchObject({ category: 'deadline', code: 'wait_timeout' });
    const signal = abortedSoon(new DOMException('stop', 'AbortError'));
    const stopped = await failureOf(waitFor(client, id, { intervalMs: 60_000, signal }));
    expect([stopped, Object(stopped).cause.name]).toEqual([expect.any(InterruptedError), 'AbortError']);
    expect((await client.call('order.get', { path: { order_id: id } })).body.status).toBe('pending');
    const other = clientOf(sandbox);
    const left = failureOf(
      waitFor(other, id, { intervalMs: 60_000, onUpdate: () => void setTimeout(() => void other.close()) }),
    );
    expect(await left).toBeInstanceOf(InterruptedError);
    const unknown = await failureOf(waitFor(client, '11111111-2222-4333-8444-555555555555'));
    expect(unknown).toMatchObject({ category: 'not_found' });
  });
});

describe('parseWebhook', () => {
  const secret = 'whsec_1';
  const order_id = '11111111-2222-4333-8444-555555555555';
  const signed = (body: string) => createHmac('sha256', secret).update(body).digest('hex');
  const request = (body: string, headers: Record<string, string> = {}) =>
    new Request('https://shop.example/hook', { method: 'POST', body, headers });

  test('reads an order, whose event stands in the header', async () => {
    const body = JSON.stringify({ id: order_id, status: 'order_placed' });
    const event = await parseWebhook(request(body, { 'X-Webhook-Event': 'request_succeeded' }));
    expect(event).toEqual({
      ...{ form: 'order', event: 'request_succeeded', orderId: order_id, isVerified: false },
      data: { id: order_id, status: 'order_placed' },
    });
    if (event.form === 'order') expect(event.data.status).toBe('order_placed');
  });

  const envelope = (timestamp: Date, more: object = {}) =>
    JSON.stringify({ event: 'order.delivered', timestamp, order_id, ...more });

  test('reads and verifies an envelope, from a Request, a text and bytes', async () => {
    const [data, sentAt] = [{ order_id, status: 'delivered' }, new Date()];
    const body = envelope(sentAt, { data });
    const expected = {
      ...{ form: 'envelope', event: 'order.delivered', orderId: order_id, returnId: undefined, data },
      ...{ isVerified: true, sentAt },
    };
    const signature = signed(body);
    const received = request(body, { 'X-Webhook-Signature': signature });
    expect(await parseWebhook(received, { secret })).toEqual(expected);
    expect(await parseWebhook(body, { secret, signature })).toEqual(expected);
    expect(await parseWebhook(new TextEncoder().encode(body), { secret, signature })).toEqual(expected);
  });

  test.each([undefined, null, [], 'none'])(
    'takes the event from the signed body, also where its data is %j',
    async (data) => {
      const body = envelope(new Date(), { data });
      const headers = { 'X-Webhook-Signature': signed(body), 'X-Webhook-Event': 'order.failed' };
      expect(await parseWebhook(request(body, headers), { secret })).toMatchObject({
        ...{ form: 'envelope', event: 'order.delivered', orderId: order_id, isVerified: true, data: {} },
      });
    },
  );

  test('refuses a signed event that is sent again after a week, or after as long as is given', async () => {
    const parsed = (ageMs: number, more: object = {}) => {
      const body = envelope(new Date(Date.now() - ageMs));
      return parseWebhook(body, { secret, signature: signed(body), ...more });
    };
    const dayMs = 24 * 3600 * 1000;
    expect((await parsed(6 * dayMs)).isVerified).toBe(true);
    expect((await parsed(8 * dayMs, { maxAgeMs: 9 * dayMs })).isVerified).toBe(true);
    for (const old of [parsed(8 * dayMs), parsed(6 * dayMs, { maxAgeMs: 60_000 })])
      expect(await failureOf(old)).toMatchObject({ name: 'WebhookError', code: 'too_old' });
    const unsigned = { secret: undefined, signature: undefined };
    expect((await parsed(8 * dayMs, unsigned)).isVerified).toBe(false);
  });

  test('says that a body has been read already, since only its bytes can be verified', async () => {
    const received = request(envelope(new Date()));
    await received.json();
    const failure = await failureOf(parseWebhook(received, { secret }));
    expect(failure).toBeInstanceOf(UsageError);
    expect(Object(failure).message).toContain('read already');
  });

  test('refuses a signature that is missing or altered in one bit, and what is no event', async () => {
    const body = JSON.stringify({ id: order_id });
    const code = async (given: string, signature?: string) => {
      const failure = await failureOf(parseWebhook(given, { secret, ...(signature && { signature }) }));
      return failure instanceof WebhookError ? failure.code : expect.fail(String(failure));
    };
    expect(await code(body)).toBe('signature_missing');
    const right = signed(body);
    for (const [at, digit] of [...right].entries()) {
      const other = (Number.parseInt(digit, 16) ^ 1).toString(16);
      expect(await code(body, right.slice(0, at) + other + right.slice(at + 1))).toBe('signature_wrong');
    }
    expect(await code('[]', signed('[]'))).toBe('unreadable');
    expect(await failureOf(parseWebhook('nonsense'))).toBeInstanceOf(WebhookError);
    expect(await failureOf(parseWebhook(Object({ body })))).toBeInstanceOf(UsageError);
    const large = request(`{"a":"${'x'.repeat(2_000_000)}"}`);
    expect(await failureOf(parseWebhook(large))).toMatchObject({ code: 'unreadable' });
  });
});

describe('under fake timers', () => {
  test('a client made before or under them calls, times out and tries again', async () => {
    const sandbox = await start();
    const before = clientOf(sandbox);
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    for (const client of [before, clientOf(sandbox)])
      expect((await client.call('wallet.get')).body.balance).toBeGreaterThan(0);
    const late = await failureOf(scripted([]).client.call('wallet.get', {}, { timeoutMs: 20, retries: 0 }));
    expect(late).toBeInstanceOf(DeadlineError);
    expect((await scripted([503, 200]).client.call('wallet.get')).attempts).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('every error is an ErrandError', () => {
  for (const made of [OrderFailedError, WebhookError, InDoubtError])
    expect(made.prototype).toBeInstanceOf(ErrandError);
});
