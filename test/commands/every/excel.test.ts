import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { embeddedShop, errand } from '../../support/run.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';

const mark = '\ufeff';
let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const fileText = (name: string): string => readFileSync(join(workspace.folder, name), 'utf8');
const run = (...args: string[]) => errand(workspace, args);
const headings = 'product_url,max_price_cents,name,address,city,zip,phone';
const rowOf = (url: string, zip = '78701') => `${url},5000,Zoë Müller,1 Main St,Austin,${zip},5125550100`;
const write = (name: string, ...rows: string[]): void =>
  writeFileSync(join(workspace.folder, name), `${[headings, ...rows].join('\n')}\n`);

/** A batch whose only row has failed. */
async function failedBatch(): Promise<string> {
  prefer(workspace, { 'sandbox-speed': 50 });
  write('fail.csv', rowOf(`${await embeddedShop()}test-out-of-stock`));
  return (await run('bulk', 'upload', 'fail.csv', '--watch', '-o', 'id')).stdout.trim();
}

describe('with --excel', () => {
  test.each([
    ['a list', ['address', 'list', '-o', 'csv']],
    ['an empty list', ['order', 'list', '-o', 'csv']],
    ['tabs', ['retailer', 'list', '-o', 'tsv']],
    ['a record', ['config', 'path', '-o', 'csv']],
    ['values of a query', ['config', 'list', '-o', 'csv', '--query', '[].name']],
    ['the template', ['bulk', 'template']],
    ['the export of orders', ['order', 'export']],
  ])('%s begins with one byte order mark, and is the same otherwise', async (_, args) => {
    const [marked, plain] = [await run(...args, '--excel'), await run(...args)];
    expect(marked).toMatchObject({ code: 0 });
    expect(marked.stdout).toBe(`${mark}${plain.stdout}`);
    expect(plain.stdout.length).toBeGreaterThan(0);
  });

  test('results, retried rows and errors do too, and each is read back', async () => {
    const batch = await failedBatch();
    expect((await run('bulk', 'results', batch, '--excel')).stdout).toMatch(/^\ufeff[^,\n]+,/);
    expect((await run('bulk', 'retry', batch, '--to', '-', '--excel')).stdout).toMatch(/^\ufeffproduct_url,/);
    expect((await run('bulk', 'retry', batch, '--to', 'again.csv', '--excel')).code).toBe(0);
    expect(fileText('again.csv')).toMatch(/^\ufeffproduct_url,.*Zoë/s);
    expect((await run('bulk', 'validate', 'again.csv', '--local')).code).toBe(0);
    write('wrong.csv', rowOf('https://x.example/1', '787'));
    for (const last of [['--excel'], [], ['--excel']]) {
      const checked = await run('bulk', 'validate', 'wrong.csv', '--local', '--errors', 'e.csv', ...last);
      expect(checked.code).toBe(7);
      expect(checked.stdout).not.toContain(mark);
      expect(fileText('e.csv')).toBe(
        `${last.length > 0 ? mark : ''}row,column,value,message\n${fileText('e.csv').split('\n')[1]}\n`,
      );
    }
  });

  test('what goes on a screen has no mark', async () => {
    const terminal = new Terminal(workspace, 'errand', ['config', 'list', '-o', 'csv', '--excel']);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toContain('amounts');
    expect(terminal.raw).not.toContain(mark);
    terminal.close();
  });

  test.each([
    [['order', 'list'], 'this writes none; add -o csv'],
    [['order', 'list', '-o', 'json'], 'this writes none; add -o csv'],
    [['bulk', 'retry', '11111111-1111-4111-8111-111111111111'], 'this writes none; add -o csv'],
    [['order', 'list', '-o', 'csv', '--raw-csv'], 'a spreadsheet runs cells that are raw'],
    [['order', 'export', '--raw-csv'], 'a spreadsheet runs cells that are raw'],
  ])('%j is refused, and nothing is printed', async (args, reason) => {
    const refused = await run(...args, '--excel');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(reason);
  });

  test('a failure leaves stdout empty', async () => {
    const failed = await run('bulk', 'results', '11111111-1111-4111-8111-111111111111', '--excel');
    expect(failed).toMatchObject({ code: 4, stdout: '' });
  });
});
