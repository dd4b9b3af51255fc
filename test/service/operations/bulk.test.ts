import { expect, test } from 'vitest';
import { rowBody } from '../../support/order-body.ts';
import type { TestService } from '../../support/service.ts';
import { startedForEach } from '../started-for-each.ts';

let service: TestService;
startedForEach((started) => {
  service = started;
});

const row = (more: Record<string, string> = {}): Record<string, string> => ({
  ...rowBody(service.product('test-success')),
  ...more,
});
const validate = (rows: unknown) => service.send('POST', '/orders/bulk/validate', { rows });
const create = (rows: unknown, more = {}) => service.send('POST', '/orders/bulk', { rows, ...more });
const read = async (id: string) => (await service.send('GET', `/orders/bulk/${id}`)).body;
const wallet = async () => (await service.send('GET', '/wallet/me')).body;

/** Lets the batch's rows be placed, by polling as a client would. */
async function placed(id: string) {
  service.pass(60_000);
  for (let turn = 0; turn < 500; turn += 1) {
    const batch = await read(id);
    if (batch.placed_count + batch.failed_count === batch.row_count) return batch;
  }
  throw new Error('the batch was never placed');
}

test('POST /orders/bulk/validate reports every row, the spend and the wallet, and places nothing', async () => {
  const { status, body } = await validate([
    row(),
    row({ max_price: '12.50', postal_code: '1', shoe: 'left' }),
    row({
      product_url: `${service.product('test-success')}|${service.product('test-pickup')}`,
      quantity: '2|3',
    }),
  ]);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    total_rows: 3,
    valid_rows: 2,
    invalid_rows: 1,
    estimated_total_cents: 2 * (4000 + 100),
    wallet_balance_cents: 100_000,
    sufficient_funds: true,
    billed_by_invoice: false,
    over_credit_limit: false,
  });
  expect(body.rows[1]).toMatchObject({ index: 1, ok: false, max_price: null, passthrough: { shoe: 'left' } });
  expect(body.rows[1].errors).toEqual([
    'max_price "12.50" is in cents and takes no decimal point; write 1250 for 12.50',
    'postal_code "1" is not a US postal code: 5 digits, optionally a dash and 4 more',
  ]);
  expect(body.rows[2]).toMatchObject({ ok: true, quantities: [2, 3], recipient: 'Ada Byron' });
  expect(body.rows[2].destination).toBe('Austin, TX 78701, US');
  expect((await service.send('GET', '/orders')).body.total).toBe(0);
});

test.each([
  [{ product_url: '' }, 'product_url is missing'],
  [{ product_url: 'ftp://x' }, 'is not an http or https URL'],
  [{ quantity: '0' }, 'quantity "0"'],
  [{ quantity: '1|2' }, '2 quantities for 1 products'],
  [{ max_price: '' }, 'max_price is missing'],
  [{ max_price: '-5' }, 'max_price "-5"'],
  [{ name: 'Prince' }, 'name "Prince" needs a first and a last name'],
  [{ name: '' }, 'name is missing'],
  [{ city: '' }, 'city is missing'],
  [{ country: 'USA' }, 'country "USA"'],
  [{ country: 'FR', postal_code: '75001' }, 'unsupported_country'],
  [{ is_gift: 'perhaps' }, 'is_gift "perhaps"'],
  [{ gift_message: 'hi' }, 'requires is_gift'],
  [{ is_gift: 'yes', gift_message: 'x'.repeat(241) }, 'more than 240'],
  [{ idempotency_key: 'k'.repeat(37) }, 'more than 36'],
  [{ account: 'acct_none' }, 'There is no managed account'],
  [{ product_url: 'https://giftcards.example/1' }, 'unsupported_retailer'],
])('a row with %j is told what is wrong', async (more, message) => {
  const { body } = await validate([row(more)]);
  expect(body.rows[0].ok).toBe(false);
  expect(body.rows[0].errors.join('\n')).toContain(message);
});

