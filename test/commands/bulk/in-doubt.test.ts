import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { cutOff, errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';

const headings = 'product_url,max_price,name,address_line1,city,state,postal_code,country,phone_number';

/** Writes a file with a single order. @returns its path. */
function file(shop: Shopping, name: string, { price = '$50.00', delimiter = ',', end = '\n' } = {}): string {
  const row = `${shop.service.product('test-success')},${price},A B,1 Main St,Austin,TX,78701,US,+15125550100`;
  const path = join(shop.workspace.folder, name);
  writeFileSync(path, [headings, row, ''].join(end).replaceAll(',', delimiter));
  return path;
}

const upload = (shop: Shopping, path: string, ...more: readonly string[]) =>
  shop.run('bulk', 'upload', path, '--retries', '0', ...more);

/** The batches that the service has. */
const batches = async (shop: Shopping): Promise<unknown[]> => {
  const { stdout } = await shop.run('bulk', 'list', '-o', 'id');
  return stdout.split('\n').filter((line) => line !== '');
};

/** Uploads `path` and loses the response. */
const untilInDoubt = async (shop: Shopping, path: string): Promise<void> => {
  const lost = await cutOff(shop, () => upload(shop, path));
  expect(lost.code, lost.stderr).toBe(10);
};

describe('a batch in doubt', () => {
  test('counts for --max-total, since it is sent again', async () => {
    const shop = await shopping();
    const path = file(shop, 'a.csv');
    lose(shop, 'reset-before', 'reset-before', 'reset-before', 'reset-before');
    expect((await upload(shop, path)).code).toBe(10);
    const refused = await upload(shop, path, '--max-total', '$50', '-o', 'json');
    expect([refused.code, errorOf(refused).code]).toEqual([11, 'max_total_exceeded']);
    expect(await batches(shop)).toEqual([]);
    // The service takes a dollar for each order.
    const taken = await upload(shop, path, '--max-total', '$51');
    expect(taken.code, taken.stderr).toBe(0);
    expect(await batches(shop)).toHaveLength(1);
  });

  test.each<[string, Parameters<typeof file>[2]]>([
    ['the same bytes', {}],
    ['lines that end in CRLF', { end: '\r\n' }],
    ['semicolons between the cells', { delimiter: ';' }],
    ['the price without its sign', { price: '50.00' }],
  ])('is settled by an upload of the same rows under another file name: %s', async (_, spelling) => {
    const shop = await shopping();
    await untilInDoubt(shop, file(shop, 'a.csv'));
    const made = await batches(shop);
    const again = await upload(shop, file(shop, 'b.csv', spelling), '-o', 'id');
    expect([again.code, again.stdout], again.stderr).toEqual([0, `${made.join()}\n`]);
    expect(again.stderr).toMatch(/sent before, as a\.csv, and are in doubt since \S+; settling that batch/);
    expect(made).toHaveLength(1);
    expect(await batches(shop)).toEqual(made);
    expect((await shop.run('order', 'journal', 'list', '-o', 'id')).stdout).toBe('');
  });

  test('that never came to the service is sent once, by whichever file', async () => {
    const shop = await shopping();
    lose(shop, 'reset-before', 'reset-before', 'reset-before', 'reset-before');
    const lost = await upload(shop, file(shop, 'a.csv'));
    expect(lost.code, lost.stderr).toBe(10);
    expect((await upload(shop, file(shop, 'b.csv'), '--notify-on-complete')).code).toBe(0);
    expect((await upload(shop, file(shop, 'a.csv'))).code).toBe(0);
    expect(await batches(shop)).toHaveLength(1);
  });

  test('that retries rows keeps them from being written to a file, since they may be ordered already', async () => {
    const shop = await shopping();
    const path = file(shop, 'a.csv', { price: '$10.00' });
    const sent = await upload(shop, path, '-o', 'id');
    expect(sent.code, sent.stderr).toBe(0);
    shop.service.pass(60_000);
    const lost = await cutOff(shop, () =>
      shop.run('bulk', 'retry', 'a', '--raise-ceiling', '$50', '--retries', '0'),
    );
    expect(lost.code, lost.stderr).toBe(10);
    for (const named of ['a', sent.stdout.trim()]) {
      const written = await shop.run('bulk', 'retry', named, '--to', '-', '-o', 'json');
      expect([written.code, written.stdout], written.stderr).toEqual([10, '']);
      expect(errorOf(written)).toMatchObject({ category: 'in_doubt', outcome: 'unknown' });
      expect(errorOf(written).next[0].command).toMatch(/^errand (bulk|order journal) resume /);
    }
    expect((await shop.run('order', 'journal', 'resume', '--all')).code).toBe(0);
    const settled = await shop.run('bulk', 'retry', 'a', '--to', '-');
    expect([settled.code, settled.stdout], settled.stderr).toEqual([0, '']);
  });

  test('that never came is not sent again once somebody else has ordered for its reference', async () => {
    const shop = await shopping();
    const path = file(shop, 'a.csv');
    const again = (...more: readonly string[]) =>
      upload(shop, path, '--reference-column', 'phone_number', '-o', 'json', ...more);
    lose(shop, ...Array.from({ length: 6 }, () => 'reset-before' as const));
    expect((await again()).code).toBe(10);
    lose(shop);
    // A user whose keys the service keeps apart.
    const other = { ...orderBody(shop.service.product('test-success')), idempotency_key: 'of-another' };
    const metadata = { errand_reference: '+15125550100' };
    const { status, body } = await shop.service.send('POST', '/orders', { ...other, metadata });
    expect(status).toBe(201);
    for (const shownLater of [true, false]) {
      const ended = await again();
      expect([ended.code, errorOf(ended)]).toEqual([
        5,
        expect.objectContaining({
          code: 'ordered_elsewhere',
          details: { order_id: body.id },
          outcome: shownLater ? 'unknown' : 'not_sent',
          retryable: true,
        }),
      ]);
      shop.service.pass(6 * 60_000);
    }
    const met = await again('--skip-duplicates');
    expect([met.code, met.stderr]).toEqual([
      5,
      expect.stringContaining('the order of its reference or key differs'),
    ]);
    expect(await shop.orders()).toHaveLength(1);
    expect(await batches(shop)).toEqual([]);
    expect((await shop.run('order', 'journal', 'list', '-o', 'id')).stdout).toBe('');
  });

  test('that was given up is ordered again by --again alone, once it was looked for', async () => {
    for (const named of [[], ['--reference-column', 'phone_number']]) {
      const shop = await shopping();
      const path = file(shop, 'a.csv');
      lose(shop, ...Array.from({ length: 6 }, () => 'reset-before' as const));
      expect((await upload(shop, path, ...named)).code).toBe(10);
      lose(shop);
      const key = (await shop.run('order', 'journal', 'list', '-o', 'id')).stdout.trim();
      expect((await shop.run('order', 'journal', 'forget', key)).code).toBe(0);
      const refused = await upload(shop, path, ...named, '-o', 'json');
      expect([refused.code, errorOf(refused).code]).toEqual([5, 'rows_unknown']);
      const [look, again] = errorOf(refused).next;
      expect(look.command).toBe('errand order list');
      expect(again).toMatchObject({
        command: expect.stringMatching(/ --again$/),
        when: 'to order what is not there',
      });
      const sent = await upload(shop, path, ...named, '--again');
      expect(sent.code, sent.stderr).toBe(0);
      expect(await batches(shop)).toHaveLength(1);
    }
  });
});
