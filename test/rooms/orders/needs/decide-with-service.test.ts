import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Shape } from '../../../../src/api/schemas/index.ts';
import type { Client } from '../../../../src/http/client.ts';
import { startSandbox } from '../../../../src/integrations/sdk/sandbox.ts';
import type { Sandbox } from '../../../../src/integrations/sdk/sandbox-types.ts';
import { Journal } from '../../../../src/journal/journal.ts';
import type { NeedRequest, Statement } from '../../../../src/orders/needs/decide.ts';
import {
  claimOf,
  type DecidedOrder,
  decideWithService,
  type NeedSources,
} from '../../../../src/orders/needs/decide-with-service.ts';
import { needOf } from '../../../../src/orders/needs/need.ts';
import { attemptKey, metadataOf, referenceKey, referenceOf } from '../../../../src/orders/needs/reference.ts';
import { listedByReference } from '../../../../src/orders/needs/service-orders.ts';
import { windowsFor } from '../../../../src/orders/needs/windows.ts';
import { caller } from '../../../support/caller.ts';

type Body = Shape<'OrderCreate'>;

const reference = referenceOf('REQ-1', 'shop');

let sandbox: Sandbox;
let client: Client;
let folders: string[];
beforeEach(async () => {
  sandbox = await startSandbox({ seed: 3, clock: 'frozen' });
  client = caller(sandbox.baseUrl, { apiKey: sandbox.apiKey }).client;
  folders = [];
});
afterEach(async () => {
  await sandbox.close();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Simulates a machine with its own journal. */
async function machine(): Promise<NeedSources> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-needs-'));
  folders.push(folder);
  const journal = await Journal.open(folder, Date.now);
  onTestFinished(() => journal.close());
  return {
    attempts: await journal.attempts(),
    scope: { service: sandbox.baseUrl, accounts: ['user 1'], isTest: true },
    client,
    list: listedByReference(client),
    now: sandboxNow,
    settle: async ({ state }) => ({ state }),
  };
}

let now = 0;
const sandboxNow = (): number => now;
beforeEach(async () => {
  now = await sandbox.advance('0s');
});
const advance = async (time: string): Promise<void> => {
  now = await sandbox.advance(time);
};

const body = (change: Partial<Body> = {}): Body => {
  const { idempotency_key: _, ...order } = sandbox.exampleOrder;
  return { ...(order as Body), ...change };
};

/** Places an order at the service, bypassing every journal. */
async function ordered(of: Body, change: Partial<Body> = {}): Promise<string> {
  const { body: order } = await client.call('order.create', { body: { ...of, ...change } });
  return order.id;
}
const withReference = { metadata: { [referenceKey]: metadataOf(reference) } };

const requested = (door: NeedRequest['door'] = 'script', statement: Statement = {}) => ({
  door,
  statement,
  windows: windowsFor('live'),
});
const decided = (
  sources: NeedSources,
  {
    of = body(),
    named = true,
    ...rest
  }: { of?: Body; named?: boolean } & Partial<ReturnType<typeof requested>> = {},
): Promise<DecidedOrder> =>
  decideWithService(sources, { ...requested(), ...rest }, of, named ? reference : undefined);
const inShort = ({ decision }: DecidedOrder): unknown =>
  decision.do === 'send'
    ? ['send', decision.number, decision.after?.state]
    : [
        decision.do,
        'why' in decision ? decision.why : decision.by,
        decision.attempts.map((one) => one.orderId),
      ];

/** Persists an attempt as it is right after its order was placed. */
async function placed(sources: NeedSources, of: Body, orderId: string): Promise<void> {
  await sources.attempts.claim(sources.scope, [needOf(of)], () => ({
    ...{ run: undefined, number: 1, key: randomUUID(), operation: 'order.create', upload: undefined },
    ...{ orderId, state: 'placed', madeAt: now, seenAt: undefined },
  }));
}

describe('by reference', () => {
  test('what nobody has ordered is sent', async () => {
    expect(inShort(await decided(await machine()))).toStrictEqual(['send', 1, undefined]);
    expect(sandbox.requests().map(({ path, query }) => `${path}?${query}`)).toStrictEqual([
      '/orders?metadata_key=…&metadata_value=shop:REQ-1&limit=500',
    ]);
  });

  test('what another machine has ordered is found, and read again', async () => {
    const id = await ordered(body(), withReference);
    const fresh = await machine();
    const found = await decided(fresh);
    expect(inShort(found)).toStrictEqual(['adopt', 'reference', [id]]);
    expect(found.seen.get(id)?.order.id).toBe(id);
    const [known = []] = await fresh.attempts.related(fresh.scope, [needOf(body(), reference)]);
    expect(known).toMatchObject([{ orderId: id, state: 'placed', reference, likeness: 'alike', number: 1 }]);
    expect(inShort(await decided(fresh))).toStrictEqual(['adopt', 'reference', [id]]);
  });

  test('an order that another process notes while its attempt is in doubt here is read before it is adopted', async () => {
    const sources = await machine();
    const [serial] = await sources.attempts.claim(sources.scope, [needOf(body(), reference)], () => ({
      ...{ run: undefined, number: 1, key: randomUUID(), operation: 'order.create', upload: undefined },
      ...{ orderId: undefined, state: 'intended', madeAt: now, seenAt: undefined },
    }));
    const list: NeedSources['list'] = { idsOf: async () => [] };
    const settle: NeedSources['settle'] = async ({ state }) => ({ state });
    const id = await ordered(body(), withReference);
    const change: NeedSources['attempts']['change'] = async (changes) => {
      await sources.attempts.change(changes);
      // The other process is done once this command has looked at its attempt.
      if (changes.length > 0)
        await sources.attempts.change([
          { serial: Number(serial), state: 'placed', orderId: id, seenAt: now },
        ]);
    };
    const attempts = new Proxy(sources.attempts, {
      get: (of, name) => (name === 'change' ? change : Reflect.get(of, name).bind(of)),
    });
    const found = await decided({ ...sources, attempts, list, settle });
    expect(inShort(found)).toStrictEqual(['adopt', 'reference', [id]]);
    expect(found.seen.get(id)?.order.id).toBe(id);
  });

  test('an order of another name, or of none, is another need', async () => {
    await ordered(body(), { metadata: { [referenceKey]: 'shop:REQ-2' } });
    await ordered(body());
    expect(inShort(await decided(await machine()))).toStrictEqual(['send', 1, undefined]);
  });

  test.each<readonly [string, (own: Body) => Partial<Body>, string]>([
    ['another ceiling', () => ({ max_price: 4999 }), 'adopt'],
    ['other metadata', () => ({ metadata: { team: 'office' } }), 'adopt'],
    [
      'the name in capitals',
      ({ shipping_address: to }) => ({
        shipping_address: { ...to, first_name: to.first_name.toUpperCase() },
      }),
      'adopt',
    ],
    [
      'another phone number',
      ({ shipping_address: to }) => ({ shipping_address: { ...to, phone_number: '5550199' } }),
      'adopt',
    ],
    [
      'another quantity',
      ({ products }) => ({ products: products.map((line) => ({ ...line, quantity: 3 })) }),
      'differs',
    ],
    [
      'another product',
      () => ({ products: [{ url: 'https://shop.example/p/other', quantity: 1 }] }),
      'differs',
    ],
    [
      'another person',
      ({ shipping_address: to }) => ({ shipping_address: { ...to, first_name: 'Somebody' } }),
      'differs',
    ],
    [
      'another flat',
      ({ shipping_address: to }) => ({ shipping_address: { ...to, address_line2: 'Apt 99' } }),
      'differs',
    ],
  ])('%s', async (_, change, outcome) => {
    const id = await ordered(body(), withReference);
    const found = await decided(await machine(), { of: { ...body(), ...change(body()) } });
    expect(inShort(found)).toStrictEqual(
      outcome === 'adopt' ? ['adopt', 'reference', [id]] : ['refuse', outcome, [id]],
    );
  });

  test('two live orders are both named', async () => {
    const ids = [await ordered(body(), withReference), await ordered(body(), withReference)];
    const { decision } = await decided(await machine());
    expect(decision).toMatchObject({ do: 'refuse', why: 'two_live' });
    expect(
      'attempts' in decision && decision.attempts.map(({ orderId }) => orderId).toSorted(),
    ).toStrictEqual(ids.toSorted());
  });

  test('one that has failed makes room for the next', async () => {
    const id = await ordered(body(), withReference);
    await sandbox.trigger('failed', id);
    expect(inShort(await decided(await machine()))).toStrictEqual(['send', 2, 'failed']);
    const again = await ordered(body(), withReference);
    expect(inShort(await decided(await machine()))).toStrictEqual(['adopt', 'reference', [again]]);
  });

  test('one that was cancelled is ordered again by a command, and by no file', async () => {
    const id = await ordered(body(), withReference);
    await client.call('order.cancel', { path: { order_id: id } });
    expect(inShort(await decided(await machine()))).toStrictEqual(['send', 2, 'cancelled']);
    expect(inShort(await decided(await machine(), requested('upload')))).toStrictEqual([
      'refuse',
      'cancelled',
      [id],
    ]);
    expect(inShort(await decided(await machine(), requested('upload', { again: true })))).toStrictEqual([
      'send',
      2,
      'cancelled',
    ]);
  });

  test('one that was returned is bought again only where that is meant', async () => {
    const id = await ordered(body(), withReference);
    await advance('20d');
    const { body: order } = await client.call('order.get', { path: { order_id: id } });
    const items = Object(order.items).map(({ id: line, quantity }: Record<string, unknown>) => ({
      order_item_id: line,
      quantity,
    }));
    const { body: made } = await client.call('return.create', {
      body: { order_id: id, items, reason: 'no_longer_needed' },
    });
    expect(inShort(await decided(await machine()))).toStrictEqual(['adopt', 'reference', [id]]);
    await sandbox.trigger('return-approved', made.id);
    expect(inShort(await decided(await machine()))).toStrictEqual(['refuse', 'returned', [id]]);
    expect(inShort(await decided(await machine(), requested('script', { again: true })))).toStrictEqual([
      'send',
      2,
      'returned',
    ]);
  });

  test('without a look nothing is decided', async () => {
    const here = await machine();
    await sandbox.close();
    await expect(decided(here)).rejects.toMatchObject({ category: 'unavailable' });
  });
});

describe('by likeness', () => {
  test('a live order is read before it stands in the way', async () => {
    const here = await machine();
    const id = await ordered(body());
    await placed(here, body(), id);
    expect(inShort(await decided(here, { named: false }))).toStrictEqual(['refuse', 'alike', [id]]);
    await sandbox.trigger('failed', id);
    expect(inShort(await decided(here, { named: false }))).toStrictEqual(['send', 2, 'failed']);
  });

  test.each([
    ['live', false],
    ['of a sandbox, which may have been emptied', true],
  ])('one that the service does not know is not told of as placed: %s', async (_, isTest) => {
    const own = await machine();
    const here = { ...own, scope: { ...own.scope, isTest } };
    const id = randomUUID();
    await placed(here, body(), id);
    expect(inShort(await decided(here, { named: false }))).toStrictEqual(
      isTest ? ['send', 2, undefined] : ['refuse', 'unknown', [id]],
    );
  });

  test('what was in doubt is settled first', async () => {
    const here = await machine();
    const id = await ordered(body());
    await here.attempts.claim(here.scope, [needOf(body())], () => ({
      ...{ run: undefined, number: 1, key: 'k', operation: 'order.create', upload: undefined },
      ...{ orderId: undefined, state: 'intended', madeAt: now, seenAt: undefined },
    }));
    expect(inShort(await decided(here, { named: false }))).toStrictEqual(['refuse', 'in_doubt', [undefined]]);
    const settling: NeedSources = { ...here, settle: async () => ({ state: 'placed', orderId: id }) };
    expect(inShort(await decided(settling, { named: false }))).toStrictEqual(['refuse', 'alike', [id]]);
  });
});

test('of two that decide at the same moment, one writes its attempt', async () => {
  const here = await machine();
  const both = await Promise.all([decided(here), decided(here)]);
  const serials = [];
  for (const one of both) {
    const { scope, needs, decide } = claimOf(here, one, (number) => ({
      ...{ run: undefined, number, key: attemptKey(reference, number), operation: 'order.create' },
      ...{ upload: undefined, orderId: undefined, state: 'intended', madeAt: now, seenAt: undefined },
    }));
    serials.push(...(await here.attempts.claim(scope, needs, decide)));
  }
  expect(serials.filter((one) => one !== undefined)).toHaveLength(1);
});