test('headings are matched without regard to case, spaces, dashes and underscores', async () => {
  const { body } = await validate([
    {
      'Product URL': service.product('test-success'),
      'MAX-PRICE': '900',
      QTY: '2',
      'Full Name': 'Grace Hopper',
      Street: '1 Main St',
      City: 'Austin',
      Province: 'TX',
      ZIP: '78701',
      Phone: '5125550100',
      'metadata.team': 'blue',
      'Shelf no.': '7',
    },
  ]);
  expect(body.rows[0]).toMatchObject({
    ok: true,
    quantities: [2],
    max_price: 900,
    recipient: 'Grace Hopper',
    passthrough: { 'Shelf no.': '7' },
  });
});

test('POST /orders/bulk places one order for each row, asynchronously, with live states', async () => {
  const made = await create(
    [
      row({ 'metadata.team': 'blue', po_number: 'PO-1', box: 'A' }),
      row({ product_url: service.product('test-out-of-stock') }),
      row({ max_price: 'free' }),
    ],
    { filename: 'orders.csv', notify_on_complete: true },
  );
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({
    filename: 'orders.csv',
    status: 'pending',
    row_count: 3,
    placed_count: 0,
    failed_count: 1,
    notified_at: null,
  });
  const batch = await placed(made.body.id);
  expect(batch).toMatchObject({ status: 'completed', placed_count: 2, failed_count: 1 });
  expect(batch.notified_at).not.toBeNull();
  expect(
    batch.rows.map(({ status, order_status }: Record<string, string>) => [status, order_status]),
  ).toEqual([
    ['placed', 'order_placed'],
    ['placed', 'order_failed'],
    ['failed', null],
  ]);
  const order = (await service.send('GET', `/orders/${batch.rows[0].order_id}`)).body;
  expect(order).toMatchObject({ metadata: { team: 'blue' }, po_number: 'PO-1', max_price: 4000 });
  expect((await service.send('GET', '/orders')).body.total).toBe(2);
});

test('what only placing can know is no fault of the row beforehand, and fails it then', async () => {
  const slugs = ['test-refused-payment-failed', 'test-refused-out-of-stock', 'test-url-unreachable'];
  const rows = slugs.map((slug) => row({ product_url: service.product(slug) }));
  const { body } = await validate(rows);
  expect(body.rows.map(({ ok }: { ok: boolean }) => ok)).toEqual([true, true, false]);
  const batch = await placed((await create(rows)).body.id);
  expect(batch).toMatchObject({ status: 'failed', placed_count: 0, failed_count: 3 });
  expect(batch.rows.map(({ error }: { error: string }) => error.split(':')[0])).toEqual([
    'payment_failed',
    'out_of_stock',
    'validation_error',
  ]);
});

test('of two batches the first is placed first, and nobody waits for those of another user', async () => {
  const rows = Array.from({ length: 12 }, () => row());
  const [first, second] = [(await create(rows)).body.id, (await create([row()])).body.id];
  const other = await service.mint();
  const theirs = (await service.send('POST', '/orders/bulk', { rows: [row()] }, other)).body.id;
  const placedOf = async (id: string, key = service.key): Promise<number> =>
    (await service.send('GET', `/orders/bulk/${id}`, undefined, key)).body.placed_count;
  service.pass(300 + 11);
  expect([await placedOf(first), await placedOf(second), await placedOf(theirs, other)]).toEqual([12, 0, 1]);
  service.pass(1);
  expect(await placedOf(second)).toBe(1);
});

test('a batch that nobody looks at goes on as if somebody had', async () => {
  const { id } = (await create([row()])).body;
  service.pass(3_600_000);
  const [order] = (await read(id)).rows;
  expect(order).toMatchObject({ status: 'placed', order_status: 'order_placed' });
  const record = (await service.send('GET', `/orders/${order.order_id}`)).body;
  expect(record.tracking_numbers[0].status).toBe('delivered');
});

