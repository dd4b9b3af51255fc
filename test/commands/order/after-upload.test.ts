import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorOf, shopping } from '../../support/shopping.ts';

test('an order for a row whose batch has not ordered it yet names the batch, which shows it', async () => {
  const shop = await shopping();
  const { shipping_address: to, max_price } = JSON.parse(
    readFileSync(join(shop.workspace.folder, 'order.json'), 'utf8'),
  );
  writeFileSync(
    join(shop.workspace.folder, 'orders.csv'),
    [
      'product_url,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number',
      `${shop.service.product('test-success')},${max_price},${to.first_name} ${to.last_name},${to.address_line1},${to.city},${to.state},${to.postal_code},${to.country},${to.phone_number}`,
      '',
    ].join('\n'),
  );
  const uploaded = await shop.run('bulk', 'upload', 'orders.csv', '-o', 'id');
  const batch = uploaded.stdout.trim();
  const refused = await shop.order('-o', 'json');
  expect(refused.code, refused.stderr).toBe(5);
  const error = errorOf(refused);
  expect(error.code).toBe('duplicate_unknown');
  expect(error.message).toContain(`as a row of the upload ${batch}; whether it was ordered is not known yet`);
  expect(error.next[0]).toEqual({
    command: `errand bulk watch ${batch}`,
    when: 'to see what becomes of it',
  });
  expect((await shop.run('bulk', 'get', batch)).code).toBe(0);
  shop.service.pass(60_000);
  expect(errorOf(await shop.order('-o', 'json'))).toMatchObject({
    code: 'duplicate_alike',
    message: expect.stringContaining('(delivered)'),
  });
});
