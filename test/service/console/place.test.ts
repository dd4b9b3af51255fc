import { expect, test } from 'vitest';
import { testSlugs } from '../../../src/sandbox/orders/lifecycle/index.ts';
import { onceOf, page, submit } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

/** The displayed form of a product, with the values of its fields. */
async function form(slug: string): Promise<Record<string, string>> {
  const { text } = await page(service, `/shop/${slug}`);
  const value = (name: string) => new RegExp(`name="${name}"[^>]* value="([^"]*)"`).exec(text)?.[1] ?? '';
  return {
    once: onceOf(text),
    user: /<option value="([^"]+)"/.exec(text)?.[1] ?? expect.fail(text),
    quantity: value('quantity'),
    max_price: value('max_price'),
    ...(/name="is_gift"[^>]* checked/.test(text) && { is_gift: 'yes' }),
  };
}
const place = (slug: string, fields: Record<string, string>) =>
  submit(service, `/console/shop/${slug}`, fields);
const orders = async () => (await service.send('GET', '/orders')).body.orders;

test('a button places the order that the form describes, for the user that it names', async () => {
  const fields = await form('test-success');
  const placed = await place('test-success', {
    ...fields,
    quantity: '3',
    max_price: '$80.00',
    is_gift: 'yes',
  });
  expect(placed.status).toBe(303);
  const [order, ...others] = await orders();
  expect(others).toEqual([]);
  expect(placed.headers.get('location')).toBe(`/console/orders/${order.id}`);
  expect(order).toMatchObject({ max_price: 8_000, is_gift: true, status: 'pending' });
  expect(order.items).toMatchObject([{ url: service.product('test-success'), quantity: 3 }]);
  expect((await page(service, `/console/orders/${order.id}`)).status).toBe(200);
});

test('a form that is sent twice, at once or later, places one order', async () => {
  const fields = await form('test-success');
  const both = await Promise.all([1, 2, 3].map(() => place('test-success', fields)));
  service.pass(60_000);
  both.push(await place('test-success', fields));
  expect(await orders()).toHaveLength(1);
  expect(new Set(both.map(({ status, headers }) => `${status} ${headers.get('location')}`)).size).toBe(1);
  const changed = await place('test-success', { ...fields, quantity: '2' });
  expect(changed.status).toBe(409);
  expect(changed.text).toContain('with other values');
  expect(await orders()).toHaveLength(1);
  expect((await place('test-success', await form('test-success'))).status).toBe(303);
  expect(await orders()).toHaveLength(2);
});

test.each(testSlugs)('%s: the form as it stands brings its outcome about', async (slug) => {
  const placed = await place(slug, await form(slug));
  if (placed.status === 303) {
    service.pass(70_000);
    const [order] = await orders();
    expect(placed.headers.get('location')).toContain(order.id);
    if (slug === 'test-success') expect(order.status).toBe('order_placed');
    if (slug === 'test-quantity-limit') expect(order.job_result.error_type).toBe('quantity_limit_exceeded');
    if (slug === 'test-gift-unavailable') expect(order.job_result.error_type).toBe('gift_option_unavailable');
  } else {
    expect([slug, placed.status]).toEqual([slug, 409]);
    expect(placed.text).toMatch(/id="problem"|Back to the product/);
    expect(await orders()).toEqual([]);
  }
});

test('an order over what the wallet has is refused, and nothing is held', async () => {
  const refused = await place('test-success', { ...(await form('test-success')), max_price: '5000' });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('insufficient_funds');
  expect((await service.send('GET', '/wallet/me')).body.spendable_balance).toBe(100_000);
});

test('what does not fit a field is said, and nothing is ordered', async () => {
  const fields = await form('test-success');
  for (const [wrong, said] of [
    [{ quantity: '0' }, 'Quantity takes a whole number above 0'],
    [{ quantity: '1.5' }, 'Quantity takes a whole number above 0'],
    [{ max_price: 'much' }, 'Ceiling takes an amount, such as'],
    // If the comma were dropped, this decimal comma would raise the ceiling a hundredfold.
    [{ max_price: '5,00' }, 'Ceiling takes an amount, such as'],
    [{ max_price: '0.00' }, 'Ceiling takes an amount of dollars above 0'],
    [{ user: crypto.randomUUID() }, 'this user is not here'],
    [{ user: '' }, 'this user is not here'],
    [{ once: 'x' }, 'load its page again'],
  ] as const) {
    const refused = await place('test-success', { ...fields, ...wrong });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(said)]);
  }
  expect((await place('nothing', fields)).status).toBe(404);
  expect(await orders()).toEqual([]);
});
