import { expect, test } from 'vitest';
import { placeRows } from '../../../src/sandbox/bulk/place-rows.ts';
import { openSandbox } from '../../../src/sandbox/open.ts';

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

/** A sandbox whose batches are placed by hand, with a count of what preparing rows has read. */
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
    /** Uploads 60 rows and lets `callers` place them at once. @returns what that has read, and the rows left. */
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
