import { describe, expect, test } from 'vitest';
import { operations } from '../../../src/api/operations/index.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

/** Each kind of data call, with its search term. */
const calls = [
  ['search', (term: string) => `/search?q=${term}`],
  ['product.search', (term: string) => `/products/search?query=${term}&retailer=harborgoods`],
  ['product.get', (term: string) => `/products/${term}?retailer=harborgoods`],
  ['product.offers', (term: string) => `/products/${term}/offers?retailer=harborgoods`],
] as const;

describe.each(calls)('%s', (name, target) => {
  const get = (term: string) => service.send('GET', target(term));

  test('is refused with 402 where nothing is left in the wallet, until money arrives; nothing is charged', async () => {
    const emptied = await service.send('POST', '/sandbox/trigger', { event: 'wallet-emptied' });
    expect(emptied.body).toEqual({ event: 'wallet-emptied', amount: -100_000, balance: 0 });
    const refused = await get('coffee');
    expect([refused.status, refused.body.code]).toEqual([402, 'insufficient_funds']);
    expect(refused.body.details).toMatchObject({ required: 1, available: 0 });
    expect(refused.body.details.fund_with.map(({ rail }: { rail: string }) => rail)).toEqual([
      'sandbox_funding',
      'sandbox_key',
    ]);
    await service.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 1 });
    expect((await get('coffee')).status).toBe(200);
    expect((await service.send('GET', '/wallet/me')).body.balance).toBe(1);
  });

  test('is refused for the slug of each test product that is refused for money, where the contract lists the code', async () => {
    const expected = {
      'test-insufficient-funds': 'insufficient_funds',
      'test-refused-payment-failed': 'payment_failed',
      'test-refused-payment-method-required': 'payment_method_required',
    };
    for (const [slug, code] of Object.entries(expected)) {
      const refused = await get(slug);
      expect([refused.status, refused.body.code], slug).toEqual([402, code]);
      expect(operations[name].errors).toContain(code);
    }
    for (const slug of ['test-success', 'test-refused-invalid-payment-method', 'test-refused-out-of-stock'])
      expect((await get(slug)).status, slug).toBe(200);
  });
});

test('what orders have set aside covers no data call, and is left in the wallet that is emptied', async () => {
  await service.order('test-never', { max_price: 99_900 });
  expect((await service.send('GET', '/search?q=tea')).status).toBe(402);
  const emptied = await service.send('POST', '/sandbox/trigger', { event: 'wallet-emptied' });
  expect(emptied.body).toEqual({ event: 'wallet-emptied', amount: 0, balance: 100_000 });
});
