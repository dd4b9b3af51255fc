import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hangsAfterMs } from '../../support/limits.ts';
import { orderBody, rowBody } from '../../support/order-body.ts';
import { errand, type Finished, shell } from '../../support/run.ts';
import { errorOf, type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const day = 24 * 3600_000;

/** The commands that an error proposes, as whoever reads it types them. */
const waysOn = (refused: Finished, name: string): string[] => {
  expect(refused.code, refused.stderr).toBe(5);
  return errorOf(refused).next.map(({ command }: { command: string }) =>
    command.replace(/ NAME$/, ` ${name}`),
  );
};

/** Runs what an error proposes, and nothing else. @returns how many orders came of each command. */
async function tryAll(shop: Shopping, refused: Finished, workspace: Workspace = shop.workspace) {
  const made: Record<string, number> = {};
  for (const command of waysOn(refused, 'december')) {
    // It cancels what the other ways are about, and works as long as that is pending.
    if (command.startsWith('errand order cancel ')) continue;
    const before = (await shop.orders()).length;
    const { code, stderr } = await shell(workspace, command);
    expect(code, `${command}\n${stderr}`).toBe(0);
    shop.service.pass(60_000);
    const added = async () => (await shop.orders()).length - before;
    const flag = / (--\S+)(?: december)?$/.exec(command)?.[1] ?? command.split(' ').slice(1, 3).join(' ');
    made[flag] = await added();
  }
  return made;
}

const json = ['-o', 'json'] as const;

/** Writes a file of orders for people who live at these numbers. */
function writeRows(
  { service }: Shopping,
  { folder }: Workspace,
  file: string,
  houses: readonly number[],
  change: Readonly<Record<string, string>> = {},
): void {
  const rows = houses.map((house) => ({
    ...rowBody(service.product('test-success')),
    ...{ address_line1: `${house} Main St`, max_price: '$50.00' },
    ...change,
  }));
  const lines = rows.map((row) => Object.values(row).join(','));
  writeFileSync(join(folder, file), [Object.keys(rows[0] ?? {}).join(','), ...lines, ''].join('\n'));
}

describe('whoever hits the rule by mistake finds the way on in the message, and it works as it is typed', () => {
  test('the same command twice', async () => {
    const shop = await shopping();
    expect((await shop.order()).code).toBe(0);
    const made = await tryAll(shop, await shop.order(...json));
    expect(made).toEqual({ 'order get': 0, '--reference': 1, '--new': 1 });
  });

  test('another ceiling, and another spelling of the URL', async () => {
    const shop = await shopping();
    expect((await shop.order()).code).toBe(0);
    const url = `${shop.service.product('test-success')}?utm_source=mail`;
    for (const change of [
      ['--max-price-cents', '5100'],
      ['--product', url],
    ]) {
      const made = await tryAll(shop, await shop.order(...change, ...json));
      expect(made).toMatchObject({ '--new': 1 });
    }
  });

  test('after a cancellation it is ordered, and said', async () => {
    const shop = await shopping();
    const slow = ['--product', shop.service.product('test-slow')];
    const { stdout } = await shop.order(...slow, '-o', 'id');
    expect((await shop.run('order', 'cancel', stdout.trim())).code).toBe(0);
    const again = await shop.order(...slow);
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringMatching(/^attempt 2; the first .* was cancelled$/m),
    ]);
  });

  test('after a return', async () => {
    const shop = await shopping();
    await shop.run('config', 'set', 'duplicate-window', '20d');
    const id = (await shop.order('-o', 'id')).stdout.trim();
    shop.service.pass(3600_000);
    const returned = ['return', 'create', '--order', id, '--reason', 'damaged', '--notes', 'x'];
    expect((await shop.run(...returned)).code).toBe(0);
    await vi.waitFor(
      async () => {
        shop.service.pass(day / 4);
        const { body } = await shop.service.send('GET', '/returns');
        expect(body.return_requests[0].status).toBe('credited');
      },
      { timeout: hangsAfterMs },
    );
    expect(await tryAll(shop, await shop.order(...json))).toEqual({ 'order get': 0, '--again': 1 });
  });

  test('a file that holds a row twice says so, and orders both once', async () => {
    const shop = await shopping();
    writeRows(shop, shop.workspace, 'a.csv', [1, 2, 2]);
    const sent = await shop.run('bulk', 'upload', 'a.csv');
    expect([sent.code, sent.stderr]).toEqual([
      0,
      expect.stringContaining(
        'row 4 as row 3; each is an order of its own, so take out what is there by mistake',
      ),
    ]);
    const same = await shop.run('bulk', 'upload', 'a.csv');
    expect(same.stderr).toContain('for another occasion: errand bulk upload a.csv --run NAME');
    shop.service.pass(60_000);
    expect(await shop.orders()).toHaveLength(3);
  });

  test('a file that a spreadsheet has saved anew, with a further row', async () => {
    const shop = await shopping();
    writeRows(shop, shop.workspace, 'a.csv', [1, 2]);
    expect((await shop.run('bulk', 'upload', 'a.csv')).code).toBe(0);
    shop.service.pass(60_000);
    const respelt = { name: 'ADA BYRON', phone_number: '(512) 555-0100', max_price: '$51.00' };
    writeRows(shop, shop.workspace, 'b.csv', [1, 2, 3], respelt);
    const refused = await shop.run('bulk', 'upload', 'b.csv', ...json);
    expect(await tryAll(shop, refused)).toEqual({ '--skip-duplicates': 1, '--run': 3 });
  });

  test('a corrected file orders what had failed, and says what it leaves', async () => {
    const shop = await shopping();
    writeRows(shop, shop.workspace, 'a.csv', [1, 2], { max_price: '$1.00' });
    expect((await shop.run('bulk', 'upload', 'a.csv')).code).toBe(0);
    shop.service.pass(60_000);
    writeRows(shop, shop.workspace, 'a.csv', [1, 2], { max_price: '$50.00' });
    const sent = await shop.run('bulk', 'upload', 'a.csv');
    expect([sent.code, sent.stderr]).toEqual([0, expect.stringMatching(/^2 new, of them 2 failed before$/m)]);
  });

  test('a gift for another person at the same address is no question', async () => {
    const shop = await shopping();
    expect((await shop.order()).code).toBe(0);
    expect((await shop.order('--first-name', 'Bob', '--gift', '--gift-message', 'hi')).code).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
  });

  test('another machine, with the same reference for something else', async () => {
    const shop = await shopping();
    expect((await shop.order('--reference', 'R-1')).code).toBe(0);
    const other = makeWorkspace(shop.workspace.environment);
    onTestFinished(() => other.remove());
    const url = shop.service.product('test-success');
    writeFileSync(join(other.folder, 'order.json'), JSON.stringify(orderBody(url)));
    const order = ['order', 'create', '--file', 'order.json', '--reference', 'R-1'];
    const same = await errand(other, order);
    expect([same.code, same.stderr]).toEqual([0, expect.stringContaining('nothing was ordered twice')]);
    const more = await errand(other, [...order, '--product', `${url},quantity=2`, ...json]);
    expect(await tryAll(shop, more, other)).toEqual({ 'order get': 0, '--reference': 1 });
  });
});
