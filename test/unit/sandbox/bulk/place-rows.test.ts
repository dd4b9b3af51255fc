import { expect, test } from 'vitest';
import { placeRows } from '../../../../src/sandbox/bulk/place-rows.ts';
import { openSandbox } from '../../../../src/sandbox/open.ts';
import { orderBody, rowBody } from '../../../support/order-body.ts';
import { openStillSandbox } from '../../../support/still.ts';

const row = {
  product_url: 'https://www.somewhere.example/p/1',
  max_price: '5000',
  name: 'Ada Example',
  address1: '1 Main Street',
  city: 'Austin',
  state: 'TX',
  zip: '78701',
  phone: '5125550100',
};

/** A sandbox whose batches are placed explicitly; counts the reads made while preparing rows. */
async function place() {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const { handle, service, close } = await openSandbox({
    file: ':memory:',
    baseUrl: 'http://127.0.0.1:4848',
    config: { startBalanceCents: 100_000_000 },
    seed: 1,
    now: () => now,
    report: (error) => expect.fail(String(error)),
  });
  const send = async (target: string, body: unknown, key = '') => {
    const response = await handle({
      method: 'POST',
      target,
      headers: { authorization: `Bearer ${key}` },
      body: new TextEncoder().encode(JSON.stringify(body)),
      remoteAddress: '',
    });
    return JSON.parse(String(response.body));
  };
  const key = (await send('/sandbox/keys', {})).api_key;
  let reads = 0;
  const counting: typeof service = {
    ...service,
    catalogue: () => {
      reads += 1;
      return service.catalogue();
    },
  };
  return {
    close,
    /** Uploads 60 rows and places them from `callers` concurrently. @returns the reads made and the rows left. */
    async uploaded(callers: number) {
      await send('/orders/bulk', { rows: Array.from({ length: 60 }, () => row) }, key);
      now += 60_000;
      const before = reads;
      await Promise.all(Array.from({ length: callers }, () => placeRows(counting, now, 20_000)));
      const left = service.store.get('SELECT count(*) AS rows FROM batch_rows WHERE due IS NOT NULL')?.rows;
      return { reads: reads - before, left };
    },
  };
}

test('rows of a batch are prepared once, however many requests come while they are placed', async () => {
  const { uploaded, close } = await place();
  const alone = await uploaded(1);
  expect(alone.left).toBe(0);
  expect(alone.reads).toBeGreaterThan(0);
  expect(await uploaded(10)).toEqual(alone);
  await close();
});

/**
 * Places an order that reserves 200 dollars until it is placed, then a batch that only that money can pay for. @returns
 * the error of its row.
 */
async function placedAfterLeap(beforeUploadMs: number): Promise<string | null> {
  const sandbox = await openStillSandbox();
  const key = `Bearer ${(await sandbox.send('POST', '/sandbox/keys')).body.api_key}`;
  const send = (method: string, target: string, body?: unknown) => sandbox.send(method, target, body, key);
  const url = `${sandbox.service.config.shopUrl}/test-success`;
  await send('POST', '/orders', { ...orderBody(url), max_price: 20_000 });
  sandbox.pass(beforeUploadMs);
  const { id } = (await send('POST', '/orders/bulk', { rows: [rowBody(url)] })).body;
  await send('POST', '/sandbox/trigger', { event: 'wallet-emptied' });
  sandbox.pass(60_000);
  const [row] = (await send('GET', `/orders/bulk/${id}`)).body.rows;
  await sandbox.close();
  expect(sandbox.bugs).toEqual([]);
  return row.error;
}

test('a row finds in the wallet what was there when it was due, however late it is placed', async () => {
  // Rows due after that order was placed, and before.
  expect(await placedAfterLeap(2_340)).toBeNull();
  expect(await placedAfterLeap(1_000)).toMatch(/^insufficient_funds: /);
});

test('rows become the same orders in whichever pieces they are placed: what a loss of power took back comes again', async () => {
  const placed = async (pieces: number): Promise<unknown[]> => {
    const sandbox = await openStillSandbox({ startBalanceCents: 100_000_000 });
    const key = `Bearer ${(await sandbox.send('POST', '/sandbox/keys')).body.api_key}`;
    const url = `${sandbox.service.config.shopUrl}/test-success`;
    const rows = Array.from({ length: 30 }, () => rowBody(url));
    const { id } = (await sandbox.send('POST', '/orders/bulk', { rows }, key)).body;
    const look = async () => (await sandbox.send('GET', `/orders/bulk/${id}`, undefined, key)).body.rows;
    for (let piece = 0; piece < pieces; piece += 1) {
      sandbox.pass(1_000 / pieces);
      await look();
    }
    const ids = (await look()).map(({ order_id: order }: { order_id: string }) => order);
    await sandbox.close();
    return ids;
  };
  const ids = await placed(1);
  expect(new Set(ids).size).toBe(30);
  expect(await placed(7)).toEqual(ids);
});
