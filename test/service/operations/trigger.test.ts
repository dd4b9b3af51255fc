import { describe, expect, test } from 'vitest';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const fire = (event: string, id?: string, more = {}) =>
  service.send('POST', '/sandbox/trigger', { event, id, ...more });
const order = async (slug = 'test-slow') => (await service.order(slug)).body.id as string;
const read = async (id: string) => (await service.send('GET', `/orders/${id}`)).body;

describe('POST /sandbox/trigger makes it happen now', () => {
  test('placed, shipped, delivered', async () => {
    const id = await order();
    expect((await fire('placed', id)).body).toEqual({ event: 'placed', id, status: 'order_placed' });
    expect((await fire('shipped', id)).status).toBe(200);
    expect((await read(id)).tracking_numbers[0].status).toBe('in_transit');
    expect((await fire('delivered', id)).status).toBe(200);
    expect((await read(id)).tracking_numbers[0].status).toBe('delivered');
  });

  test.each(['undeliverable', 'available-for-pickup'])('%s', async (event) => {
    const id = await order();
    await fire('placed', id);
    await fire('shipped', id);
    expect((await fire(event, id)).status).toBe(200);
    expect((await read(id)).tracking_numbers[0].status).toBe(event.replaceAll('-', '_'));
  });

  test('cancelled-by-retailer gives the money back', async () => {
    const before = (await service.send('GET', '/wallet/me')).body.balance;
    const id = await order();
    await fire('placed', id);
    expect((await fire('cancelled-by-retailer', id)).body.status).toBe('cancelled_by_retailer');
    const { balance, order_fee_cents: fee } = (await service.send('GET', '/wallet/me')).body;
    expect(balance).toBe(before - fee);
  });

  test('failed with a given error_type', async () => {
    const id = await order();
    await fire('failed', id, { error_type: 'account_locked' });
    expect((await read(id)).job_result.error_type).toBe('account_locked');
  });

  test('account-forwarded', async () => {
    const account = (await service.send('POST', '/managed-accounts', { email: 'a@b.c' })).body;
    expect((await fire('account-forwarded', account.short_id)).status).toBe(200);
    expect((await service.send('GET', '/managed-accounts')).body.credentials[0].has_forwarding).toBe(true);
  });
});

describe('wallet-funded', () => {
  const balance = async () => (await service.send('GET', '/wallet/me')).body.spendable_balance;

  test('puts cents into the wallet of the key', async () => {
    expect((await fire('wallet-funded', undefined, { amount: 123_45 })).body).toEqual({
      event: 'wallet-funded',
      amount: 123_45,
      balance: 1123_45,
    });
    expect(await balance()).toBe(1123_45);
  });

  test.each([undefined, 0, -5, 1.5, '500', [500], 2 ** 60, null, {}])('%j is no amount', async (amount) => {
    expect((await fire('wallet-funded', undefined, { amount })).status).toBe(422);
    expect(await balance()).toBe(1000_00);
  });

  test('more than a wallet holds is refused', async () => {
    await fire('wallet-funded', undefined, { amount: 999_999_000_000 });
    expect((await fire('wallet-funded', undefined, { amount: 1_000_000 })).body.code).toBe('bad_request');
    expect(await balance()).toBe(999_999_100_000);
  });
});

test('what the state forbids is refused and changes nothing', async () => {
  const id = await order('test-success');
  service.pass(20_000);
  const before = await read(id);
  const refused = await fire('placed', id);
  expect([refused.status, refused.body.code]).toEqual([400, 'bad_request']);
  expect(await read(id)).toEqual(before);
});

test('nobody triggers the order of another, and nothing without a key', async () => {
  const id = await order();
  const other = await service.mint();
  const send = (key: string | null) => service.send('POST', '/sandbox/trigger', { event: 'placed', id }, key);
  expect((await send(other)).status).toBe(404);
  expect((await send(null)).status).toBe(401);
  expect((await read(id)).status).toBe('pending');
});

test.each([
  [{ event: 'exploded' }],
  [{}],
  ['[]'],
  [{ event: 'failed', id: 'x', error_type: 'boredom' }],
  ['{'],
])('%j is a 422', async (body) => {
  expect((await service.send('POST', '/sandbox/trigger', body)).status).toBe(422);
});
