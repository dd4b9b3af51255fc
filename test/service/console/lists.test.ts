import { expect, test } from 'vitest';
import { address, orderBody, rowBody } from '../../support/order-body.ts';
import { pay } from '../../support/payer.ts';
import { page, rowOf } from '../../support/read-page.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const read = async (path: string): Promise<string> => {
  const { status, text } = await page(service, path);
  expect([path, status]).toEqual([path, 200]);
  return text;
};
/** A page's visible text, without markup. */
const words = async (path: string): Promise<string> =>
  (await read(path))
    .replace(/<style>.*?<\/style>|<script.*?<\/script>/gs, '')
    // Names in JSON.
    .replace(/<\/?b>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replace(/\s+/g, ' ');

test('a batch shows how far it is, its failed rows and why, each row with its order', async () => {
  service.key = await service.mint({ email: 'ada@example.com' });
  await service.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 100_000_000 });
  const good = rowBody(service.product('test-success'));
  const rows = Array.from({ length: 31 }, (_, index) =>
    index % 10 === 3 ? { ...good, postal_code: 'x' } : good,
  );
  const { id } = (await service.send('POST', '/orders/bulk', { filename: 'may.csv', rows })).body;
  expect(rowOf(await read('/console/batches'), `batch-${id}`).slice(0, 6)).toEqual([
    id.slice(0, 8),
    'pending',
    'may.csv',
    '3 of 31',
    `3 failed rows of ${id.slice(0, 8)}`,
    'ada@example.com',
  ]);
  service.pass(60_000);
  while ((await service.send('GET', `/orders/bulk/${id}`)).body.status !== 'completed');
  const path = `/console/batches/${id}`;
  const first = await read(path);
  expect(first).toContain('completed in part');
  expect(first.match(/id="row-\d+"/g)).toHaveLength(25);
  const next = /href="([^"]+)" rel="next">Next rows</.exec(first)?.[1] ?? '';
  expect([...(await read(next)).matchAll(/id="row-(\d+)"/g)].map(([, index]) => index)).toEqual([
    '25',
    '26',
    '27',
    '28',
    '29',
    '30',
  ]);
  const failed = await read(`${path}?status=failed`);
  expect([...failed.matchAll(/id="row-(\d+)"/g)].map(([, index]) => index)).toEqual(['3', '13', '23']);
  expect(rowOf(failed, 'row-13').slice(0, 4)).toEqual([
    '14',
    'failed',
    expect.any(String),
    expect.stringMatching(/^validation_error: .*postal/),
  ]);
  expect(failed.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')).toContain(
    'all 31 pending 0 placed 28 failed 3',
  );
  const order = /href="\/console\/orders\/([\w-]+)"/.exec(first)?.[1];
  expect(await read(`/console/orders/${order}`)).toContain(`href="${path}#row-0"><bdi>may.csv</bdi>, row 1<`);
  const [, last = ''] = /row-30".*?console\/orders\/([\w-]+)"/s.exec(await read(next)) ?? [];
  const [, back = ''] = /href="([^"]+)#row-30"/.exec(await read(`/console/orders/${last}`)) ?? [];
  expect(await read(back)).toContain('id="row-30"');
  expect(await words('/console/batches?failed=1&user=ada')).toContain('1 of 1 batch');
  expect(await words('/console/batches?user=nobody')).toContain('Nothing matches these filters.');
});

test('a return shows what is sent back, what became of it, its labels, and what can be made of it', async () => {
  const { id, items } = (await service.order('test-success')).body;
  service.pass(20_000);
  const body = {
    order_id: id,
    items: [{ order_item_id: items[0].id, quantity: 1 }],
    reason: 'damaged',
    notes: 'cracked',
  };
  const made = (await service.send('POST', '/returns', body)).body;
  const path = `/console/returns/${made.id}`;
  expect(rowOf(await read('/console/returns'), `return-${made.id}`).slice(0, 5)).toEqual([
    made.id.slice(0, 8),
    'open',
    'damaged 1 unit',
    '$0.00',
    id.slice(0, 8),
  ]);
  expect(await read(path)).toContain(`action="${path}/approved"`);
  service.pass(20_000);
  const text = await read(path);
  for (const part of ['credited', 'cracked', '$19.99', `href="/console/orders/${id}"`])
    expect(text).toContain(part);
  const label = /href="(\/labels\/[^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect((await service.send('GET', label, undefined, null)).headers.get('content-type')).toBe(
    'application/pdf',
  );
  expect(await words(`/console/returns?status=credited&id=${id.slice(0, 6)}`)).toContain('1 of 1 return');
  expect(await words('/console/returns?status=denied')).toContain('0 of 1 return');
});

