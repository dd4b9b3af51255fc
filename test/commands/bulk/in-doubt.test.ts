import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cutOff, lose, type Shopping, shopping } from '../../support/shopping.ts';

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
});
