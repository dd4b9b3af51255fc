import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { begin } from '../../support/run.ts';
import { errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';

const headings = 'product_url,max_price,name,address_line1,city,state,postal_code,phone_number';

/** Uploads an order of each product. The orders of slow ones stay pending for a minute. */
async function uploaded(shop: Shopping, ...slugs: readonly string[]): Promise<void> {
  await sent(shop, ...slugs);
  shop.service.pass(15_000);
}

async function sent(shop: Shopping, ...slugs: readonly string[]): Promise<void> {
  const rows = slugs.map(
    (slug, at) =>
      `${shop.service.product(slug)},$50.00,Ada Byron,${at + 1} Main St,Austin,TX,78701,5125550100`,
  );
  writeFileSync(join(shop.workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
  expect((await shop.run('bulk', 'upload', 'orders.csv')).code).toBe(0);
}

const cancel = (shop: Shopping, ...more: readonly string[]) => shop.run('bulk', 'cancel', 'orders', ...more);

async function outcomes(shop: Shopping, ...more: readonly string[]) {
  const { code, stdout, stderr } = await cancel(shop, '-o', 'csv', '--fields', 'row,outcome', ...more);
  return { code, rows: stdout.trim().split('\n').slice(1), stderr };
}

const statuses = async (shop: Shopping): Promise<string[]> =>
  (await shop.service.send('GET', '/orders?limit=500')).body.orders
    .map(({ status }: { status: string }) => status)
    .toSorted();

describe('bulk cancel', () => {
  test('cancels what is pending, tells of every row, and may be run again', async () => {
    const shop = await shopping();
    await uploaded(shop, 'test-slow', 'test-out-of-stock', 'test-success', 'test-slow');
    const first = await outcomes(shop);
    expect([first.code, first.rows]).toEqual([
      7,
      ['2,cancelled', '3,not_ordered', '4,too_late', '5,cancelled'],
    ]);
    expect(await statuses(shop)).toEqual(['cancelled', 'cancelled', 'order_failed', 'order_placed']);
    const again = await outcomes(shop);
    expect([again.code, again.rows]).toEqual([
      7,
      ['2,was_cancelled', '3,not_ordered', '4,too_late', '5,was_cancelled'],
    ]);
    const shown = await cancel(shop);
    expect(shown.stdout).toMatch(/^ +3 +not_ordered /m);
    expect(shown.stderr).toMatch(
      /^4 rows of orders: 2 cancelled before, 1 too late to cancel, 1 failed before$/m,
    );
  });

  test('of chosen rows that are not ordered yet names a command for these rows alone', async () => {
    const shop = await shopping();
    await sent(shop, 'test-slow', 'test-slow');
    const { code, stderr } = await cancel(shop, '--rows', '3');
    expect([code, stderr]).toEqual([
      5,
      expect.stringMatching(/then again: errand bulk cancel orders --rows 3\b/),
    ]);
  });

  test('cancels the orders from some retailers alone, by name or host', async () => {
    const shop = await shopping();
    const search = await shop.run('search', 'coffee', '--limit', '100', '-o', 'json');
    const listings: { retailer: string; url: string }[] = JSON.parse(search.stdout);
    const urls = ['harborgoods', 'pantryfolk'].map(
      (name) => listings.find(({ retailer }) => retailer === name)?.url,
    );
    const rows = [...urls, ...urls].map(
      (url, at) => `${url},$90.00,Ada Byron,${at + 1} Main St,Austin,TX,78701,5125550100`,
    );
    writeFileSync(join(shop.workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
    expect((await shop.run('bulk', 'upload', 'orders.csv')).code).toBe(0);
    // The service makes the orders one after another, and places none at once.
    while ((await statuses(shop)).length < 4) shop.service.pass(100);
    const other = await outcomes(shop, '--only', 'stallandbarrow');
    expect([other.code, other.rows]).toEqual([2, []]);
    expect(other.stderr).toContain(
      '--only: no row orders from "stallandbarrow"; the retailers are harborgoods, pantryfolk',
    );
    const shown = await cancel(shop, '--only', 'pantryfolk', '--dry-run');
    expect(shown.stderr).toMatch(/^2 rows of orders: 2 orders to cancel, at most \$180\.00$/m);
    const named = await outcomes(shop, '--only', 'PantryFolk');
    expect([named.code, named.rows]).toEqual([0, ['3,cancelled', '5,cancelled']]);
    const byHost = await outcomes(shop, '--only', 'harborgoods.example', '--rows', '2-3');
    expect([byHost.code, byHost.rows]).toEqual([0, ['2,cancelled']]);
    expect(await statuses(shop)).toEqual(['cancelled', 'cancelled', 'cancelled', 'pending']);
  });

  test('lists what an earlier upload has ordered, leaves it, and names the upload where it cancels several', async () => {
    const shop = await shopping();
    await uploaded(shop, 'test-slow', 'test-slow');
    const rows = [1, 2, 3].map(
      (at) =>
        `${shop.service.product('test-slow')},$50.00,Ada Byron,${at} Main St,Austin,TX,78701,5125550100`,
    );
    const invalid = rows[0]?.replace('78701', '7');
    writeFileSync(join(shop.workspace.folder, 'more.csv'), [headings, ...rows, invalid, ''].join('\n'));
    const sent = await shop.run('bulk', 'upload', 'more.csv', '--skip-duplicates', '--skip-invalid');
    expect(sent.code, sent.stderr).toBe(0);
    shop.service.pass(15_000);
    const own = await shop.run('bulk', 'cancel', 'more', '-o', 'csv', '--fields', 'row,outcome');
    expect(own.stdout.trim().split('\n').slice(1)).toEqual([
      ...['2,earlier', '3,earlier', '4,cancelled', '5,left_out'],
    ]);
    expect(own.code).toBe(0);
    expect((await statuses(shop)).filter((status) => status === 'cancelled')).toHaveLength(1);
    const both = await shop.run('bulk', 'cancel', 'more', 'orders');
    expect(both.stdout.split('\n')[0]).toMatch(/^UPLOAD +ROW +OUTCOME/);
    expect(both.stdout).toMatch(/^orders +2 +cancelled /m);
    expect(both.stdout).toMatch(/^more +4 +was_cancelled /m);
  });

  test('tells an order that was cancelled between its look and its cancellation as cancelled before', async () => {
    const shop = await shopping();
    await uploaded(shop, 'test-slow', 'test-slow');
    const { id } = (await shop.orders()).at(-1) ?? expect.fail();
    shop.losses.isHurt = (path) => path.endsWith('/cancel');
    let other: Promise<unknown> | undefined;
    // The first row waits at the proxy until another program has cancelled its order.
    shop.losses.before = () => (other ??= shop.service.send('POST', `/orders/${id}/cancel`));
    const { code, rows, stderr } = await outcomes(shop);
    expect([code, rows]).toEqual([0, ['2,was_cancelled', '3,cancelled']]);
    expect(stderr).not.toContain('is cancelled already');
  });

  test('ends with 0 where all is cancelled, and with 5 where nothing can be', async () => {
    const shop = await shopping();
    await uploaded(shop, 'test-slow', 'test-success');
    expect((await outcomes(shop, '--rows', '2')).code).toBe(0);
    expect((await outcomes(shop, '--rows', '3')).code).toBe(5);
    expect((await outcomes(shop, '--rows', '2')).rows).toEqual(['2,was_cancelled']);
  });

  test('takes rows by their numbers, and refuses a number without a row', async () => {
    const shop = await shopping();
    await uploaded(shop, 'test-slow', 'test-slow', 'test-slow');
    expect((await outcomes(shop, '--rows', '2-3')).rows).toEqual(['2,cancelled', '3,cancelled']);
    for (const [rows, message] of [
      ['4,9', '--rows 4,9: the upload has no row 9'],
      ['6-8', '--rows 6-8: the upload has no rows 6 to 8'],
      ['3-2', '--rows 3-2: "3-2" is no row and no range of rows; write 12-20,31'],
      ['2,,3', '--rows 2,,3: "" is no row and no range of rows; write 12-20,31'],
    ] as const) {
      const refused = await cancel(shop, '--rows', rows, '-o', 'json');
      expect([refused.code, errorOf(refused).message]).toEqual([2, message]);
    }
    expect(await statuses(shop)).toEqual(['cancelled', 'cancelled', 'pending']);
  });

  test('shows the requests and their amount with --dry-run, and sends none', async () => {
    const shop = await shopping();
    await uploaded(shop, 'test-slow', 'test-out-of-stock', 'test-success', 'test-slow');
    const before = await statuses(shop);
    const shown = await cancel(shop, '--dry-run');
    expect([shown.code, shown.stdout.match(/\/cancel"/g)?.length]).toEqual([0, 2]);
    expect(shown.stderr).toMatch(
      /^4 rows of orders: 2 orders to cancel, at most \$100\.00; 1 too late to cancel, 1 failed before$/m,
    );
    expect(await statuses(shop)).toEqual(before);
  });

  test('leaves the order that another command made for a row', async () => {
    const shop = await shopping();
    await uploaded(shop, 'test-out-of-stock', 'test-slow');
    const order = {
      products: [{ url: shop.service.product('test-out-of-stock') }],
      max_price: 5000,
      shipping_address: {
        ...{ first_name: 'Ada', last_name: 'Byron', address_line1: '1 Main St', city: 'Austin', state: 'TX' },
        ...{ postal_code: '78701', country: 'US', phone_number: '5125550100' },
      },
    };
    writeFileSync(join(shop.workspace.folder, 'single.json'), JSON.stringify(order));
    const made = await shop.run('order', 'create', '--file', 'single.json', '-o', 'id');
    expect(made.code, made.stderr).toBe(0);
    expect((await outcomes(shop)).rows).toEqual(['2,elsewhere', '3,cancelled']);
    expect(await statuses(shop)).toContain('pending');
  });

  test('goes on where it was cut short; a cancellation whose response is lost is told as done', async () => {
    const shop = await shopping();
    await uploaded(shop, 'test-slow', 'test-slow', 'test-slow');
    shop.losses.isHurt = (path) => path.endsWith('/cancel');
    lose(shop, 'reset-after');
    const found = await outcomes(shop, '--rows', '2', '--retries', '0');
    expect([found.code, found.rows]).toEqual([0, ['2,cancelled']]);
    lose(shop, 'reset-before', 'reset-before', 'reset-before');
    const cut = await outcomes(shop, '--retries', '0');
    expect(cut.code, cut.stderr).not.toBe(0);
    expect(cut.rows[0]).toBe('2,was_cancelled');
    expect(cut.rows).toHaveLength(3);
    lose(shop);
    const again = await outcomes(shop);
    expect([again.code, again.rows]).toEqual([0, ['2,was_cancelled', '3,cancelled', '4,cancelled']]);
  });

  test.each([
    ['bulk', 'cancel', 'orders'],
    ['undo', 'orders'],
  ])('that is killed wherever it is, and run twice at once, tells each row truly: %s', async (...line) => {
    const shop = await shopping();
    await uploaded(shop, ...Array.from({ length: 8 }, () => 'test-slow'));
    shop.losses.isHurt = (path) => path.endsWith('/cancel');
    for (const moment of ['request-came', 'work-done', 'responded'] as const) {
      const child = begin(shop.workspace, 'errand', line);
      const ended = new Promise((resolve) => child.once('close', resolve));
      shop.losses.onMoment = (reached) => {
        if (reached === moment) child.kill('SIGKILL');
      };
      await ended;
    }
    shop.losses.onMoment = () => {};
    const run = () => shop.run(...line, '-o', 'csv', '--fields', 'row,outcome');
    for (const { code, stdout, stderr } of await Promise.all([run(), run()])) {
      expect(code, stderr).toBe(0);
      expect(stderr).not.toContain('is cancelled already');
      const rows = stdout.trim().split('\n').slice(1);
      expect(rows.map((row) => row.split(',')[0])).toEqual(['2', '3', '4', '5', '6', '7', '8', '9']);
      for (const row of rows) expect(row).toMatch(/,(?:was_)?cancelled$/);
    }
    expect(await statuses(shop)).toEqual(Array(8).fill('cancelled'));
    expect((await shop.run('reconcile')).code).toBe(0);
    expect((await shop.run('audit', 'verify')).code).toBe(0);
  });
});