test('an account shows what it is for and which order holds it, and none of its secrets', async () => {
  const secrets = { password: 'hunter2hunter2', totp_secret: 'B'.repeat(64) };
  const given = {
    email: 'grace@example.com',
    ...secrets,
    retailer_config: { api_token: 'tok-1', tier: 'gold' },
  };
  const account = (await service.send('POST', '/managed-accounts', given)).body;
  const order = (await service.order('test-slow', { retailer_credentials_id: account.short_id })).body;
  const row = rowOf(await read('/console/accounts'), `account-${account.id}`);
  expect(row.slice(0, 5)).toEqual([
    account.short_id,
    'grace@example.com',
    'every other',
    'password, two-factor',
    '1',
  ]);
  const path = `/console/accounts/${account.id}`;
  const text = await words(path);
  for (const part of [
    'kept, sealed',
    '"tier":"gold"',
    account.forwarding_email,
    `Held by ${order.id.slice(0, 8)}`,
  ])
    expect(text).toContain(part);
  for (const secret of [...Object.values(secrets), 'tok-1']) {
    expect(text).not.toContain(secret);
    expect(await read('/console/accounts')).not.toContain(secret);
  }
  expect(await read(path)).toContain(`id="order-${order.id}"`);
  expect(await words('/console/accounts?id=GRACE&retailer=%E2%80%93')).toContain('1 of 1 account');
});

