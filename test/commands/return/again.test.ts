import { expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { shopping } from '../../support/shopping.ts';

const hour = 3_600_000;

test('the same return again is the same return, though more of the item could be returned; --new is another', async () => {
  const shop = await shopping();
  const body = orderBody(shop.service.product('test-success'));
  const products = body.products.map((product) => ({ ...product, quantity: 3 }));
  const { id: order } = (await shop.service.send('POST', '/orders', { ...body, products, max_price: 50_000 }))
    .body;
  shop.service.pass(hour);
  const [item] = (await shop.service.send('GET', `/orders/${order}`)).body.items;
  const request = (...more: readonly string[]) =>
    shop.run(
      'return',
      'create',
      '--order',
      order,
      '--reason',
      'damaged',
      '--item',
      item.id,
      '-o',
      'id',
      ...more,
    );
  const made = async (): Promise<string[]> =>
    (await shop.service.send('GET', '/returns')).body.return_requests.map(({ id }: { id: string }) => id);

  const first = await request();
  expect(first.code, first.stderr).toBe(0);
  // While a return is open, the service itself refuses a second one for the item.
  shop.service.pass(6 * hour);
  const again = await request();
  expect([again.code, again.stdout]).toEqual([0, first.stdout]);
  expect(again.stderr).toContain('existed already; nothing was requested twice');
  expect(await made()).toEqual([first.stdout.trim()]);

  const another = await request('--new');
  expect(another.code, another.stderr).toBe(0);
  expect(another.stdout).not.toBe(first.stdout);
  expect(await made()).toHaveLength(2);
});
