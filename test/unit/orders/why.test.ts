import { expect, test } from 'vitest';
import { errorResponseHint } from '../../../src/api/error-codes.ts';
import { failureText, sentences } from '../../../src/orders/columns.ts';
import { whyOf } from '../../../src/orders/explain/story.ts';

const tea = 'https://www.shop.example/p/tea';
const mug = 'https://www.shop.example/p/mug';
const said = (order: unknown): string[] =>
  whyOf(order).map(({ code, message }) => `${code ?? '-'}: ${message}`);

const sentence = 'The retailer does not offer this variant.';
const refused = (urls: readonly string[]) => ({
  status: 'order_failed',
  items: urls.map((url, at) => ({ id: `${at}`, url, status: 'failed', error_type: 'invalid_variant' })),
  job_result: {
    error: sentence,
    error_type: 'invalid_variant',
    error_details: {
      field_errors: [{ field: 'products.0.variant', code: 'invalid_value', message: sentence }],
      line_rejections: [{ url: tea, code: 'invalid_variant', message: sentence }],
    },
  },
});

test('why an order failed is said once; of several lines, which one it is', () => {
  expect(said(refused([tea]))).toEqual([`invalid_variant: ${sentence}`]);
  expect(said(refused([tea, mug]))).toEqual([
    `invalid_variant: ${sentence}`,
    `invalid_variant: that is ${tea}`,
  ]);
});

test('how many of a line there are is said even where its reason is known, in words of the newer form', () => {
  const line = { url: tea, codes: ['invalid_variant'], messages: [sentence], requested_quantity: 5 };
  const given = (urls: readonly string[], more: object) => {
    const order = refused(urls);
    const details = { line_rejections: [{ ...line, ...more }], url: tea };
    return { ...order, job_result: { ...order.job_result, error_details: details } };
  };
  expect(said(given([tea], {}))).toEqual([
    `invalid_variant: ${sentence}`,
    `invalid_variant: that is ${tea} (5 requested)`,
  ]);
  expect(failureText(given([tea], { available_quantity: 0 }))).toBe(`${sentence} 5 requested, 0 available`);
  expect(failureText(given([tea, mug], { messages: ['No.', 'Never.'], codes: [] }))).toBe(
    `${sentence} ${tea}: No; Never (5 requested)`,
  );
  for (const odd of [
    7,
    null,
    [null, 'x', 3],
    [{ url: {}, codes: 'x', messages: [[]], available_quantity: '2' }],
  ])
    expect(() =>
      said({ ...refused([tea]), job_result: { error_details: { line_rejections: odd } } }),
    ).not.toThrow();
});

test('a concession is one sentence, with its numbers, and its line says nothing more', () => {
  const out = { concern: 'items', code: 'out_of_stock', item_id: 'b', url: mug };
  const few = { concern: 'quantity', code: 'quantity_limit_exceeded', item_id: 'a', url: tea };
  const counts = { requested_quantity: 5, fulfilled_quantity: 2 };
  const order = {
    status: 'order_placed',
    items: [
      { id: 'a', url: tea, status: 'delivered' },
      { id: 'b', url: mug, status: 'skipped', error_type: 'out_of_stock' },
      { id: 'c', url: 'https://x.example/', status: 'failed', error_type: 'shipping_unavailable' },
    ],
    fulfillment: {
      concessions: [
        { ...out, message: 'Sold out. It was skipped.' },
        { ...few, ...counts, message: 'As many as it sells were bought.' },
        { ...few, message: '' },
      ],
    },
  };
  expect(said(order)).toEqual([
    'shipping_unavailable: https://x.example/: shipping unavailable',
    `out_of_stock: ${mug}: Sold out. It was skipped, as you allowed.`,
    `quantity_limit_exceeded: ${tea}: As many as it sells were bought, as you allowed (2 of 5).`,
    `quantity_limit_exceeded: ${tea}: quantity limit exceeded, as you allowed.`,
  ]);
});

test('sentences follow each other without a semicolon', () => {
  expect(sentences(['One.', 'two', 'three (2 of 5).', 'four'])).toBe('One. two; three (2 of 5). four');
});

test('an order that came to nothing is not to be returned', () => {
  const hint = (status: string) => errorResponseHint('order_not_cancellable', 'bearer', { status });
  expect(hint('order_placed')).toContain('ask for a return');
  for (const status of ['order_failed', 'cancelled', 'cancelled_by_retailer'])
    expect(hint(status)).not.toContain('return');
  expect(errorResponseHint('order_not_cancellable', 'bearer', null)).toContain('ask for a return');
});
