import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeWorkspace, prefer, type Workspace } from '../support/workspace.ts';
import { Shell } from './shell.ts';

let workspace: Workspace;
let shell: Shell;

beforeAll(async () => {
  workspace = makeWorkspace();
  prefer(workspace, { 'sandbox-speed': 100 });
  shell = new Shell(workspace, { columns: 120 });
});
afterAll(() => {
  shell.close();
  workspace.remove();
});

function write(name: string, ...slugs: string[]): void {
  const rows = slugs.map(
    (slug, at) =>
      `http://127.0.0.1:4848/shop/${slug},1,$50.00,Ada B,${at + 1} Main St,Austin,TX,78701,US,5125550100,k${at}`,
  );
  const headings =
    'product_url,quantity,max_price,name,address1,city,state,zip,country,phone,idempotency_key';
  writeFileSync(join(workspace.folder, name), [headings, ...rows, ''].join('\n'));
}

test('a row that was ordered says no more, and the command that does is named and runs', async () => {
  write('first.csv', 'test-undeliverable', 'test-out-of-stock');
  await shell.run('errand bulk upload first.csv --watch --timeout 10m');
  await shell.run('errand bulk list');
  const { text } = await shell.run('errand bulk get @1');
  expect(text).toMatch(/^state +✖ 1 failed$/m);
  expect(text).toMatch(/^ +2 +○ ordered /m);
  expect(text).toMatch(/^ +3 +✖ failed /m);
  expect(text).not.toMatch(/placed|delivered/);
  const command = /what became of its orders: (errand order list --since \S+)/.exec(text)?.[1] ?? '';
  const orders = await shell.run(command);
  expect(orders).toMatchObject({ code: 0, text: expect.stringContaining('✖ undeliverable') });
  expect(orders.text).toContain('✖ failed: out of stock');
});

test('rows that were ordered before count as ordered, and no screen contradicts another', async () => {
  write('second.csv', 'test-undeliverable', 'test-out-of-stock', 'test-success');
  const watched = await shell.run('errand bulk upload second.csv --watch --timeout 10m');
  expect(watched.text).toMatch(/2 new, of them 1 failed before; 1 placed already/);
  expect(watched.text).toMatch(/ROWS +ORDERED +REFUSED[^\n]*\n\S+ +✖ 1 failed +2 +2 +0 /);
  expect(watched.text).toContain('2 orders: 1 placed, 1 failed');
  expect(watched.text).toContain('1 of them ordered before, not ordered again');
  const { text: list } = await shell.run('errand bulk list');
  expect(list).toMatch(/ROWS +NEW ORDERS +NOT PLACED/);
  expect(list).toMatch(/\n1 +\S+ +✖ 1 not placed +2 +1 +1 /);
  expect(list).not.toMatch(/refused/i);
  const { text } = await shell.run('errand bulk get @1');
  expect(text).toMatch(/^state +✖ 1 failed\nrows +2\nordered +2\nrefused +0$/m);
  expect(text).toMatch(/^ +3 +✖ failed /m);
});
