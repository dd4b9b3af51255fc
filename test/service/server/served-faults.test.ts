import { afterEach, describe, expect, test } from 'vitest';
import { readFault } from '../../../src/sandbox/server/faults.ts';
import { address, orderBody } from '../../support/order-body.ts';
import { type ServiceResponse, TestService } from '../../support/service.ts';

let service: TestService | undefined;
afterEach(async () => {
  await service?.stop();
  service = undefined;
});

/** A service whose faults take effect after its key is minted. */
async function faulty(...texts: string[]): Promise<TestService> {
  const faults = texts.map((text) => readFault(text) ?? expect.fail(`${text} is no fault`));
  service = await TestService.start({ faults });
  return service;
}

const total = async (it: TestService) => (await it.send('GET', '/orders')).body.total;
const place = (it: TestService) => it.send('POST', '/orders', orderBody(it.product('test-success')));

test('reset-before: the connection breaks and no order is made', async () => {
  const it = await faulty('reset-before@POST /orders');
  await expect(place(it)).rejects.toThrow();
  expect(await total(it)).toBe(0);
});

test('reset-after: the connection breaks and the order is made', async () => {
  const it = await faulty('reset-after@POST /orders');
  await expect(place(it)).rejects.toThrow();
  expect(await total(it)).toBe(1);
});

test('truncate: half a response comes, and the order is made', async () => {
  const it = await faulty('truncate@POST /orders');
  await expect(place(it)).rejects.toThrow();
  expect(await total(it)).toBe(1);
});

test('a person’s pages have none, and do not change which fall on the requests of a program', async () => {
  const fallen = async (isWatched: boolean): Promise<number[]> => {
    const it = await faulty('503:50%');
    const statuses: number[] = [];
    for (let sent = 0; sent < 12; sent += 1) {
      statuses.push((await it.send('GET', '/orders')).status);
      if (!isWatched) continue;
      expect((await it.send('GET', '/', undefined, null, { accept: 'text/html' })).status).toBe(200);
    }
    await it.stop();
    service = undefined;
    return statuses;
  };
  const alone = await fallen(false);
  expect(alone).toContain(503);
  expect(await fallen(true)).toEqual(alone);
});

test('429 carries Retry-After, a 5xx its code; before the work or after it', async () => {
  const it = await faulty(
    '429=5s@POST /orders',
    '503@/wallet/me',
    '502-after@/orders/bulk/validate',
    '500@/search',
  );
  const limited = await place(it);
  expect([limited.status, limited.body.code, limited.headers.get('retry-after')]).toEqual([
    429,
    'rate_limit_exceeded',
    '5',
  ]);
  expect(await total(it)).toBe(0);
  expect((await it.send('GET', '/wallet/me')).body.code).toBe('service_unavailable');
  expect((await it.send('GET', '/search?q=tea')).body.code).toBe('internal_error');
  expect((await it.send('POST', '/orders/bulk/validate', {})).body.code).toBe('external_service_error');
});

