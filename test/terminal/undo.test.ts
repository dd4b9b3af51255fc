import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { embeddedShop, errand, orderOf } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { Shell } from './shell.ts';

describe('undo on a terminal', () => {
  let workspace: Workspace;
  let shells: Shell[];
  beforeEach(() => {
    workspace = makeWorkspace();
    shells = [];
  });
  afterEach(() => {
    for (const shell of shells) shell.close();
    workspace.remove();
  });

  function open(): Shell {
    const shell = new Shell(workspace, { columns: 160 });
    shells.push(shell);
    return shell;
  }

  const statuses = async (): Promise<string[]> =>
    (await errand(workspace, ['order', 'list', '-o', 'csv', '--fields', 'status'])).stdout
      .trim()
      .split('\n')
      .slice(1);

  async function slow(street: number): Promise<string> {
    return `errand order create --product ${await embeddedShop()}test-slow --max-price '$50' --ship-to home --reference REQ-${street} -o id`;
  }

  test('takes back the last order of this terminal, once, and none of another', async () => {
    const [shell, other] = [open(), open()];
    const made = async (street: number): Promise<string> =>
      /^[\da-f-]{36}$/m.exec((await shell.run(await slow(street))).text)?.[0] ?? '';
    const [first, last] = [await made(1), await made(2)];
    await other.run(await slow(3));
    await orderOf(workspace, 'test-slow');
    const undone = await shell.run('errand undo --yes');
    expect([undone.code, undone.said], undone.text).toEqual([0, expect.stringContaining(`order ${last} (`)]);
    expect(await statuses()).toEqual(['pending', 'pending', 'cancelled', 'pending']);
    const again = await shell.run('errand undo --yes');
    expect([again.code, again.text]).toEqual([0, expect.stringContaining('cancelled before')]);
    expect(await statuses()).toEqual(['pending', 'pending', 'cancelled', 'pending']);
    expect((await shell.run(`errand undo ${first} --yes`)).code).toBe(0);
    expect(await statuses()).toEqual(['pending', 'pending', 'cancelled', 'cancelled']);
  });

  test('takes the number of a row that was just listed, and the beginning of an id', async () => {
    const shell = open();
    await shell.run(await slow(1));
    await shell.run(await slow(2));
    const id = await orderOf(workspace, 'test-slow');
    const listed = await shell.run('errand order list');
    expect(listed.code, listed.text).toBe(0);
    expect((await shell.run('errand undo @2 --yes')).code).toBe(0);
    expect((await statuses()).filter((status) => status === 'cancelled')).toHaveLength(1);
    const undone = await shell.run(`errand undo ${id.slice(0, 8)} --yes`);
    expect([0, 5], undone.text).toContain(undone.code);
    await shell.run('errand undo @1 --yes');
    expect((await statuses()).filter((status) => status === 'cancelled')).toHaveLength(2);
  });

  test('asks first, and leaves what it only found', async () => {
    const [shell, other] = [open(), open()];
    const line = await slow(1);
    await other.run(line);
    const found = await shell.run(line);
    expect(found.code, found.text).toBe(0);
    const nothing = await shell.run('errand undo --yes');
    expect([nothing.code, nothing.text]).toEqual([
      5,
      expect.stringContaining('this terminal has sent nothing to this service: there is nothing to undo'),
    ]);
    const declined = await other.run("errand undo < <(printf 'n\\n')");
    expect(declined.code, declined.text).not.toBe(0);
    expect(await statuses()).toEqual(['pending']);
  });

  test('takes back of an upload what this terminal has sent', async () => {
    const [shell, other] = [open(), open()];
    const shop = await embeddedShop();
    const rows = ['test-slow', 'test-out-of-stock'].map(
      (slug, at) => `${shop}${slug},5000,Ada Byron,${at} Main St,Austin,TX,78701,5125550100`,
    );
    writeFileSync(
      join(workspace.folder, 'gifts.csv'),
      ['product_url,max_price_cents,name,address,city,state,zip,phone', ...rows, ''].join('\n'),
    );
    expect((await other.run('errand bulk upload gifts.csv -o id')).code).toBe(0);
    await expect.poll(async () => (await statuses()).includes('order_failed'), { interval: 100 }).toBe(true);
    expect((await shell.run('errand bulk retry gifts -o id')).code).toBe(0);
    const undone = await shell.run('errand undo --yes');
    expect(undone.said, undone.text).toContain('1 row of gifts');
    expect(await statuses()).toContain('pending');
  });

  test('takes back a whole upload', async () => {
    const shell = open();
    const shop = await embeddedShop();
    const rows = [1, 2, 3].map(
      (at) => `${shop}test-slow,5000,Ada Byron,${at} Main St,Austin,TX,78701,5125550100`,
    );
    writeFileSync(
      join(workspace.folder, 'gifts.csv'),
      ['product_url,max_price_cents,name,address,city,state,zip,phone', ...rows, ''].join('\n'),
    );
    expect((await shell.run('errand bulk upload gifts.csv --batch-size 2 -o id')).code).toBe(0);
    await expect.poll(async () => (await statuses()).length, { interval: 100 }).toBe(3);
    const undone = await shell.run('errand undo --yes');
    expect([undone.code, undone.said], undone.text).toEqual([
      0,
      expect.stringContaining('3 rows of gifts: 3 cancelled'),
    ]);
    expect(await statuses()).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });
});