test('a payment shows its receipt, its order, and what went back', async () => {
  const order = (key: string) => ({ ...orderBody(service.product('test-success')), idempotency_key: key });
  const { response } = await pay(service, '/agent/orders', order('one'));
  service.pass(1000);
  for (let more = 2; more < 28; more += 1) await pay(service, '/agent/search', { q: 'lamp' });
  service.pass(20_000);
  const list = await read('/console/payments');
  expect(list.match(/id="payment-/g)).toHaveLength(25);
  const rest = await read(/href="([^"]+)" rel="next"/.exec(list)?.[1] ?? '');
  expect(rest.match(/id="payment-/g)).toHaveLength(2);
  const reference = [...rest.matchAll(/id="payment-([^"]+)"/g)].at(-1)?.[1];
  expect(rowOf(rest, `payment-${reference}`).slice(1, 5)).toEqual([
    'sandbox',
    'agent.order.create',
    '$51.00',
    response.body.id.slice(0, 8),
  ]);
  const text = await words(`/console/payments/${reference}`);
  for (const part of [
    `"reference": "${reference}"`,
    '"status": "success"',
    '"refunds": [',
    'Paid back $30.01',
    response.body.id,
  ])
    expect(text).toContain(part);
});

test.each(['batches', 'returns', 'accounts', 'payments'])(
  'without any, and for an unknown one, %s says so',
  async (name) => {
    expect(await words(`/console/${name}`)).toMatch(
      /No batch yet|No return yet|No managed account yet|Nothing was paid/,
    );
    const { status, text } = await page(service, `/console/${name}/none`);
    expect([status, text.includes(`href="/console/${name}">All ${name}</a>`)]).toEqual([404, true]);
  },
);

test('the page of an order that a filtered list leads to has its neighbours in that list', async () => {
  const place = async (slug: string): Promise<string> => (await service.order(slug)).body.id;
  const [older, , newer] = [
    await place('test-out-of-stock'),
    await place('test-success'),
    await place('test-out-of-stock'),
  ];
  service.pass(20_000);
  const list = await read('/console/orders?failed=1');
  expect(list).toContain(`href="/console/orders/${newer}?failed=1"`);
  const shown = await read(`/console/orders/${newer}?failed=1`);
  expect(shown).toContain(`href="/console/orders/${older}?failed=1" rel="next"`);
  expect(shown).not.toContain('rel="prev"');
  expect(await read(`/console/orders/${older}?failed=1`)).toContain(
    `href="/console/orders/${newer}?failed=1" rel="prev"`,
  );
  expect(await read(`/console/orders/${newer}`)).not.toContain(`/console/orders/${older}"`);
});

/** The ids of the rows of a list, through all of its pages. */
async function rowsOf(path: string): Promise<string[]> {
  const ids: string[] = [];
  let next: string | undefined = path;
  while (next !== undefined) {
    const text: string = await read(next);
    ids.push(...[...text.matchAll(/<tr id="[a-z]+-([^"]+)"/g)].map(([, id = '']) => id));
    next = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  return ids;
}

/** The headings that sort: their names with their addresses. */
const headingsOf = async (path: string): Promise<Map<string, string>> =>
  new Map(
    [...(await read(path)).matchAll(/<th[^>]*><a href="([^"]+)">([^<]+)<\/a><\/th>/g)].map(
      ([, href = '', name = '']) => [name, href.replaceAll('&amp;', '&')],
    ),
  );

const linesOf = async (path: string): Promise<string[]> => (await read(path)).split('\n').slice(0, -1);

test('orders are sorted by a column, both ways, over all pages, with the filters that are set', async () => {
  await service.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 1_000_000 });
  const amounts = Array.from({ length: 30 }, (_, at) => 2000 + ((at * 7) % 30) * 100);
  const placed = new Map<string, number>();
  for (const max_price of amounts) {
    const name = { ...address, first_name: `N${String(max_price).padStart(5, '0')}` };
    const { id } = (await service.order('test-never', { max_price, shipping_address: name })).body;
    placed.set(id, max_price);
  }
  const ids = [...placed.keys()];
  const byAmount = ids.toSorted((one, other) => Number(placed.get(one)) - Number(placed.get(other)));
  expect(await rowsOf('/console/orders')).toEqual(ids.toReversed());
  for (const [sort, sorted] of [
    ['total', byAmount],
    ['-total', byAmount.toReversed()],
    ['recipient', byAmount],
    ['placed', ids],
    ['nonsense', ids.toReversed()],
    ['order', ids.toReversed()],
  ] as const)
    expect(await rowsOf(`/console/orders?sort=${sort}`), sort).toEqual(sorted);
  const filtered = '/console/orders?status=pending&sort=-total';
  expect(await rowsOf(filtered)).toEqual(byAmount.toReversed());
  const headings = await headingsOf(filtered);
  expect(headings.get('Total')).toBe('/console/orders?status=pending&sort=total');
  expect(headings.get('Placed')).toBe('/console/orders?status=pending');
  const text = await read(filtered);
  expect(text).toContain(
    'aria-sort="descending"><a href="/console/orders?status=pending&amp;sort=total">Total',
  );
  expect(text).toContain('<input type="hidden" name="sort" value="-total">');
  expect(text.match(/<th[^>]* aria-sort/g)).toHaveLength(1);
});

test('every list is sorted by each heading that is a link, and is there as CSV', async () => {
  service.key = await service.mint({ email: 'ada@example.com', name: 'laptop' });
  await service.send('POST', '/users', { webhook_url: 'http://127.0.0.1:9/hook?token=t-1' });
  const { id, items } = (await service.order('test-success')).body;
  await service.order('test-slow');
  service.pass(20_000);
  for (const reason of ['damaged', 'defective'])
    await service.send('POST', '/returns', {
      order_id: id,
      items: [{ order_item_id: items[0].id, quantity: 1 }],
      reason,
    });
  for (const email of ['grace@example.com', 'heidi@example.com'])
    await service.send('POST', '/managed-accounts', { email, password: 'hunter2hunter2' });
  for (const key of ['one', 'two'])
    await pay(service, '/agent/orders', {
      ...orderBody(service.product('test-success')),
      idempotency_key: key,
    });
  for (const filename of ['a.csv', 'b.csv'])
    await service.send('POST', '/orders/bulk', {
      filename,
      rows: [rowBody(service.product('test-success'))],
    });
  for (const [list, columns] of [
    ['orders', ['State', 'Recipient', 'Total', 'By', 'Placed']],
    ['batches', ['File', 'Rows', 'Failed', 'By', 'Created']],
    ['returns', ['State', 'Reason', 'Credited', 'By', 'Requested']],
    ['accounts', ['Email', 'Retailer', 'Orders', 'By', 'Added']],
    ['wallets', ['Owner', 'Balance', 'Held', 'To spend', 'Orders']],
    ['payments', ['Method', 'For', 'Amount', 'Paid']],
    ['deliveries', ['Event', 'Queued', 'Attempts', 'Outcome']],
    ['requests', ['Time (UTC)', 'Request', 'Response', 'Took']],
    ['keys', ['Key', 'Owner', 'Wallet', 'Reserved', 'Orders', 'Minted', 'Last used']],
  ] as const) {
    const path = `/console/${list}`;
    const all = await rowsOf(path);
    const headings = await headingsOf(path);
    expect([...headings.keys()], list).toEqual(columns);
    for (const [name, first] of headings) {
      expect((await rowsOf(first)).toSorted(), `${list} by ${name}`).toEqual(all.toSorted());
      const again = (await headingsOf(first)).get(name) ?? '';
      const turned = await rowsOf(again);
      expect(turned.toSorted(), `${list} by ${name}, the other way`).toEqual(all.toSorted());
      if (new Set(await rowsOf(first)).size > 1)
        expect(turned, name).toEqual((await rowsOf(first)).toReversed());
    }
    const { headers, text } = await page(service, `${path}?as=csv`);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${list}.csv"`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(text.split('\n').length - 2, list).toBe(all.length);
    expect(text).not.toContain('t-1');
  }
  expect(await read('/console/requests')).not.toContain('as=csv</a>');
});

test('a list as CSV has the filters and the order of its page, all rows, and cells that no spreadsheet runs', async () => {
  for (let at = 0; at < 28; at += 1) await service.order('test-never', { max_price: 2000 + at });
  const hostile = { ...address, first_name: '=HYPERLINK("http://evil.example")', last_name: 'O’Neill, "Al"' };
  const { id } = (await service.order('test-out-of-stock', { shipping_address: hostile })).body;
  service.pass(20_000);
  const list = await read('/console/orders?failed=1&sort=total');
  const [, csv = ''] = /href="([^"]+)" download>CSV</.exec(list) ?? [];
  expect(csv).toBe('/console/orders?failed=1&amp;sort=total&amp;as=csv');
  const [head, row, ...more] = await linesOf(csv.replaceAll('&amp;', '&'));
  expect(head).toBe(
    'id,product,state,recipient,total_cents,max_price_cents,by,retailer_number,tracking_number,placed_at',
  );
  expect(row).toContain(
    `${id},Out of stock,failed: out of stock,"'=HYPERLINK(""http://evil.example"") O’Neill, ""Al""",,5000,`,
  );
  expect(more).toEqual([]);
  expect(await linesOf('/console/orders?as=csv')).toHaveLength(30);
});

