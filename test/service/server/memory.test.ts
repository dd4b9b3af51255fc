import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { address } from '../../support/order-body.ts';
import { Receiver } from '../../support/receiver.ts';
import { TestService } from '../../support/service.ts';

const rowCount = 500;
const batches = 8;
/** An order retained in memory would take about 6 KB; one-time cache growth is excluded. */
const mostBytesPerOrder = 500;

let service: TestService;
let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
  service = await TestService.start({ config: { startBalanceCents: 1_000_000_000 } });
});
afterEach(async () => {
  await service.stop();
  await receiver.stop();
  expect(service.bugs).toEqual([]);
});

/** Heap bytes in use after garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const { first_name, last_name, ...place } = address;
const rows = () =>
  Array.from({ length: rowCount }, (_, index) => ({
    ...place,
    name: `${first_name} ${last_name} ${index}`,
    product_url: service.product(index % 5 === 0 ? 'test-out-of-stock' : 'test-success'),
    max_price: '2500',
  }));

/** Uploads a batch and runs its orders through their whole lifecycle. */
async function live(): Promise<void> {
  const { id } = (await service.send('POST', '/orders/bulk', { rows: rows() })).body;
  service.pass(5_000);
  const isPlaced = async () => (await service.send('GET', `/orders/bulk/${id}`)).body.status === 'completed';
  while (!(await isPlaced()));
  service.pass(60_000);
  expect((await service.send('GET', '/orders?status_filter=pending')).body.total).toBe(0);
}

test(`memory stays flat over ${rowCount * batches} orders, however long their lives`, async () => {
  // One order per batch has a webhook, so that deliveries are covered.
  const registered = { webhooks: { order_placed: receiver.at() } };
  const held: number[] = [];
  for (let batch = 1; batch <= batches; batch += 1) {
    expect((await service.order('test-success', registered)).status).toBe(201);
    await live();
    await receiver.until(batch);
    held.push(heldBytes());
  }
  const [, , warm = 0] = held;
  const perOrder = ((held.at(-1) ?? 0) - warm) / (rowCount * (batches - 3));
  expect(perOrder, `bytes held after each batch: ${held}`).toBeLessThan(mostBytesPerOrder);
});
