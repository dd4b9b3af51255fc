import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { IssueGroups } from '../../../src/bulk/check/issues.ts';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const headings = 'product_url,max_price_cents,name,address,city,state,zip,phone,country';
const cells = (at: number, { price = '5000', zip = '78701', country = 'US' } = {}): string =>
  `https://x.example/${at},${price},Ada Byron,${at} Main St,Austin,TX,${zip},5125550100,${country}`;
const path = (name: string): string => join(workspace.folder, name);
const write = (lines: readonly string[], name = 'orders.csv'): void =>
  writeFileSync(path(name), [headings, ...lines, ''].join('\n'));
const numbered = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('the same error of many rows', () => {
  beforeEach(() => {
    write(numbered(3000).map((at) => cells(at, { price: `${at + 10}.50`, ...(at === 5 && { zip: '787' }) })));
  });

  test('is one line for an upload, which names every file that has all of them', async () => {
    const { code, stderr } = await errand(workspace, ['bulk', 'upload', 'orders.csv', '--errors', 'all.csv']);
    expect(code).toBe(7);
    const lines = stderr.split('\n');
    expect(lines[0]).toBe(
      '3,000 rows: max_price_cents such as "10.50" is in cents; write 1050 for 10.50; first rows 2, 3, 4',
    );
    expect(lines[1]).toMatch(/^row 7: postal_code "787" is not a US postal code/);
    expect(lines[2]).toBe('error: 0 of 3,000 rows valid; nothing was sent');
    const all = parse(readFileSync(path('all.csv')), { columns: true });
    expect(all).toHaveLength(3001);
    expect(all[0]).toEqual({
      row: '2',
      column: 'max_price_cents',
      value: '10.50',
      message: 'is in cents; write 1050 for 10.50',
    });
    expect(all.at(-1)).toMatchObject({ row: '3001', value: '3009.50' });
  });

  test('is a record for each row in a pipe, with the file beside it', async () => {
    const check = ['bulk', 'validate', 'orders.csv', '--local', '--errors', 'all.csv', '-o', 'csv'];
    const { code, stdout } = await errand(workspace, check);
    expect(code).toBe(7);
    expect(stdout.replaceAll('\r', '')).toBe(readFileSync(path('all.csv'), 'utf8').replaceAll('\r', ''));
  });
});

test('what the service refuses names its column and the cell, and is grouped with the rest', async () => {
  write([cells(1), cells(2, { country: 'ZZ' }), cells(3, { country: 'ZZ' })]);
  const { code, stderr } = await errand(workspace, ['bulk', 'upload', 'orders.csv', '--errors', 'all.csv']);
  expect(code).toBe(7);
  expect(stderr).toMatch(/^2 rows: country "ZZ" .+ \(unsupported_country\); rows 3, 4$/m);
  expect(readFileSync(path('all.csv'), 'utf8')).toMatch(/^4,country,ZZ,/m);
});

describe('the file of errors', () => {
  test('is written over the errors of an earlier check, and says when nothing is wrong any more', async () => {
    write([cells(1, { zip: '7' })]);
    const check = ['bulk', 'validate', 'orders.csv', '--local', '--errors', 'all.csv'];
    expect((await errand(workspace, check)).code).toBe(7);
    expect(readFileSync(path('all.csv'), 'utf8')).toMatch(/^2,postal_code,7,/m);
    write([cells(1)]);
    expect((await errand(workspace, check)).code).toBe(0);
    expect(readFileSync(path('all.csv'), 'utf8')).toBe('row,column,value,message\n');
  });

  test.each([
    ['the orders themselves', 'orders.csv', 'that file is there already, and holds no errors of a check'],
    ['a file of something else', 'notes.txt', 'that file is there already, and holds no errors of a check'],
    ['a folder', '.', 'it is not a file'],
    ['a folder that is not there', 'none/all.csv', 'its folder is not there'],
  ])('is never %s', async (_, name, reason) => {
    write([cells(1, { zip: '7' })]);
    writeFileSync(path('notes.txt'), 'mine');
    const before = readFileSync(path('orders.csv'), 'utf8');
    const { code, stderr } = await errand(workspace, ['bulk', 'validate', 'orders.csv', '--errors', name]);
    expect(code).toBe(2);
    expect(stderr).toContain(name);
    expect(stderr).toContain(reason);
    expect(readFileSync(path('orders.csv'), 'utf8')).toBe(before);
    expect(readFileSync(path('notes.txt'), 'utf8')).toBe('mine');
  });

  test('is not there after a check that was cut short, nor half of it', async () => {
    write([...numbered(2000).map((at) => cells(at, { zip: '7' })), '"never closed']);
    const { code, stderr } = await errand(workspace, [
      'bulk',
      'validate',
      'orders.csv',
      '--local',
      '--errors',
      'all.csv',
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain('a quoted cell is never closed');
    expect(existsSync(path('all.csv'))).toBe(false);
    expect(readdirSync(workspace.folder).filter((name) => name.includes('all.csv'))).toEqual([]);
  });

  test('holds no cell that a spreadsheet would run', async () => {
    write([cells(1, { zip: '=1+1' })]);
    await errand(workspace, ['bulk', 'validate', 'orders.csv', '--local', '--errors', 'all.csv']);
    const [, cell] = parse(readFileSync(path('all.csv')));
    expect(cell?.[2]).toBe("'=1+1");
  });
});

describe('groups of errors', () => {
  const groupsOf = (messages: readonly string[]): IssueGroups => {
    const groups = new IssueGroups();
    for (const [index, message] of messages.entries())
      groups.add([{ row: index + 2, column: 'city', value: '', message }]);
    return groups;
  };

  test('add up, however many kinds there are', () => {
    const kinds = numbered(5000).map((at) => `is wrong ${String.fromCodePoint(0x4e00 + at)}`);
    const lines = groupsOf(kinds).lines(10);
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe('row 2: city is wrong 一');
    expect(lines[10]).toBe('… and 4,990 more errors; --errors FILE writes all');
  });

  test('two rows are named, and the larger group comes first', () => {
    expect(groupsOf(['is missing', 'is odd', 'is odd']).lines(10)).toEqual([
      '2 rows: city is odd; rows 3, 4',
      'row 2: city is missing',
    ]);
    expect(groupsOf([]).lines(10)).toEqual([]);
  });
});