test('a row whose idempotency_key was used before makes no second order, and says which there is', async () => {
  const first = (await service.order('test-success', { idempotency_key: 'row-1' })).body.id;
  const made = await create([
    row({ idempotency_key: 'row-1' }),
    row({ idempotency_key: 'row-2' }),
    row({ idempotency_key: 'row-2' }),
  ]);
  const batch = await placed(made.body.id);
  expect(batch.rows.map(({ status }: { status: string }) => status)).toEqual(['failed', 'placed', 'failed']);
  expect(batch.rows[0].error).toContain('already_exists');
  expect(batch.rows[0].error).toContain(first);
  expect((await service.send('GET', '/orders')).body.total).toBe(2);
});

test('a batch that the wallet cannot cover is refused whole', async () => {
  const refused = await create([row({ max_price: '90000' }), row({ max_price: '90000' })]);
  expect([refused.status, refused.body.code]).toEqual([402, 'insufficient_funds']);
  expect(refused.body.details).toMatchObject({ required: 180_200, available: 100_000 });
  expect((await service.send('GET', '/orders/bulk')).body.total).toBe(0);
});

test('two batches at once that together cost more than the wallet has end with rows that say so', async () => {
  const rows = Array.from({ length: 6 }, () => row({ max_price: '12000' }));
  const [one, two] = await Promise.all([create(rows), create(rows)]);
  const both = [await placed(one.body.id), await placed(two.body.id)].flatMap(({ rows }) => rows);
  const failed = both.filter(({ status }) => status === 'failed');
  expect(failed.length).toBeGreaterThan(0);
  for (const { error } of failed) expect(error).toContain('insufficient_funds');
  expect((await wallet()).spendable_balance).toBeGreaterThanOrEqual(0);
});

test('a batch of rows that are no orders has failed', async () => {
  const { body } = await create([row({ city: '' })]);
  expect(body).toMatchObject({ status: 'failed', failed_count: 1, placed_count: 0 });
});

test('GET /orders/bulk lists newest first within its bounds, only the caller’s', async () => {
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) ids.push((await create([row()])).body.id);
  const { batches, total } = (await service.send('GET', '/orders/bulk?limit=2')).body;
  expect([total, ...batches.map(({ id }: { id: string }) => id)]).toEqual([3, ids[2], ids[1]]);
  for (const limit of [0, 201])
    expect((await service.send('GET', `/orders/bulk?limit=${limit}`)).status).toBe(422);
  const other = await service.mint();
  expect((await service.send('GET', '/orders/bulk', undefined, other)).body.total).toBe(0);
  expect((await service.send('GET', `/orders/bulk/${ids[0]}`, undefined, other)).status).toBe(404);
});

test('GET /orders/bulk/{batch_id}/results.csv echoes custom columns in first-seen order, quoted', async () => {
  const { id } = (await create([row({ zebra: 'a,"b"\nc' }), row({ apple: '1', zebra: 'z' })])).body;
  await placed(id);
  const { text, headers } = await service.send('GET', `/orders/bulk/${id}/results.csv`);
  expect(headers.get('content-type')).toContain('text/csv');
  expect(headers.get('content-disposition')).toContain('attachment');
  const [head, first] = text.split('\r\n');
  expect(head).toBe('index,status,order_id,order_status,error,recipient,product_urls,zebra,apple');
  expect(first).toContain('"a,""b""\nc",');
});

test.each([{}, { rows: [] }, { rows: 'x' }, { rows: [{ a: [1] }] }, { rows: [row], more: 1 }])(
  'an upload of %j is refused with 422',
  async (body) => {
    expect((await service.send('POST', '/orders/bulk', body)).status).toBe(422);
  },
);

test('5,000 rows are accepted in one request and placed while other requests are served', async () => {
  await service.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 1_000_000_000 });
  const rows = Array.from({ length: 5000 }, (_, index) => row({ po_number: `${index}` }));
  const made = await create(rows);
  expect([made.status, made.body.row_count]).toEqual([201, 5000]);
  service.pass(60_000);
  let responded = 0;
  for (;;) {
    expect((await service.send('GET', '/wallet/me')).status).toBe(200);
    responded += 1;
    const { batches } = (await service.send('GET', '/orders/bulk')).body;
    if (batches[0].placed_count === 5000) break;
    expect(batches[0].failed_count).toBe(0);
  }
  expect(responded).toBeGreaterThan(3);
});
