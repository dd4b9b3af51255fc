import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { begin } from '../../support/run.ts';
import { cutOff, errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';

const headings =
  'errand_reference,product_url,quantity,max_price,name,address_line1,city,state,postal_code,phone_number';

/** Orders REQ-1, REQ-2 … of so many units, and waits until they are delivered. */
async function delivered(shop: Shopping, ...quantities: readonly number[]): Promise<readonly string[]> {
  const rows = quantities.map(
    (quantity, at) =>
      `REQ-${at + 1},${shop.service.product('test-success')},${quantity},$150.00,Ada Byron,${at + 1} Main St,Austin,TX,78701,5125550100`,
  );
  writeFileSync(join(shop.workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
  const placed = await shop.run('bulk', 'upload', 'orders.csv');
  expect(placed.code, placed.stderr).toBe(0);
  shop.service.pass(3600_000);
  const { body } = await shop.service.send('GET', '/orders?limit=500');
  const ids = new Map<string, string>(
    body.orders.map(({ id, metadata }: { id: string; metadata: { errand_reference: string } }) => [
      metadata.errand_reference,
      id,
    ]),
  );
  return quantities.map((_, at) => ids.get(`REQ-${at + 1}`) ?? expect.fail(`no order REQ-${at + 1}`));
}

function write(shop: Shopping, ...lines: readonly string[]): void {
  writeFileSync(join(shop.workspace.folder, 'returns.csv'), `${lines.join('\n')}\n`);
}

const giveBack = (shop: Shopping, ...more: readonly string[]) =>
  shop.run('bulk', 'return', 'returns.csv', ...more);

async function outcomes(shop: Shopping, ...more: readonly string[]) {
  const { code, stdout, stderr } = await giveBack(shop, '-o', 'csv', '--fields', 'row,outcome', ...more);
  return { code, rows: stdout.trim().split('\n').slice(1), stderr };
}

const returns = async (
  shop: Shopping,
): Promise<readonly { order_id: string; items: { quantity: number }[] }[]> =>
  (await shop.service.send('GET', '/returns?limit=100')).body.return_requests;

describe('bulk return', () => {
  test('requests one return for each row, by id or reference, and none twice', async () => {
    const shop = await shopping();
    const [first, second, third] = await delivered(shop, 1, 3, 2);
    write(
      shop,
      'order,reference,reason,quantity,notes',
      `${first},,damaged,,torn`,
      ',REQ-2,wrong size,1,',
      `${third},,,,`,
    );
    const made = await outcomes(shop, '--reason', 'no_longer_needed');
    expect(made).toMatchObject({ code: 0, rows: ['2,requested', '3,requested', '4,requested'] });
    const all = await returns(shop);
    const quantities = Object.fromEntries(all.map(({ order_id: id, items }) => [id, items[0]?.quantity]));
    expect(quantities).toEqual({ [String(first)]: 1, [String(second)]: 1, [String(third)]: 2 });
    const again = await outcomes(shop, '--reason', 'no_longer_needed');
    expect(again).toMatchObject({ code: 0, rows: ['2,was_requested', '3,was_requested', '4,was_requested'] });
    for (let days = 5; days <= 40; days += 5) {
      shop.service.pass(5 * 24 * 3600_000);
      shop.later(days * 24 * 3600_000);
      expect((await shop.run('wallet')).code).toBe(0);
    }
    const later = await outcomes(shop, '--reason', 'no_longer_needed');
    expect(later.rows, later.stderr).toHaveLength(3);
    expect(later.rows.filter((row) => row.endsWith(',requested'))).toEqual([]);
    expect(await returns(shop)).toHaveLength(3);
  });

  test('checks the whole file first, and names each row that is wrong', async () => {
    const shop = await shopping();
    const [first, second] = await delivered(shop, 1, 2);
    const unknown = '00000000-0000-4000-8000-000000000001';
    write(
      shop,
      'Order ID,Item,Reason,Quantity,Colour',
      `${first},,damaged,,red`,
      'x,,damaged,,',
      `${second},,broken,,`,
      `${second},,damaged,1.5,`,
      ',,damaged,,',
      `${second},12,damaged,,`,
    );
    const refused = await giveBack(shop, '-o', 'json');
    expect(refused.code, refused.stderr).toBe(7);
    expect(errorOf(refused).details.rows).toEqual([
      { row: 3, text: 'order "x" is not the id of an order' },
      { row: 4, text: expect.stringMatching(/^reason "broken" is none of damaged, /) },
      { row: 5, text: 'quantity "1.5" is not a whole number from 1' },
      { row: 6, text: 'it names no order: order and reference are empty' },
      { row: 7, text: expect.stringMatching(/^item "12" is not the id of a line/) },
    ]);
    write(
      shop,
      'order,reason,quantity',
      `${first},damaged,`,
      `${first},damaged,`,
      `${second},damaged,3`,
      `${unknown},damaged,`,
    );
    const twice = await giveBack(shop, '-o', 'json');
    expect(errorOf(twice).details.rows).toEqual([
      { row: 3, text: 'it returns what row 2 returns, too; write one row with the quantity of both' },
      { row: 4, text: `quantity 3 is more than the 2 that were bought with order ${second}` },
      { row: 5, text: expect.stringContaining(unknown) },
    ]);
    write(shop, 'order,reason,quantity', `${first},damaged,`, `${second},damaged,3`, `${unknown},damaged,`);
    const missing = await giveBack(shop, '-o', 'json');
    expect([missing.code, errorOf(missing).details.rows]).toEqual([
      7,
      [
        { row: 3, text: `quantity 3 is more than the 2 that were bought with order ${second}` },
        { row: 4, text: expect.stringContaining(unknown) },
      ],
    ]);
    write(shop, 'colour,reason', 'x,damaged');
    expect((await giveBack(shop)).stderr).toContain('no column names the orders');
    write(shop, 'order,Pieces,reason', `${second},1,damaged`);
    expect((await giveBack(shop)).stderr).toContain(
      '"Pieces" looks like quantity and is not used: head it quantity',
    );
    write(shop, 'order,Line,reason', `${second},1,damaged`);
    expect((await giveBack(shop)).stderr).toContain('"Line" looks like item and is not used');
    write(shop, 'order,reference,reason', `${second},REQ-1,damaged`, `${first},REQ-1,damaged`);
    expect(errorOf(await giveBack(shop, '-o', 'json')).details.rows).toEqual([
      { row: 2, text: `order ${second} has the reference REQ-2, not REQ-1` },
    ]);
    write(shop, 'order,reference,reason', `${second},,damaged`, ',REQ-2,damaged');
    expect(errorOf(await giveBack(shop, '-o', 'json')).details.rows).toMatchObject([{ row: 3 }]);
    write(shop, 'order,reason');
    expect((await giveBack(shop)).code).toBe(0);
    expect(await returns(shop)).toEqual([]);
  });

  test('says of references that no order has that they may lack their namespace', async () => {
    const shop = await shopping();
    await delivered(shop, 1);
    write(shop, 'reference,reason', 'REQ-7,damaged');
    const refused = await giveBack(shop);
    expect(refused.stderr).toContain('1 row cannot be returned so; nothing was requested');
    expect(refused.stderr).toMatch(/^ {2}row 2: no order has the reference REQ-7$/m);
    expect(refused.stderr).toContain('hint: Where the orders were placed with a namespace, give it, too');
    expect((await giveBack(shop, '--namespace', 'north')).stderr).not.toContain('hint:');
  });

  test('takes a reference with its namespace, as it is shown elsewhere', async () => {
    const shop = await shopping();
    const headings =
      'requisition,product_url,max_price,name,address_line1,city,state,postal_code,phone_number';
    const line = `R-1,${shop.service.product('test-success')},$50.00,Ada Byron,1 Main St,Austin,TX,78701,5125550100`;
    writeFileSync(join(shop.workspace.folder, 'orders.csv'), `${headings}\n${line}\n`);
    const placed = await shop.run(
      ...['bulk', 'upload', 'orders.csv', '--reference-column', 'requisition', '--namespace', 'north'],
    );
    expect(placed.code, placed.stderr).toBe(0);
    shop.service.pass(60_000);
    write(shop, 'reference,reason', 'north:R-1,damaged');
    const asked = await giveBack(shop, '-o', 'json');
    expect(JSON.parse(asked.stdout)).toMatchObject([{ outcome: 'requested', reference: 'north:R-1' }]);
    write(shop, 'reference,reason', 'south:R-1,damaged');
    expect((await giveBack(shop)).stderr).toContain('row 2: no order has the reference south:R-1');
  });

  test('shows the requests with --dry-run, and sends none', async () => {
    const shop = await shopping();
    await delivered(shop, 1, 1);
    write(shop, 'reference,reason', 'REQ-1,damaged', 'REQ-2,damaged');
    const shown = await giveBack(shop, '--dry-run');
    expect([shown.code, shown.stdout.match(/"method": "POST"/g)?.length]).toEqual([0, 2]);
    expect(shown.stderr).toMatch(/^returns\.csv: 2 rows, 2 units to return, of orders charged \$\d+\.\d\d$/m);
    expect(await returns(shop)).toEqual([]);
  });

  test('requests nothing where fewer units are left than are to be returned', async () => {
    const shop = await shopping();
    const [first] = await delivered(shop, 2, 1);
    expect((await shop.run('return', 'create', '--order', String(first), '--reason', 'damaged')).code).toBe(
      0,
    );
    write(shop, 'reference,reason,quantity', 'REQ-1,damaged,1', 'REQ-2,damaged,');
    const refused = await giveBack(shop, '-o', 'json');
    expect([refused.code, errorOf(refused).details.rows]).toEqual([
      7,
      [
        {
          row: 2,
          text: expect.stringMatching(/^quantity 1 is more than is left: 2 of 2 are in other returns/),
        },
      ],
    ]);
    expect(await returns(shop)).toHaveLength(1);
  });

  test('two at once request each return once, and both tell it', async () => {
    const shop = await shopping();
    await delivered(shop, 1, 1, 1, 1);
    write(shop, 'reference,reason', ...[1, 2, 3, 4].map((at) => `REQ-${at},damaged`));
    const both = await Promise.all([outcomes(shop), outcomes(shop)]);
    for (const { code, rows, stderr } of both) {
      expect(code, stderr).toBe(0);
      expect(rows.every((row) => row.endsWith('requested'))).toBe(true);
    }
    expect(await returns(shop)).toHaveLength(4);
    expect((await shop.run('order', 'journal', 'list', '-o', 'id')).stdout).toBe('');
  });

  test('of which a response is lost is in doubt, and the same file settles it', async () => {
    const shop = await shopping();
    await delivered(shop, 1, 1);
    write(shop, 'reference,reason', 'REQ-1,damaged', 'REQ-2,damaged');
    const lost = await cutOff(shop, () =>
      giveBack(shop, '-o', 'csv', '--fields', 'row,outcome', '--retries', '0'),
    );
    expect([lost.code, lost.stdout.split('\n')[1]]).toEqual([10, '2,in_doubt']);
    const again = await outcomes(shop);
    expect([again.code, again.rows[0]]).toEqual([0, '2,was_requested']);
    expect(await returns(shop)).toHaveLength(2);
    lose(shop);
  });

  test('that was killed returns nothing twice', async () => {
    const shop = await shopping();
    await delivered(shop, 1, 1, 1, 1, 1, 1);
    write(shop, 'reference,reason', ...[1, 2, 3, 4, 5, 6].map((at) => `REQ-${at},damaged`));
    for (const moment of ['request-came', 'work-done', 'responded'] as const) {
      const child = begin(shop.workspace, 'errand', ['bulk', 'return', 'returns.csv']);
      const ended = new Promise((resolve) => child.once('close', resolve));
      shop.losses.onMoment = (reached) => {
        if (reached === moment) child.kill('SIGKILL');
      };
      await ended;
    }
    shop.losses.onMoment = () => {};
    const last = await outcomes(shop);
    expect(last.code, last.stderr).toBe(0);
    const all = await returns(shop);
    expect([all.length, new Set(all.map(({ order_id: id }) => id)).size]).toEqual([6, 6]);
  });
});
