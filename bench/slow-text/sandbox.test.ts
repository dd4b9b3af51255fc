import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OpenSandbox, openSandbox } from '../../src/sandbox/open.ts';
import { address } from '../../test/support/order-body.ts';
import { growth, linear } from './growth.ts';

const baseUrl = 'http://127.0.0.1:4848';
const shop = `${baseUrl}/shop/test-success`;
let opened: OpenSandbox;
let key = '';
/** The fake clock; tests advance it far enough that earlier orders have finished. */
let now = Date.now();
const bugs: unknown[] = [];

beforeAll(async () => {
  opened = await openSandbox({
    file: ':memory:',
    baseUrl,
    now: () => now,
    report: (error) => bugs.push(error),
  });
  const minted = await send('POST', '/sandbox/keys', {});
  key = JSON.parse(String(minted.body)).api_key;
});
afterAll(() => opened.close());

const send = (method: string, target: string, body?: unknown, headers: Record<string, string> = {}) =>
  opened.handle({
    method,
    target,
    headers: { host: '127.0.0.1:4848', 'content-type': 'application/json', ...headers },
    body: body === undefined ? new Uint8Array() : new TextEncoder().encode(JSON.stringify(body)),
    remoteAddress: '127.0.0.1',
  });
const asUser = (method: string, target: string, body?: unknown) =>
  send(method, target, body, { authorization: `Bearer ${key}` });

const order = (more: object) => ({
  products: [{ url: shop }],
  max_price: 2000,
  shipping_address: address,
  ...more,
});
const row = (more: object) => ({
  product_url: shop,
  max_price: '2000',
  name: 'Ada Byron',
  address1: '1 Main St',
  city: 'Austin',
  state: 'TX',
  zip: '78701',
  phone: '5125550100',
  ...more,
});
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = (count: number, before: string) =>
  Object.fromEntries(many(count, (index) => [before + index, 'v']));
const spaces = (size: number): string => `${' '.repeat(size)}x`;
const slashes = (size: number): string => `${'/'.repeat(size)}x`;
const orders = (more: object) => asUser('POST', '/orders', order(more));
const bulk = (...rows: object[]) => asUser('POST', '/orders/bulk', { rows });
const url = encodeURIComponent;

/** Requests whose size grows with `size`. */
const requests: Readonly<Record<string, (size: number) => Promise<unknown>>> = {
  'slashes in a product URL': (size) => orders({ products: [{ url: shop + slashes(size) }] }),
  'lines of an order': async (size) => {
    const shops = many(size / 40, (index) => ({ url: `https://shop${index}.example/a` }));
    await orders({ products: shops });
    now += 60_000;
    await asUser('GET', '/orders?limit=1');
  },
  'lines past the bound': (size) => orders({ products: many(size, () => ({ url: shop })) }),
  'choices of a line': (size) =>
    orders({
      products: [{ url: shop, variant: many(size / 10, (index) => ({ label: `a${index}`, value: 'b' })) }],
    }),
  metadata: (size) => orders({ metadata: named(size / 10, 'k') }),
  'an address': (size) =>
    orders({
      shipping_address: {
        ...address,
        address_line1: spaces(size),
        postal_code: '1'.repeat(size),
        phone_number: `+${'1 '.repeat(size)}x`,
      },
    }),
  'fields that nobody knows': (size) => orders(named(size / 10, 'x')),
  'the address of a webhook': (size) =>
    asUser('POST', '/users', { webhook_url: `http://127.0.0.1${slashes(size)}` }),
  'columns of a row': (size) => bulk(row(named(size / 10, 'column'))),
  'names of columns': (size) =>
    bulk(row({ [`metadata.${spaces(size)}`]: 'v', [spaces(size)]: 'v', [`a${'-'.repeat(size)}_b`]: 'w' })),
  'headings twice': (size) =>
    bulk(
      row(
        Object.fromEntries(
          many(size / 10, (index) => [`zip${' '.repeat(index % 50)}${'-'.repeat(index / 50)}`, 'v']),
        ),
      ),
    ),
  'cells of a row': (size) =>
    bulk(
      row({
        product_url: many(size / 40, () => shop).join('|'),
        quantity: '1|'.repeat(size / 40),
        name: `a${spaces(size)}`,
        max_price: '1'.repeat(size),
      }),
    ),
  'rows that differ': (size) =>
    bulk(...many(size / 40, (index) => row({ [`column${index}`]: 'v', product_url: 'no' }))),
  'a search': (size) => asUser('GET', `/search?q=${url('ab '.repeat(size / 10))}`),
  'a search of quotes': (size) => asUser('GET', `/search?q=${url('"*('.repeat(size / 10))}`),
  'a filter': (size) =>
    asUser('GET', `/orders?search=${'a'.repeat(size)}&merchant_order_id=${'%'.repeat(size)}`),
  parameters: (size) => asUser('GET', `/orders?${many(size / 10, (index) => `p${index}=1`).join('&')}`),
  'one parameter many times': (size) => asUser('GET', `/orders?${'limit=1&'.repeat(size / 10)}`),
  'a path': (size) => send('GET', slashes(size)),
  'parts of a path': (size) => send('GET', '/orders/a'.repeat(size / 10)),
  'escapes of a path': (size) => send('GET', `/orders/${'%2f'.repeat(size / 3)}`),
  'an email': (size) =>
    send('POST', '/sandbox/keys', { email: `${'a'.repeat(size)}@${'a.'.repeat(size / 2)}` }),
  'items of a return': (size) =>
    asUser('POST', '/returns', {
      order_id: crypto.randomUUID(),
      reason: 'damaged',
      items: many(size / 10, () => ({ order_item_id: crypto.randomUUID(), quantity: 1 })),
    }),
  'a product URL to check': (size) =>
    asUser('GET', `/retailers/check?country=US&url=${url(`https://x.example${slashes(size)}`)}`),
  'a host to check': (size) =>
    asUser('GET', `/retailers/check?country=US&url=${url(`https://${'a.'.repeat(size / 2)}x/`)}`),
  'a credential': (size) =>
    send('GET', '/agent/search?q=x', undefined, { authorization: `Payment ${'A'.repeat(size)}` }),
  'a key': (size) => send('GET', '/orders', undefined, { authorization: `Bearer${spaces(size)}` }),
  'a Host': (size) => send('GET', '/orders', undefined, { host: `${'a.'.repeat(size / 2)}x` }),
  'what is accepted': (size) =>
    send('GET', '/shop', undefined, { accept: `${'text/html;q=0,'.repeat(size / 14)}x` }),
  'a tracking page': (size) =>
    send('GET', `/track/${'a-'.repeat(size / 2)}`, undefined, { accept: 'text/html' }),
};

test.each(Object.entries(requests))(
  '%s cost the sandbox time in proportion to their size',
  async (_, request) => {
    expect(await growth(request, 4000)).toBeLessThan(linear);
    expect(bugs).toEqual([]);
  },
);
