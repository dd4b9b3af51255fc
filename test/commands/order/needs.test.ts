import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { address, orderBody, rowBody } from '../../support/order-body.ts';
import { errand, type Finished, shell } from '../../support/run.ts';
import { errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const minute = 60_000;
const hour = 60 * minute;
const idOf = ({ stdout }: Finished): string => JSON.parse(stdout).id;

/** Writes the order file anew. */
function write(shop: Shopping, change: Readonly<Record<string, unknown>>): void {
  const body = { ...orderBody(shop.service.product('test-success')), ...change };
  writeFileSync(join(shop.workspace.folder, 'order.json'), JSON.stringify(body));
}

describe('what is one need, however it is spelt', () => {
  const url = (shop: Shopping): string => shop.service.product('test-success');
  test.each<[string, (shop: Shopping) => Readonly<Record<string, unknown>>]>([
    ['a cent more', () => ({ max_price: 5001 })],
    ['other metadata', () => ({ metadata: { cost_centre: '4711' } })],
    ['a PO number', () => ({ po_number: '7' })],
    ['a tracking parameter', (shop) => ({ products: [{ url: `${url(shop)}?utm_source=mail&gclid=1#top` }] })],
    ['a trailing slash', (shop) => ({ products: [{ url: `${url(shop)}/` }] })],
    ['another quantity', (shop) => ({ products: [{ url: url(shop), quantity: 2 }] })],
    [
      'a phone with punctuation',
      () => ({ shipping_address: { ...address, phone_number: '(512) 555-0100' } }),
    ],
    ['another phone', () => ({ shipping_address: { ...address, phone_number: '+13125550199' } })],
    [
      'capitals, and the state spelt out',
      () => ({ shipping_address: { ...address, first_name: 'ADA', last_name: 'BYRON', state: 'Texas' } }),
    ],
    ['a gift', () => ({ is_gift: true, gift_message: 'For you' })],
  ])('%s: refused, with the order and the differences', async (_, change) => {
    const shop = await shopping();
    const id = idOf(await shop.order('-o', 'json'));
    write(shop, change(shop));
    const again = await shop.order('-o', 'json');
    expect(again.code, again.stderr).toBe(5);
    expect(errorOf(again)).toMatchObject({ code: 'duplicate_alike', details: { order_id: id } });
    expect(await shop.orders()).toHaveLength(1);
  });

  test('another ceiling: the first can be cancelled, while it is pending, and this one ordered in its place', async () => {
    const shop = await shopping();
    write(shop, { products: [{ url: shop.service.product('test-slow') }] });
    const id = idOf(await shop.order('-o', 'json'));
    const raised = ['order', 'create', '--file', 'order.json', '--max-price', '$60'];
    const refused = await shop.run(...raised);
    const line = `errand order cancel ${id}`;
    expect(refused.stderr).toContain(`try: ${line} — to cancel the first while it is pending`);
    const same = await shop.order();
    expect(same.stderr).not.toContain('order cancel');
    expect((await shell(shop.workspace, line)).code).toBe(0);
    const instead = await shop.run(...raised);
    expect(instead.code, instead.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
    shop.service.pass(120_000);
    const gone = await shop.run(...raised.with(-1, '$70'));
    expect([gone.code, gone.stderr]).toEqual([5, expect.not.stringContaining('order cancel')]);
  });

  test.each<[string, (shop: Shopping) => Readonly<Record<string, unknown>>]>([
    [
      'a gift for another person at the same address',
      () => ({ shipping_address: { ...address, first_name: 'Grace' }, is_gift: true }),
    ],
    ['another flat', () => ({ shipping_address: { ...address, address_line2: 'Apt 9' } })],
    ['another product', (shop) => ({ products: [{ url: shop.service.product('test-slow') }] })],
    [
      'another variant',
      (shop) => ({ products: [{ url: url(shop), variant: [{ label: 'Colour', value: 'Red' }] }] }),
    ],
  ])('%s is another', async (_, change) => {
    const shop = await shopping();
    expect((await shop.order()).code).toBe(0);
    write(shop, change(shop));
    const other = await shop.order();
    expect(other.code, other.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('some of it with something else is refused as an overlap', async () => {
    const shop = await shopping();
    const id = idOf(await shop.order('-o', 'json'));
    write(shop, { products: [{ url: url(shop) }, { url: shop.service.product('test-slow') }] });
    const more = await shop.order('-o', 'json');
    expect([more.code, errorOf(more).code]).toEqual([5, 'duplicate_overlaps']);
    expect(errorOf(more).message).toMatch(new RegExp(`some of it was ordered .+: ${id} `));
  });
});

describe('a script that repeats an order', () => {
  test('is told the order with its state now, its age, the differences, and both ways on', async () => {
    const shop = await shopping();
    const id = idOf(await shop.order('-o', 'json'));
    shop.service.pass(3 * minute);
    const again = await shop.order('--max-price', '$51', '-o', 'json');
    const error = errorOf(again);
    expect(error.message).toMatch(
      new RegExp(
        `^an order like this one was placed 3m ago: ${id} \\(\\S.*\\); ceiling \\$50.00, now \\$51.00; no second one was placed$`,
      ),
    );
    expect(error.details).toMatchObject({
      differences: [{ field: 'max_price', requested: 5100, existing: 5000 }],
    });
    const line = "errand order create --file order.json --retries 0 --max-price '$51' -o json";
    expect(error.next.map(({ command }: { command: string }) => command)).toEqual([
      `errand order get ${id}`,
      `${line} --reference NAME`,
      `${line} --new`,
    ]);
    expect((await shop.order('--max-price', '$51', '--new')).code).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('whose first attempt failed, or was refused, orders the next and says so in one line', async () => {
    const shop = await shopping();
    write(shop, { products: [{ url: shop.service.product('test-out-of-stock') }] });
    const first = idOf(await shop.order('-o', 'json'));
    shop.service.pass(3 * minute);
    const second = await shop.order('--max-price', '$51', '-o', 'json');
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr.match(/^attempt .*$/gm)).toEqual([
      `attempt 2; the first (${first}, 3m ago) failed: out of stock`,
    ]);
  });

  test('after a return it is refused until --again', async () => {
    const shop = await shopping();
    await shop.run('config', 'set', 'duplicate-window', '20d');
    const id = idOf(await shop.order('-o', 'json'));
    shop.service.pass(hour);
    await returned(shop, id);
    const refused = await shop.order('-o', 'json');
    expect([refused.code, errorOf(refused).code], refused.stderr).toEqual([5, 'duplicate_returned']);
    expect(errorOf(refused).next.at(-1).command).toContain('order.json --retries 0 -o json --again');
    // By the service's clock it is as recent where this machine's clock is wrong.
    for (const days of [30, -30]) {
      shop.later(days * 24 * hour);
      expect((await shop.order()).code).toBe(5);
    }
    const again = await shop.order('--again');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toMatch(new RegExp(`attempt 2; the first \\(${id}, \\d+d ago\\) was sent back`));
    expect((await shop.order('--again')).code).toBe(5);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('in a loop with keys of its own places each, and an order without one sees them', async () => {
    const shop = await shopping();
    for (const key of ['one', 'two', 'three'])
      expect((await shop.order('--idempotency-key', key)).code, key).toBe(0);
    expect((await shop.order('--idempotency-key', 'two')).code).toBe(0);
    const other = await shop.order('-o', 'json');
    expect(other.code).toBe(5);
    expect(errorOf(other).details.orders).toHaveLength(3);
    expect(await shop.orders()).toHaveLength(3);
  });

  test('in a loop with references places each once', async () => {
    const shop = await shopping();
    for (const name of ['MON', 'TUE', 'MON', 'WED', 'TUE'])
      expect((await shop.order('--reference', name)).code, name).toBe(0);
    expect(await shop.orders()).toHaveLength(3);
  });
});

/** Sends every unit of an order back. */
async function returned(shop: Shopping, id: string): Promise<void> {
  const { body: order } = await shop.service.send('GET', `/orders/${id}`);
  const items = order.items.map((line: { id: string; quantity: number }) => ({
    order_item_id: line.id,
    quantity: line.quantity,
  }));
  const made = await shop.service.send('POST', '/returns', { order_id: id, reason: 'damaged', items });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  shop.service.pass(5 * 24 * hour);
}

describe('an attempt in doubt', () => {
  test('of other content is refused at any age, with the difference, until it is settled', async () => {
    const shop = await shopping();
    lose(shop, 'reset-after');
    expect((await shop.order()).code).toBe(10);
    shop.service.pass(20 * hour);
    const other = await shop.order('--max-price', '$51', '-o', 'json');
    const error = errorOf(other);
    expect([other.code, error.code, error.outcome]).toEqual([5, 'duplicate_in_doubt', 'unknown']);
    expect(error.message).toContain('; ceiling $50.00, now $51.00; nothing was ordered');
    expect(error.next[0].command).toBe(`errand order journal resume ${error.idempotency_key}`);
    expect((await shop.run('order', 'journal', 'resume', error.idempotency_key)).code).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });

  test.each([-3, 3])('tells its age truly where the clock of the machine is wrong by %i h', async (hours) => {
    const shop = await shopping();
    shop.later(hours * hour);
    lose(shop, 'reset-after');
    expect((await shop.order()).code).toBe(10);
    shop.later((hours + 2) * hour);
    shop.service.pass(2 * hour);
    const single = await shop.order('--max-price', '$60.00');
    expect(single.code).toBe(5);
    expect(single.stderr).toMatch(/^error: an order like this one is in doubt, sent [12]h ago, as /);
    const row = rowBody(shop.service.product('test-success'));
    const csv = [Object.keys(row), Object.values({ ...row, max_price: '$60.00' })];
    writeFileSync(join(shop.workspace.folder, 'orders.csv'), `${csv.join('\n')}\n`);
    const rows = await shop.run('bulk', 'upload', 'orders.csv');
    expect(rows.code).toBe(5);
    expect(rows.stderr).toMatch(/row 2 as \S+ \(in doubt, [12]h ago\)/);
  });

  test('is not sent again while one of other content is in doubt', async () => {
    const shop = await shopping();
    lose(shop, 'reset-after');
    expect((await shop.order('--max-price', '$51')).code).toBe(10);
    lose(shop, 'reset-before');
    expect((await shop.order('--new')).code).toBe(10);
    const again = await shop.order('-o', 'json');
    expect([again.code, errorOf(again).code], again.stderr).toEqual([5, 'duplicate_in_doubt']);
    expect(await shop.orders()).toHaveLength(1);
  });

  test.each(['reset-after', 'reset-before'] as const)(
    'that was given up is looked for first (%s), then --new is needed',
    async (loss) => {
      const shop = await shopping();
      lose(shop, loss);
      expect((await shop.order()).code).toBe(10);
      const [{ key }] = JSON.parse((await shop.run('order', 'journal', 'list', '-o', 'json')).stdout);
      expect((await shop.run('order', 'journal', 'forget', key)).code).toBe(0);
      const again = await shop.order('-o', 'json');
      expect(again.code, again.stderr).toBe(5);
      const [order] = await shop.orders();
      if (loss === 'reset-after') expect(errorOf(again).details.order_id).toBe(order?.id);
      else expect(errorOf(again)).toMatchObject({ code: 'duplicate_unknown', outcome: 'unknown' });
      expect((await shop.order('--new')).code).toBe(0);
      expect(await shop.orders()).toHaveLength(loss === 'reset-after' ? 2 : 1);
    },
  );
});

describe('the time in which an order counts as a duplicate', () => {
  test('is ten minutes for a rehearsal, and what a preference or a variable says', async () => {
    const shop = await shopping();
    const codes: (number | null)[] = [];
    const order = async (): Promise<void> => {
      codes.push((await shop.order()).code);
    };
    await order();
    shop.service.pass(9 * minute);
    await order();
    shop.service.pass(2 * minute);
    await order();
    await shop.run('config', 'set', 'duplicate-window', '1h');
    shop.service.pass(50 * minute);
    await order();
    shop.workspace.environment.ERRAND_DUPLICATE_WINDOW = '0';
    await order();
    await order();
    expect(codes).toEqual([0, 5, 0, 5, 0, 0]);
  });

  test('is set by its former name too, which is said, and taken over from a file that has it', async () => {
    const shop = await shopping();
    const set = await shop.run('config', 'set', 'repeat-window', '20m');
    expect([set.code, set.stderr]).toEqual([
      0,
      'repeat-window is called duplicate-window now\nduplicate-window = 20m\n',
    ]);
    const path = JSON.parse((await shop.run('config', 'path', '-o', 'json')).stdout).config;
    writeFileSync(path, JSON.stringify({ preferences: { 'repeat-window': '5m' } }), { mode: 0o600 });
    for (const name of ['repeat-window', 'duplicate-window'])
      expect((await shop.run('config', 'get', name)).stdout).toBe('5m\n');
    expect((await shop.run('doctor')).stdout).not.toContain('nothing reads');
  });

  test('is none in a sandbox of a test: fifty orders are fifty', async () => {
    const workspace = makeWorkspace();
    try {
      const file = JSON.stringify({ ...orderBody('SHOP/test-success'), max_price: 1500 });
      writeFileSync(join(workspace.folder, 'order.json'), file);
      const line = 'errand order create --file mine.json --retries 0';
      const loop = `set -e; sed "s|SHOP|$ERRAND_SHOP_URL|" order.json > mine.json; for i in $(seq 50); do ${line} -o id; done`;
      const { stdout, stderr } = await errand(workspace, ['sandbox', 'exec', '--', 'sh', '-c', loop]);
      expect(new Set(stdout.trim().split('\n')).size, stderr).toBe(50);
    } finally {
      workspace.remove();
    }
  });
});

test('metadata of a request by hand cannot carry a reference', async () => {
  const shop = await shopping();
  write(shop, { metadata: { errand_reference: 'R' } });
  const { code, stderr } = await shop.run('api', 'POST', '/orders', '--input', 'order.json');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('errand_reference is where the reference travels'),
  ]);
  expect(await shop.orders()).toHaveLength(0);
});
