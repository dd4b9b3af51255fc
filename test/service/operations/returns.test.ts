import { describe, expect, test } from 'vitest';
import { returnReasons } from '../../../src/api/enums.ts';
import { limits } from '../../../src/api/limits.ts';
import { orderBody } from '../../support/order-body.ts';
import { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const get = async (path: string) => (await service.send('GET', path)).body;
const balance = async (): Promise<number> => (await get('/wallet/me')).balance;
const readReturn = (id: string) => get(`/returns/${id}`);
const fire = (event: string, id: string) => service.send('POST', '/sandbox/trigger', { event, id });

interface Ordered {
  readonly id: string;
  readonly items: readonly { id: string; quantity: number; status: string }[];
}

/** An order `ms` after its creation: placed at 3 s, delivered at 10 s. */
async function ordered(
  ms = 12_000,
  more: Record<string, unknown> = {},
  slug = 'test-success',
): Promise<Ordered> {
  const { body } = await service.order(slug, more);
  service.pass(ms);
  return get(`/orders/${body.id}`);
}

const ask = (order: Ordered, more: Record<string, unknown> = {}, key?: string) =>
  service.send(
    'POST',
    '/returns',
    {
      order_id: order.id,
      items: order.items.map(({ id, quantity }) => ({ order_item_id: id, quantity })),
      reason: 'damaged',
      ...more,
    },
    key,
  );

const line = (slug: string, quantity = 1) => ({ url: service.product(slug), quantity });

describe('what becomes of a return is decided by its reason', () => {
  test.each([
    ['damaged', ['open', 'approved', 'credited']],
    ['defective', ['open', 'approved', 'credited']],
    ['wrong_item', ['open', 'approved', 'credited']],
    ['not_as_described', ['open', 'approved', 'credited']],
    ['wrong_size', ['open', 'approved', 'credited']],
    ['no_longer_needed', ['open', 'approved', 'credited']],
    ['not_delivered', ['open', 'credited', 'credited']],
    ['empty_box', ['open', 'credited', 'credited']],
    ['other', ['open', 'denied', 'denied']],
  ])('%s', async (reason, statuses) => {
    const order = await ordered();
    const { status, body: made } = await ask(order, { reason, notes: 'see the picture' });
    expect(status).toBe(201);
    expect(made).toMatchObject({ status: 'open', reason, notes: 'see the picture', order_id: order.id });
    const reached: string[] = [];
    for (const ms of [1_600, 1_500, 3_000]) {
      service.pass(ms);
      reached.push((await readReturn(made.id)).status);
    }
    expect(reached).toEqual(statuses);
    const ended = await readReturn(made.id);
    expect(ended.resolution_notes).toEqual(expect.any(String));
    expect(ended.updated_at > made.updated_at).toBe(true);
  });

  test('every reason has an end', async () => {
    for (const reason of returnReasons) {
      const made = (await ask(await ordered(3_000), { reason })).body;
      service.pass(20_000);
      expect(['credited', 'denied']).toContain((await readReturn(made.id)).status);
    }
  });

  test('nobody needs to look: the state is the same after a day without a request', async () => {
    const made = (await ask(await ordered())).body;
    service.pass(24 * 3600 * 1000);
    const ended = await readReturn(made.id);
    expect(ended.status).toBe('credited');
    expect(Date.parse(ended.updated_at) - Date.parse(made.created_at)).toBe(6_000);
  });

  test('an approved return has a retailer return number and one label for each item', async () => {
    const order = await ordered(12_000, { products: [line('test-success'), line('test-pickup')] });
    const made = (await ask(order)).body;
    expect(made).toMatchObject({ merchant_return_id: null, label_urls: [] });
    service.pass(3_500);
    const approved = await readReturn(made.id);
    expect(approved.merchant_return_id).toMatch(/^RMA-\d{10}$/);
    expect(approved.label_urls).toHaveLength(2);
  });
});

describe('a forced cancellation', () => {
  test('of what has not left the retailer stops it, and its charge comes back', async () => {
    const before = await balance();
    const order = await ordered(3_000);
    const made = (await ask(order, { reason: 'forced_cancellation' })).body;
    service.pass(60_000);
    expect(await readReturn(made.id)).toMatchObject({ status: 'credited', credited_amount: 1_999 });
    const ended = await get(`/orders/${order.id}`);
    expect(ended.items[0]).toMatchObject({ status: 'cancelled', cancellation_reason: expect.any(String) });
    expect(ended.tracking_numbers).toEqual([]);
    expect(await balance()).toBe(before - 100);
  });

  test('of one of two items lets the other arrive', async () => {
    const order = await ordered(3_000, { products: [line('test-success'), line('test-pickup')] });
    const [stopped] = order.items;
    const items = [{ order_item_id: stopped?.id }];
    expect((await ask(order, { reason: 'forced_cancellation', items })).status).toBe(201);
    service.pass(60_000);
    const ended = await get(`/orders/${order.id}`);
    expect(ended.items.map((item: { status: string }) => item.status)).toEqual([
      'cancelled',
      'available_for_pickup',
    ]);
    expect(ended.tracking_numbers).toHaveLength(1);
  });

  test('of what is on its way is denied', async () => {
    const order = await ordered(6_500);
    const made = (await ask(order, { reason: 'forced_cancellation' })).body;
    service.pass(60_000);
    expect(await readReturn(made.id)).toMatchObject({ status: 'denied', credited_amount: 0 });
    expect((await get(`/orders/${order.id}`)).items[0].status).toBe('delivered');
  });

  test('of what has been delivered is refused', async () => {
    const refused = await ask(await ordered(), { reason: 'forced_cancellation' });
    expect(refused).toMatchObject({ status: 400, body: { code: 'return_not_allowed' } });
  });
});

describe('credits', () => {
  test('reach the wallet, credited_amount and the summary on the order alike', async () => {
    const order = await ordered();
    const before = await balance();
    const made = (await ask(order)).body;
    const summary = async () => (await get(`/orders/${order.id}`)).returns;
    const listed = async () => (await get('/orders')).orders[0].returns;
    expect(await summary()).toEqual([
      {
        id: made.id,
        status: 'open',
        reason: 'damaged',
        credited_amount: 0,
        created_at: made.created_at,
        updated_at: made.updated_at,
      },
    ]);
    expect(await listed()).toEqual(await summary());
    service.pass(7_000);
    const { credited_amount } = await readReturn(made.id);
    expect(credited_amount).toBe(1_999);
    expect(await balance()).toBe(before + credited_amount);
    expect(await summary()).toMatchObject([{ status: 'credited', credited_amount }]);
    expect(await listed()).toEqual(await summary());
  });

  test('of the units of an order add up to what was charged for it', async () => {
    const products = [line('test-success', 3), line('test-quantity-limit', 5)];
    const order = await ordered(12_000, {
      products,
      max_price: 50_000,
      fulfillment: { quantity: 'best_effort' },
    });
    const before = await balance();
    const { total } = (await get(`/orders/${order.id}`)).job_result.price_components;
    const [three, two] = order.items;
    for (const [item, quantity] of [
      [three, 1],
      [three, 2],
      [two, 1],
      [two, 1],
    ] as const) {
      expect((await ask(order, { items: [{ order_item_id: item?.id, quantity }] })).status).toBe(201);
      service.pass(7_000);
    }
    expect((await balance()) - before).toBe(total);
    const again = await ask(order, { items: [{ order_item_id: two?.id, quantity: 1 }] });
    expect(again.body).toMatchObject({ code: 'return_not_allowed', details: { bought: 2, returned: 2 } });
  });

  test('are none where the wallet has not paid: the return stays approved', async () => {
    const order = await ordered(12_000, { payment: { mode: 'card' } });
    const before = await balance();
    const made = (await ask(order)).body;
    service.pass(7_000);
    expect(await readReturn(made.id)).toMatchObject({ status: 'approved', credited_amount: 0 });
    expect(await balance()).toBe(before);
  });

  test('are taken back when the retailer cancels the whole order, which refunds it', async () => {
    const start = await balance();
    const order = await ordered(3_000);
    const first = (await ask(order, { reason: 'not_delivered' })).body;
    expect((await fire('return-credited', first.id)).body).toMatchObject({ status: 'credited' });
    expect((await fire('cancelled-by-retailer', order.id)).status).toBe(200);
    expect(await readReturn(first.id)).toMatchObject({ status: 'credited', credited_amount: 0 });
    expect((await get(`/orders/${order.id}`)).returns).toMatchObject([
      { status: 'credited', credited_amount: 0 },
    ]);
    expect(await balance()).toBe(start - 100);
    service.pass(60_000);
    expect(await balance()).toBe(start - 100);
  });
});

describe('a return is refused', () => {
  const code = async (order: Ordered, more: Record<string, unknown>) => {
    const { status, body } = await ask(order, more);
    return [status, body.code];
  };

  test('for an order that is not placed', async () => {
    expect(await code(await ordered(0, {}, 'test-slow'), {})).toEqual([400, 'return_not_allowed']);
    expect(await code(await ordered(12_000, {}, 'test-out-of-stock'), {})).toEqual([
      400,
      'return_not_allowed',
    ]);
    expect(await code(await ordered(12_000, {}, 'test-cancelled-by-retailer'), {})).toEqual([
      400,
      'return_not_allowed',
    ]);
  });

  test('for an order that does not exist, and for one of somebody else', async () => {
    const order = await ordered();
    const stranger = await service.mint();
    expect((await ask(order, {}, stranger)).status).toBe(404);
    expect((await ask({ ...order, id: '00000000-0000-4000-8000-000000000000' })).status).toBe(404);
  });

  test('for an item of another order, and for one that stands twice', async () => {
    const order = await ordered();
    const other = await ordered();
    const item = (from: Ordered) => ({ order_item_id: from.items[0]?.id, quantity: 1 });
    expect(await code(order, { items: [item(other)] })).toEqual([400, 'bad_request']);
    expect(await code(order, { items: [item(order), item(order)] })).toEqual([400, 'bad_request']);
  });

  test('for more than was bought, and for what was skipped', async () => {
    const products = [line('test-success'), line('test-out-of-stock')];
    const order = await ordered(12_000, { products, fulfillment: { items: 'best_effort' } });
    const [bought, skipped] = order.items;
    expect(await code(order, { items: [{ order_item_id: bought?.id, quantity: 2 }] })).toEqual([
      400,
      'return_not_allowed',
    ]);
    expect(await code(order, { items: [{ order_item_id: skipped?.id }] })).toEqual([
      400,
      'return_not_allowed',
    ]);
    expect((await ask(order, { items: [{ order_item_id: bought?.id }] })).status).toBe(201);
    service.pass(7_000);
    const { job_result } = await get(`/orders/${order.id}`);
    const [made] = (await get('/returns')).return_requests;
    expect(made.credited_amount).toBe(job_result.price_components.total);
  });

  test('while a return of the items is open: 409 names it', async () => {
    const order = await ordered(12_000, { products: [line('test-success', 2)] });
    const items = [{ order_item_id: order.items[0]?.id, quantity: 1 }];
    const made = (await ask(order, { items })).body;
    for (const ms of [0, 2_000, 1_500]) {
      service.pass(ms);
      const again = await ask(order, { items });
      expect(again.status).toBe(409);
      expect(again.body).toMatchObject({
        code: 'already_exists',
        details: { resource: 'return_request', identifier: made.id },
      });
    }
    service.pass(7_000);
    expect((await ask(order, { items })).status).toBe(201);
  });

  test('a denied return leaves its items free', async () => {
    const order = await ordered();
    await ask(order, { reason: 'other' });
    service.pass(7_000);
    expect((await ask(order)).status).toBe(201);
  });

  test('of twenty at once for the same items one is made', async () => {
    const order = await ordered();
    const responses = await Promise.all(Array.from({ length: 20 }, () => ask(order)));
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(19);
  });

  test.each([
    ['no items', { items: [] }, ['body', 'items']],
    [
      'quantity 0',
      { items: [{ order_item_id: '00000000-0000-4000-8000-000000000000', quantity: 0 }] },
      ['body', 'items', 0, 'quantity'],
    ],
    ['an unknown reason', { reason: 'boredom' }, ['body', 'reason']],
    ['a field of no return', { refund: true }, ['body', 'refund']],
    ['an id that is none', { order_id: 'x' }, ['body', 'order_id']],
  ])('with 422 for %s', async (_, more, loc) => {
    const order = { id: '00000000-0000-4000-8000-000000000000', items: [] };
    const items = [{ order_item_id: order.id, quantity: 1 }];
    const { status, body } = await ask(order, { items, ...more });
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(loc);
  });
});

describe('GET /returns', () => {
  test('lists the newest first, by page, status and part of an id or number', async () => {
    const ids: string[] = [];
    const orders: Ordered[] = [];
    for (const reason of ['damaged', 'other', 'not_delivered']) {
      const order = await ordered();
      orders.push(order);
      ids.unshift((await ask(order, { reason })).body.id);
    }
    service.pass(4_000);
    const list = async (query: string) => {
      const { return_requests, total } = await get(`/returns${query}`);
      return { ids: return_requests.map(({ id }: { id: string }) => id), total };
    };
    expect(await list('')).toEqual({ ids, total: 3 });
    expect(await list('?limit=1&offset=1')).toEqual({ ids: [ids[1]], total: 3 });
    expect(await list('?status=denied')).toEqual({ ids: [ids[1]], total: 1 });
    expect(await list(`?search=${ids[0]?.slice(0, 13).toUpperCase()}`)).toEqual({ ids: [ids[0]], total: 1 });
    expect(await list(`?search=${orders[0]?.id}`)).toEqual({ ids: [ids[2]], total: 1 });
    const number = (await readReturn(ids[2] ?? '')).merchant_return_id;
    expect(await list(`?search=${number}`)).toEqual({ ids: [ids[2]], total: 1 });
    expect(await list('?search=nothing&status=credited')).toEqual({ ids: [], total: 0 });
    const stranger = await service.mint();
    expect((await service.send('GET', '/returns', undefined, stranger)).body.total).toBe(0);
  });

  test.each(['limit=0', 'limit=501', 'offset=-1', 'status=lost'])('refuses %s', async (query) => {
    const { status, body } = await service.send('GET', `/returns?${query}`);
    expect(status).toBe(422);
    expect(body.detail[0].loc).toEqual(['query', query.split('=')[0]]);
  });

  test('one that does not exist, or of somebody else, is not found; an id that is none is 422', async () => {
    const { id } = (await ask(await ordered())).body;
    const stranger = await service.mint();
    expect((await service.send('GET', `/returns/${id}`, undefined, stranger)).status).toBe(404);
    expect((await service.send('GET', `/returns/${id.toUpperCase()}`)).status).toBe(200);
    expect((await service.send('GET', '/returns/none')).status).toBe(422);
  });

  test('orders are filtered by the state of their returns', async () => {
    const [open, approved, denied] = [await ordered(), await ordered(), await ordered()];
    for (const [order, reason] of [
      [approved, 'damaged'],
      [denied, 'other'],
    ] as const)
      await ask(order, { reason });
    service.pass(3_500);
    await ask(open);
    const list = async (value: string) =>
      (await get(`/orders?return_status=${value}`)).orders.map(({ id }: Ordered) => id).toSorted();
    expect(await list('open')).toEqual([open.id]);
    expect(await list('closed')).toEqual([approved.id, denied.id].toSorted());
  });
});

describe('a label', () => {
  const approved = async () => {
    const made = (await ask(await ordered())).body;
    service.pass(3_500);
    return readReturn(made.id);
  };

  test('is a PDF behind a signed link that needs no key', async () => {
    const { id, label_urls } = await approved();
    expect(label_urls[0]).toContain(`${service.baseUrl}/labels/${id}/1.pdf?expires=`);
    const response = await fetch(label_urls[0]);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="return-${id.slice(0, 8)}-1.pdf"`,
    );
    const pdf = Buffer.from(await response.arrayBuffer()).toString('latin1');
    expect(pdf.startsWith('%PDF-1.')).toBe(true);
    expect(pdf).toContain(id);
    const table = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(pdf)?.[1]);
    expect(pdf.slice(table, table + 5)).toBe('xref\n');
    const offsets = [...pdf.slice(table).matchAll(/^(\d{10}) 00000 n $/gm)].map(([, digits]) =>
      Number(digits),
    );
    for (const [index, offset] of offsets.entries())
      expect(pdf.slice(offset).startsWith(`${index + 1} 0 obj\n`)).toBe(true);
    const [, length = '', stream = ''] = /\/Length (\d+) >>\nstream\n(.*?)\nendstream/s.exec(pdf) ?? [];
    expect(stream).toHaveLength(Number(length));
  });

  test('has both addresses, and a barcode that says the number below it', async () => {
    const { label_urls, merchant_return_id: number } = await approved();
    const pdf = Buffer.from(await (await fetch(label_urls[0])).arrayBuffer()).toString('latin1');
    const texts = [...pdf.matchAll(/\(([^()]*)\) Tj/g)].map(([, text]) => text);
    expect(texts.slice(0, 7)).toEqual([
      'RETURN LABEL 1',
      'FROM',
      'Ada Byron',
      '1 Main St',
      'Austin TX 78701, US',
      'TO',
      'Returns',
    ]);
    expect(texts).toContain(`${number}-1`);
    expect(readBarcode(pdf)).toBe(`*${number}-1*`);
  });

  test('expires, and is made anew when the return is read again', async () => {
    const { id, label_urls } = await approved();
    service.pass(limits.returnLabelSeconds * 500);
    // Keep the key alive: it expires after a week without use.
    await get('/wallet/me');
    service.pass(limits.returnLabelSeconds * 500 - 1000);
    expect((await fetch(label_urls[0])).status).toBe(200);
    service.pass(1000);
    const late = await fetch(label_urls[0]);
    expect(late.status).toBe(403);
    expect(await late.json()).toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('expired'),
    });
    const fresh = (await readReturn(id)).label_urls[0];
    expect(fresh).not.toBe(label_urls[0]);
    expect((await fetch(fresh)).status).toBe(200);
  });

  test('is refused to whoever changes the link', async () => {
    const { label_urls } = await approved();
    const [link] = label_urls;
    const url = new URL(link);
    const changed = [
      link.replace(/expires=\d+/, 'expires=99999999999'),
      link.replace('/1.pdf', '/2.pdf'),
      link.replace(/signature=.*/, ''),
      link.replace(/signature=./, 'signature=z'),
      `${url.origin}${url.pathname}`,
      link.replace(/expires=\d+/, 'expires=1e9'),
    ];
    for (const forged of changed) {
      const response = await fetch(forged);
      expect([forged, response.status]).toEqual([forged, 403]);
      expect(await response.json()).toMatchObject({ code: 'forbidden' });
    }
  });
});

describe('POST /sandbox/trigger', () => {
  test('approves, denies and credits a return now', async () => {
    const order = await ordered(12_000, { products: [line('test-success', 3)], max_price: 9_000 });
    const one = [{ order_item_id: order.items[0]?.id, quantity: 1 }];
    const before = await balance();
    const first = (await ask(order, { reason: 'other', items: one })).body.id;
    expect((await fire('return-approved', first)).body).toEqual({
      event: 'return-approved',
      id: first,
      status: 'approved',
    });
    expect((await readReturn(first)).label_urls).toHaveLength(1);
    expect((await fire('return-credited', first)).status).toBe(200);
    expect((await readReturn(first)).credited_amount).toBe(1_999);
    const second = (await ask(order, { items: one })).body.id;
    expect((await fire('return-denied', second)).body.status).toBe('denied');
    service.pass(60_000);
    expect((await readReturn(second)).status).toBe('denied');
    expect(await balance()).toBe(before + 1_999);
  });

  test('what the state of a return forbids is refused', async () => {
    const { id } = (await ask(await ordered())).body;
    await fire('return-denied', id);
    const again = await fire('return-credited', id);
    expect(again).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    expect((await fire('return-denied', '00000000-0000-4000-8000-000000000000')).status).toBe(404);
  });
});

test('returns outlive the process, with the key of their labels', async () => {
  // Two services share one file: each accepts the other's links.
  const { mkdtempSync, rmSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const { join } = await import('node:path');
  const folder = mkdtempSync(join(tmpdir(), 'errand-returns-'));
  const file = join(folder, 'sandbox.db');
  const one = await TestService.start({ file });
  const { body: order } = await one.send('POST', '/orders', orderBody(one.product('test-success')));
  one.pass(12_000);
  const items = [{ order_item_id: order.items[0].id, quantity: 1 }];
  const { body: made } = await one.send('POST', '/returns', { order_id: order.id, items, reason: 'damaged' });
  const other = await TestService.start({ file, now: Date.parse('2026-03-01T12:00:16Z') });
  const read = await other.send('GET', `/returns/${made.id}`, undefined, one.key);
  const link = new URL(read.body.label_urls[0]);
  expect((await fetch(`${one.baseUrl}${link.pathname}${link.search}`)).status).toBe(200);
  await one.stop();
  await other.stop();
  rmSync(folder, { recursive: true });
});

/** The characters of Code 39 (ISO/IEC 16388) that a label may have: wide bars and spaces as w. */
const code39: Readonly<Record<string, string>> = {
  nnnwwnwnn: '0',
  wnnwnnnnw: '1',
  nnwwnnnnw: '2',
  wnwwnnnnn: '3',
  nnnwwnnnw: '4',
  wnnwwnnnn: '5',
  nnwwwnnnn: '6',
  nnnwnnwnw: '7',
  wnnwnnwnn: '8',
  nnwwnnwnn: '9',
  wnnnnwnnw: 'A',
  nnnnwwnnw: 'D',
  wnnnwwnnn: 'E',
  nnnnnwwnw: 'G',
  wnnnnnnww: 'K',
  wnwnnnnwn: 'M',
  nnnnwnnww: 'N',
  wnnnwnnwn: 'O',
  nnwnwnnwn: 'P',
  wnnnnnwwn: 'R',
  nnwnnnwwn: 'S',
  nnnnwnwwn: 'T',
  nwnnnnwnw: '-',
  nwnnwnwnn: '*',
};

/** Reads the bars of a label as a scanner does. */
function readBarcode(pdf: string): string {
  const bars = [...pdf.matchAll(/([\d.]+) 110 ([\d.]+) 86 re/g)].map(([, left, size]) => ({
    left: Number(left),
    size: Number(size),
  }));
  const narrow = Math.min(...bars.map(({ size }) => size));
  const word = (size: number): string => (size > narrow * 1.7 ? 'w' : 'n');
  return Array.from({ length: bars.length / 5 }, (_, at) => {
    const own = bars.slice(at * 5, at * 5 + 5);
    const widths = own.flatMap(({ left, size }, index) => {
      const next = own[index + 1];
      return next ? [size, next.left - left - size] : [size];
    });
    return code39[widths.map(word).join('')] ?? '?';
  }).join('');
}