test.each([
  ['400', 400, { code: 'bad_request' }],
  ['400:out_of_stock', 400, { code: 'out_of_stock' }],
  ['401', 401, { code: 'unauthorized' }],
  ['402:payment_failed', 402, { code: 'payment_failed' }],
  ['403', 403, { code: 'forbidden' }],
  ['404', 404, { code: 'not_found' }],
  ['409', 409, { code: 'already_exists' }],
  ['422', 422, { detail: [{ loc: ['body'] }] }],
  ['502:stripe_error', 502, { code: 'stripe_error' }],
  ['418', 418, { code: 'bad_request' }],
  [
    '402={"code":"card_declined","details":{"a":"}@/x"}}',
    402,
    { code: 'card_declined', details: { a: '}@/x' } },
  ],
])('%s: a refusal of the service, before any work', async (text, status, body) => {
  const it = await faulty(`${text}:100%@POST /orders`);
  const refused = await place(it);
  expect(refused.status).toBe(status);
  expect(refused.body).toMatchObject(body);
  expect(refused.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  expect(await total(it)).toBe(0);
});

test.each([
  '402:out_of_stock',
  '402:payment_failed,insufficient_funds',
  '399',
  '402={"code":}',
  '402=[1]',
  '402:payment_failed={"code":"x"}',
  'truncate={"code":"x"}',
  'html:504={"code":"x"}',
])('%s is no fault', (text) => {
  expect(readFault(text)).toBeUndefined();
});

test('delay: the response comes, later', async () => {
  const it = await faulty('delay=80ms@/wallet/me');
  const began = performance.now();
  expect((await it.send('GET', '/wallet/me')).status).toBe(200);
  expect(performance.now() - began).toBeGreaterThan(70);
});

test('refuse: no connection is taken', async () => {
  await expect(faulty('refuse')).rejects.toThrow();
});

test('a share of the requests fails, the same ones for the same seed', async () => {
  const pattern = async () => {
    const it = await faulty('503:50%@/wallet/me');
    const statuses: number[] = [];
    for (let index = 0; index < 40; index += 1) statuses.push((await it.send('GET', '/wallet/me')).status);
    await it.stop();
    service = undefined;
    return statuses;
  };
  const first = await pattern();
  expect(await pattern()).toEqual(first);
  const failed = first.filter((status) => status === 503).length;
  expect(failed).toBeGreaterThan(8);
  expect(failed).toBeLessThan(32);
});

describe('what a gateway does', () => {
  test.each([403, 408, 502, 504])(
    'html:%i is a page before the work, and with -after one after it',
    async (status) => {
      const it = await faulty(`html:${status}@POST /orders`, `html:${status}-after@POST /orders/bulk`);
      const before = await place(it);
      expect([before.status, before.headers.get('content-type')]).toEqual([status, 'text/html']);
      expect(before.text).toContain('<html>');
      expect(await total(it)).toBe(0);
      const after = await it.send('POST', '/orders/bulk', {
        rows: [{ product_url: it.product('test-success') }],
      });
      expect([after.status, after.headers.get('content-type')]).toEqual([status, 'text/html']);
      expect((await it.send('GET', '/orders/bulk')).body.total).toBe(1);
    },
  );

  test('bare: a status and nothing else, before the work or after it', async () => {
    const it = await faulty('bare:403@/wallet/me', 'bare:408-after@POST /orders');
    const wallet = await it.send('GET', '/wallet/me');
    expect([wallet.status, wallet.text]).toEqual([403, '']);
    const placed = await place(it);
    expect([placed.status, placed.text]).toEqual([408, '']);
    expect(await total(it)).toBe(1);
  });

  test.each([301, 302, 303, 307, 308])(
    'redirect:%i leads to the same place, where it ends',
    async (status) => {
      const it = await faulty(`redirect:${status}@POST /orders`);
      const response = await place(it);
      expect([response.status, response.headers.get('location')]).toEqual([status, '/orders?redirected=1']);
      expect(await total(it)).toBe(0);
      const followed = await it.send('POST', '/orders?redirected=1', orderBody(it.product('test-success')));
      expect(followed.status).toBe(201);
    },
  );

  test('redirect:303-after leads to the order that was made', async () => {
    const it = await faulty('redirect:303-after@POST /orders');
    const response = await place(it);
    expect(response.status).toBe(303);
    const [order] = (await it.send('GET', '/orders')).body.orders;
    expect(response.headers.get('location')).toBe(`/orders/${order.id}`);
  });
});

describe('id: a 201 whose id is not an id', () => {
  test.each([
    ['null', null],
    ['empty', ''],
    ['true', true],
    ['number', 0],
    ['list', []],
    ['object', {}],
    ['missing', undefined],
  ])('%s', async (name, id) => {
    const it = await faulty(`id:${name}@POST /orders`);
    const placed = await place(it);
    expect([placed.status, placed.body.id]).toEqual([201, id]);
    expect(await total(it)).toBe(1);
  });
});

test('another-order: the record of the order before, or of one that nobody made', async () => {
  const it = await faulty('another-order@POST /orders');
  const invented = (await place(it)).body;
  expect((await it.send('GET', `/orders/${invented.id}`)).status).toBe(404);
  expect(invented.shipping_address.last_name).toBe('Else');
  const [first] = (await it.send('GET', '/orders')).body.orders;
  expect((await place(it)).body.id).toBe(first.id);
  expect(await total(it)).toBe(2);
});

describe('normalise', () => {
  const body = (it: TestService) => ({
    ...orderBody(`${it.product('test-success')}?b=2&a=1#top`),
    products: [
      { url: `${it.product('test-success')}?b=2&a=1#top`, variant: [{ label: 'Size', value: 'L' }] },
      { url: it.product('test-two-packages'), quantity: 2 },
    ],
    shipping_address: { ...address, address_line1: '1 Main  Street' },
    metadata: { team: 'office', count: 7 },
    po_number: ' PO 1 ',
  });
  const echo = async (...faults: string[]) => {
    const it = await faulty(...faults);
    return { it, record: (await it.send('POST', '/orders', body(it))).body };
  };

  test.each<[string, (record: ServiceResponse['body']) => unknown, unknown]>([
    ['phone', (it) => it.shipping_address.phone_number, '+15125550100'],
    ['zip', (it) => it.shipping_address.postal_code, '78701-0001'],
    ['city', (it) => it.shipping_address.city, 'AUSTIN'],
    ['street', (it) => it.shipping_address.address_line1, '1 MAIN  ST'],
    ['state', (it) => it.shipping_address.state, 'tx'],
    ['country', (it) => it.shipping_address.country, 'USA'],
    ['name', (it) => [it.shipping_address.first_name, it.shipping_address.last_name], ['ADA', 'BYRON']],
    ['spaces', (it) => [it.po_number, it.shipping_address.address_line1], ['PO 1', '1 Main Street']],
    ['metadata', (it) => it.metadata, { team: 'office', count: 7, source: 'api' }],
    ['price', (it) => it.max_price, '5000'],
    ['quantity', (it) => it.items.map(({ quantity }: { quantity: unknown }) => quantity), ['1', '2']],
    ['url', (it) => it.items[0].url.replace(/^.*test/, 'test'), 'test-success/?a=1&b=2'],
    ['items', (it) => it.items.map(({ quantity }: { quantity: unknown }) => quantity), [2, 1]],
    ['variant', (it) => it.items[0].variant, [{ label: 'size', value: 'l' }]],
    ['absent', (it) => 'gift_message' in it || 'address_line2' in it.shipping_address, false],
    ['empty', (it) => [it.gift_message, it.shipping_address.address_line2], ['', '']],
  ])('%s', async (name, read, expected) => {
    const { it, record } = await echo(`normalise:${name}`);
    expect(read(record)).toEqual(expected);
    expect(read((await it.send('GET', '/orders')).body.orders[0])).toEqual(expected);
    expect(read((await it.send('GET', `/orders/${record.id}`)).body)).toEqual(expected);
  });

  test('several at once, those and no others', async () => {
    const { record } = await echo('normalise:city,price@POST /orders');
    expect([record.shipping_address.city, record.max_price]).toEqual(['AUSTIN', '5000']);
    expect(record.shipping_address.phone_number).toBe(address.phone_number);
  });

  test('the seed chooses, the same way each time', async () => {
    const seen = async () => {
      const { it } = await echo('normalise');
      const records = [];
      for (let read = 0; read < 5; read += 1)
        records.push((await it.send('GET', '/orders')).body.orders[0].shipping_address);
      await it.stop();
      service = undefined;
      return records;
    };
    const first = await seen();
    expect(await seen()).toEqual(first);
    expect(new Set(first.map((each) => JSON.stringify(each))).size).toBeGreaterThan(1);
  });

  test('and the response is lost all the same where another fault says so', async () => {
    const it = await faulty('normalise:city', 'reset-after@POST /orders');
    await expect(place(it)).rejects.toThrow();
    expect((await it.send('GET', '/orders')).body.orders[0].shipping_address.city).toBe('AUSTIN');
  });
});

test.each([
  ['503@/orders/*', 'GET', '/orders/1/timeline', true],
  ['503@/orders/*', 'GET', '/orders', false],
  ['503@/orders/*/cancel', 'POST', '/orders/1/cancel', true],
  ['503@/orders/*/cancel', 'POST', '/orders/cancel', false],
  ['503@GET /orders', 'POST', '/orders', false],
  ['503', 'DELETE', '/anything', true],
])('%s on %s %s: %s', (text, method, path, expected) => {
  expect(readFault(text)?.matches(method, path)).toBe(expected);
});

test.each([
  '',
  'explode',
  '304',
  '503:200%',
  'reset',
  'delay=x',
  '503=5s',
  'refuse@/orders',
  '503@orders',
  '503:20',
  'html',
  'html:99',
  'html:204',
  'bare:600',
  'redirect:200',
  'redirect:304',
  'normalise:fone',
  'normalise:phone,',
  'id:odd',
  'another-order:null',
  'truncate:null',
  'normalise=5s',
  'toString',
])('"%s" is no fault', (text) => {
  expect(readFault(text)).toBeUndefined();
});
