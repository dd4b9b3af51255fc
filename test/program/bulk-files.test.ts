import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand, shell } from './run.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const headings = 'product_url,max_price_cents,name,address,city,zip,phone';

/** A batch whose only row has failed. */
async function failedBatch(): Promise<string> {
  await errand(workspace, ['config', 'set', 'sandbox-speed', '50']);
  const url = (await shell(workspace, 'errand sandbox products -o id | grep out-of-stock')).stdout.trim();
  const csv = `${headings}\n${url},5000,Ada Byron,1 Main St,Austin,78701,5125550100\n`;
  writeFileSync(join(workspace.folder, 'fail.csv'), csv);
  return (await errand(workspace, ['bulk', 'upload', 'fail.csv', '--watch', '-o', 'id'])).stdout.trim();
}

test('a refused upload names the check that reads the file the same way: maps, encoding and delimiter with it', async () => {
  const csv =
    'Item;Limit;Ship To;address;city;zip;phone\nhttps://x.example/1;12.50;Ada;1 Main St;Austin;787;5125550100\n';
  writeFileSync(join(workspace.folder, 'theirs.csv'), csv);
  const flags = ['--map', 'Item=product_url', '--map', 'Limit=max_price_cents', '--map', 'Ship To=name'];
  const more = ['--delimiter', 'semicolon', '--encoding', 'latin1'];
  const refused = await errand(workspace, ['bulk', 'upload', 'theirs.csv', ...flags, ...more, '-o', 'json']);
  expect(refused.code).toBe(7);
  const line = refused.stderr.trim().split('\n').at(-1) ?? '';
  const [{ command }] = JSON.parse(line).error.next;
  const { code, stdout } = await shell(workspace, `${command} -o csv --fields row,column`);
  expect(code).toBe(7);
  expect(stdout.replaceAll('\r', '')).toBe('row,column\n2,max_price_cents\n2,name\n2,postal_code\n');
});

test('bulk retry --to - prints the failed rows, and makes no file of that name', async () => {
  const batch = await failedBatch();
  const { code, stdout } = await errand(workspace, ['bulk', 'retry', batch, '--to', '-']);
  expect(code).toBe(0);
  expect(stdout.split('\n')).toHaveLength(3);
  expect(readdirSync(workspace.folder)).not.toContain('-');
  const nowhere = await errand(workspace, ['bulk', 'retry', batch, '--to', 'none/failed.csv']);
  expect(nowhere).toMatchObject({ code: 2, stdout: '' });
  expect(nowhere.stderr).toContain('none/failed.csv cannot be written: its folder is not there');
  const both = await errand(workspace, ['bulk', 'retry', batch, '--to', 'failed.csv', '--watch']);
  expect(both.code).toBe(2);
  expect(both.stderr).toContain('--watch does not go with it');
  expect(readdirSync(workspace.folder)).not.toContain('failed.csv');
});

test('a file that was uploaded goes up again though the wallet could not cover it once more; another one does not', async () => {
  await errand(workspace, ['config', 'set', 'sandbox-speed', '50']);
  const url = (await shell(workspace, 'errand sandbox products -o id | grep test-success')).stdout.trim();
  const csv = (name: string): string =>
    [
      headings,
      ...Array.from(
        { length: 12 },
        (_, row) => `${url},6000,${name} ${row},1 Main St,Austin,78701,5125550100`,
      ),
    ]
      .concat('')
      .join('\n');
  writeFileSync(join(workspace.folder, 'orders.csv'), csv('Ada'));
  writeFileSync(join(workspace.folder, 'others.csv'), csv('Bea'));
  const upload = ['bulk', 'upload', 'orders.csv', '--batch-size', '5'];
  expect(await errand(workspace, [...upload, '--watch'])).toMatchObject({ code: 0 });
  await shell(
    workspace,
    `for key in 1 2 3 4 5 6; do errand order create --product ${url} --max-price '$50' --ship-to home --idempotency-key $key; done`,
  );
  const again = await errand(workspace, [...upload, '-o', 'json', '--query', '[].existed']);
  expect(again).toMatchObject({ code: 0 });
  expect(JSON.parse(again.stdout)).toEqual([true, true, true]);
  const others = await errand(workspace, ['bulk', 'upload', 'others.csv', '-o', 'json']);
  expect(others).toMatchObject({ code: 6, stdout: '' });
  expect(others.stderr).toContain('insufficient_funds');
});
