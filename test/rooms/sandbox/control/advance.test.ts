import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { returnReasons } from '../../../../src/api/enums.ts';
import { advanceThrough, settle } from '../../../../src/sandbox/control/control.ts';
import { expectBalancedBooks } from '../../../support/books.ts';
import { orderBody, rowBody } from '../../../support/order-body.ts';
import { Receiver } from '../../../support/receiver.ts';
import { openStillSandbox } from '../../../support/still.ts';
import { isWhole } from '../../../support/whole.ts';

const second = 1000;
const day = 24 * 3600 * second;

/** Refuses each event the number of times given in its URL, then accepts it; `never` refuses for good. */
let receiver: Receiver;
beforeAll(async () => {
  const seen = new Map<string, number>();
  receiver = await Receiver.start();
  receiver.reply = ({ headers, target }) => {
    const refusals = target.split('/').at(-1) ?? '';
    const delivery = `${target} ${headers['x-webhook-id']}`;
    const before = seen.get(delivery) ?? 0;
    seen.set(delivery, before + 1);
    return { status: refusals === 'never' || before < Number(refusals) ? 500 : 204 };
  };
});
afterAll(() => receiver.stop());

const slug = fc.constantFrom(
  ...(['test-success', 'test-two-packages', 'test-out-of-stock', 'test-cancelled-by-retailer'] as const),
  ...(['test-slow', 'test-undeliverable', 'test-price-exceeded'] as const),
);

const scenarios = fc.record({
  orders: fc.array(fc.record({ slug, refusals: fc.constantFrom('0', '1', '5', 'never', undefined) }), {
    minLength: 1,
    maxLength: 4,
  }),
  /** Rows per batch; all are uploaded together while the earlier orders are being placed. */
  batches: fc.array(fc.array(slug, { minLength: 1, maxLength: 12 }), { maxLength: 3 }),
  uploadedAfter: fc.integer({ min: 1_800, max: 2_400 }),
  /** Refusals of a registered URL that receives all events. */
  registered: fc.option(fc.constantFrom('0', '3')),
  reason: fc.constantFrom(...returnReasons),
  /** Wallet balance at that time beyond reservations, cents: enough for any one batch but not for all. */
  room: fc.integer({ min: 50_000, max: 120_000 }),
  days: fc.constantFrom(0.1, 1.5, 8),
  /** Where a stepwise way stops, as fractions of the whole. */
  stops: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
});
type Scenario = typeof scenarios extends fc.Arbitrary<infer S> ? S : never;

type Sandbox = Awaited<ReturnType<typeof openStillSandbox>>;
/** Advances the sandbox's clock by `ms`. */
type Pass = (sandbox: Sandbox, ms: number, scenario: Scenario) => Promise<void>;

const advance = async ({ service, outbox }: Sandbox, ms: number): Promise<void> => {
  await advanceThrough({ service, outbox, signal: new AbortController().signal }, ms);
};

/** Earliest due time of all pending work, ms. */
const nextDue = ({ service: { store } }: Sandbox): number =>
  Number(
    store.get(
      `SELECT min(due) AS due FROM (
         SELECT next_due AS due FROM orders UNION ALL SELECT next_due FROM returns
         UNION ALL SELECT due FROM batch_rows UNION ALL SELECT next_at FROM deliveries WHERE behind = 0)`,
    )?.due ?? Number.POSITIVE_INFINITY,
  );

const ways = {
  'in one leap': (sandbox, ms) => advance(sandbox, ms),
  /** Reads in between. */
  'piece by piece': async (sandbox, ms, { stops }) => {
    let at = 0;
    for (const stop of [...stops.toSorted((one, other) => one - other), 1]) {
      const next = Math.round(stop * ms);
      await advance(sandbox, next - at);
      at = next;
      await sandbox.send('GET', '/retailers?limit=1');
    }
  },
  /** Like a served sandbox left alone: rounds half a second apart, skipping those in which nothing is due. */
  'as time goes by': async (sandbox, ms) => {
    const round = second / 2;
    for (let left = ms; left > 0; ) {
      const rounds = Math.max(1, Math.ceil((nextDue(sandbox) - sandbox.service.clock.now()) / round));
      const step = Math.min(left, rounds * round);
      sandbox.pass(step);
      left -= step;
      await settle({ ...sandbox, signal: new AbortController().signal });
    }
  },
} as const satisfies Record<string, Pass>;
type Way = keyof typeof ways;

let worlds = 0;