test('the pages of a delivery and of a request lead back to the list as it was, and so do forms on a list', async () => {
  await service.send('POST', '/users', { webhook_url: 'http://127.0.0.1:9/hook' });
  for (const slug of ['test-out-of-stock', 'test-success', 'test-out-of-stock']) await service.order(slug);
  service.pass(20_000);
  for (const [list, query] of [
    ['orders', 'failed=1&sort=total'],
    ['deliveries', 'event=request_failed'],
    ['requests', 'class=2xx&method=POST&sort=-took'],
  ] as const) {
    const path = `/console/${list}`;
    const escaped = query.replaceAll('&', '&amp;');
    const [, first = ''] =
      new RegExp(`<tr id=.*?href="(${path}/[\\w-]+\\?${escaped})"`, 's').exec(
        await read(`${path}?${query}`),
      ) ?? [];
    const shown = await read(first.replaceAll('&amp;', '&'));
    expect(shown.match(new RegExp(`href="${path}\\?${escaped}"`, 'g')), list).toHaveLength(2);
    const neighbours = [...shown.matchAll(/href="([^"]+)" rel="(?:next|prev)"/g)].map(([, href]) => href);
    expect(neighbours.length, list).toBeGreaterThan(0);
    for (const href of neighbours) expect(href).toMatch(`?${escaped}`);
  }
  const referer = `${service.baseUrl}/console/faults?x=1`;
  const form = { 'content-type': 'application/x-www-form-urlencoded', origin: service.baseUrl, referer };
  const sent = await service.send('POST', '/console/faults/on', 'fault=503', null, form);
  expect(sent.headers.get('location')).toMatch(/^\/console\/faults\?x=1&did=\d+$/);
});
