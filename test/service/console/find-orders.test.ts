import { expect, test } from 'vitest';
import { address } from '../../support/order-body.ts';
import { page } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

/** Ids of the listed rows, and the count text. */
async function found(query: string) {
  const { status, text } = await page(service, `/console/orders?${query}`);
  expect(status).toBe(200);
  const ids = [...text.matchAll(/id="order-([^"]+)"/g)].map(([, id]) => id);
  return { ids, count: /class="soft count">([^<]+?)\s*</.exec(text)?.[1], text };
}

const place = async (slug: string, more = {}, key?: string): Promise<string> =>
  (await service.order(slug, more, key)).body.id;

test('orders are found by id or its beginning, status, user, retailer and failure, with counts, alone and together', async () => {
  const ada = await service.mint({ email: 'Ada@example.com' });
  const failed = await place('test-out-of-stock', {}, ada);
  const done = await place('test-success', {}, ada);
  const elsewhere = [{ url: 'https://www.harborgoods.example/p/a-lamp/none' }];
  const other = await place('test-success', { products: elsewhere });
  service.pass(20_000);
  const slow = await place('test-slow');
  expect((await found('')).ids).toEqual([slow, other, done, failed]);
  expect((await found('')).count).toBe('4 orders');
  for (const [query, ids] of [
    [`id=${done}`, [done]],
    [`id=${done.slice(0, 7).toUpperCase()}`, [done]],
    ['id=zzz', []],
    ['status=pending', [slow]],
    ['status=nonsense', []],
    ['user=ada', [done, failed]],
    ['retailer=www.harborgoods.example', [other]],
    ['failed=1&user=ada', [failed]],
    ['status=order_placed&user=ada&retailer=nowhere.example', []],
    [`status=order_placed&user=ADA%40example&id=${done.slice(0, 4)}`, [done]],
  ] as const) {
    const { ids: shown, count } = await found(query);
    expect(shown, query).toEqual(ids);
    expect(count, query).toBe(`${ids.length} of 4 orders`);
  }
  const { text } = await found('user=ada');
  expect((await found('')).text).toContain('<option value="www.harborgoods.example">');
  expect(text.replace(/<[^>]+>/g, '')).toMatch(/all 2\s*pending 0\s*in progress 0\s*placed 1\s*failed 1/);
  const number = (await service.send('GET', `/orders/${done}`, undefined, ada)).body.merchant_order_ids[0];
  expect((await found(`id=${number}`)).ids).toEqual([done]);
});

test('a filter stays on the pages of its list, and what is searched for stays text', async () => {
  for (let placed = 0; placed < 27; placed += 1)
    await place('test-never', { shipping_address: address, max_price: 2000 });
  await place('test-price-exceeded', { max_price: 100 });
  service.pass(5000);
  const first = await found('status=in_progress');
  expect([first.ids.length, first.count]).toEqual([25, '27 of 28 orders']);
  const older = /href="([^"]+)" rel="next"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect(older).toMatch(/^\/console\/orders\?status=in_progress&before=\d+$/);
  expect((await found(older.split('?')[1] ?? '')).ids).toHaveLength(2);
  const hostile = await found(`id=${encodeURIComponent('"><b>%_')}&status=${encodeURIComponent("'--")}`);
  expect(hostile.text).not.toContain('<b>');
  expect(hostile.text).toContain('Nothing matches these filters.');
  expect(hostile.text).toContain('href="/console/orders">Clear</a>');
});