/** Plays a scenario in one way. @returns the final state. */
async function played(scenario: Scenario, way: Way) {
  worlds += 1;
  const hooks = `/${worlds}`;
  const sandbox = await openStillSandbox();
  const { service } = sandbox;
  const { store } = service;
  try {
    const mint = async () => `Bearer ${(await sandbox.send('POST', '/sandbox/keys')).body.api_key}`;
    const [key, idle] = [await mint(), await mint()];
    const send = (method: string, target: string, body?: unknown) => sandbox.send(method, target, body, key);
    const product = (name: string) => `${service.config.shopUrl}/${name}`;
    const pass = (ms: number) => ways[way](sandbox, ms, scenario);
    if (scenario.registered !== null)
      await send('POST', '/users', { webhook_url: receiver.at(`${hooks}/${scenario.registered}`) });
    const orders: string[] = [];
    for (const [at, { slug: name, refusals }] of scenario.orders.entries()) {
      const webhooks = refusals !== undefined && {
        webhooks: {
          [refusals === 'never' ? 'request_succeeded' : 'status_updated']: receiver.at(
            `${hooks}/${refusals}`,
          ),
        },
      };
      const body = { ...orderBody(product(name)), idempotency_key: `order-${at}`, ...webhooks };
      orders.push((await send('POST', '/orders', body)).body.id);
    }
    await pass(scenario.uploadedAfter);
    await send('POST', '/sandbox/trigger', { event: 'wallet-emptied' });
    await send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: scenario.room });
    for (const names of scenario.batches) {
      const rows = names.map((name) => rowBody(product(name)));
      await send('POST', '/orders/bulk', { rows, notify_on_complete: true });
    }
    await pass(20 * second);
    for (const id of orders) {
      const { items } = (await send('GET', `/orders/${id}`)).body;
      const returned = items.map((item: { id: string; quantity: number }) => ({
        order_item_id: item.id,
        quantity: item.quantity,
      }));
      await send('POST', '/returns', { order_id: id, items: returned, reason: scenario.reason });
    }
    await pass(10 * second);
    const { return_requests: returns } = (await send('GET', '/returns')).body;
    await pass(scenario.days * day);
    const statusOf = async (target: string, authorization?: string) => {
      const headers = authorization === undefined ? {} : { authorization };
      const request = { method: 'GET', target, headers, body: new Uint8Array(), remoteAddress: '' };
      return (await sandbox.handle(request)).status;
    };
    const labels = [];
    for (const url of returns.flatMap((it: { label_urls: string[] }) => it.label_urls))
      labels.push(await statusOf(url.slice(service.config.baseUrl.length)));
    const keys = [await statusOf('/wallet/me', key), await statusOf('/wallet/me', idle)];
    expectBalancedBooks(store);
    expect(sandbox.bugs).toEqual([]);
    const deliveries = store.all(
      'SELECT seq, order_id, event, attempts, next_at, delivered_at, given_up_at FROM deliveries ORDER BY order_id, url, seq',
    );
    return {
      now: service.clock.now(),
      labels,
      keys,
      orders: store.all('SELECT record, status, reserved, next_due FROM orders ORDER BY id'),
      returns: store.all('SELECT record, next_due FROM returns ORDER BY id'),
      wallets: store.all('SELECT balance, reserved FROM wallets ORDER BY user_id'),
      ledger: store.all(
        'SELECT user_id, at, kind, cents, order_id FROM ledger ORDER BY at, order_id, kind, cents',
      ),
      batches: store.all('SELECT id, notified_at, updated_at FROM batches ORDER BY seq'),
      rows: store.all(
        'SELECT batch_seq, place, due, order_id, error FROM batch_rows ORDER BY batch_seq, place',
      ),
      /** Exact to the ms if every due moment is stopped at. */
      deliveries: deliveries.map(({ seq: _, ...delivery }) => delivery),
      attempts: store.all(
        `SELECT d.order_id, d.event, a.at, a.status, a.error FROM delivery_attempts a JOIN deliveries d ON d.seq = a.delivery_seq
         ORDER BY d.order_id, d.url, d.seq, a.at`,
      ),
      /** Outcomes only, for rounds that run slightly late. */
      outcomes: deliveries.map(({ order_id, event, attempts, delivered_at, given_up_at }) => {
        const outcome = delivered_at !== null ? 'delivered' : given_up_at !== null ? 'given up' : 'waits';
        return { order_id, event, outcome, attempts: outcome === 'waits' ? null : attempts };
      }),
    };
  } finally {
    await sandbox.close();
  }
}

test('an advance through whatever is due ends in the state that waiting would have reached', async () => {
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const leap = await played(scenario, 'in one leap');
      expect(await played(scenario, 'piece by piece')).toEqual(leap);
      const { deliveries: _, attempts: __, ...seen } = await played(scenario, 'as time goes by');
      expect(leap).toMatchObject(seen);
    }),
    // A failure names its seed; `npm run proofs -- advance` has 100. Shrinking a counterexample takes longer than a test may.
    { numRuns: isWhole ? 100 : 5, endOnFailure: true },
  );
});
