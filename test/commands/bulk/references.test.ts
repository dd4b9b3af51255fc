import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const order = 'product_url,max_price_cents,name,address,city,state,zip,phone';
const write = (more: string, ...rows: string[]): void => {
  const cells = rows.map(
    (row, at) => `https://x.example/${at},5000,Ada Byron,1 Main St,Austin,TX,78701,5125550100,${row}`,
  );
  writeFileSync(join(workspace.folder, 'orders.csv'), [`${order},${more}`, ...cells, ''].join('\n'));
};
const bulk = (verb: string, ...more: string[]) => errand(workspace, ['bulk', verb, 'orders.csv', ...more]);

describe('references that are empty, or the same twice', () => {
  const refused = [
    'row 3: Requisition has no reference',
    'row 4: Requisition "R-1" is the reference of row 2',
  ];

  beforeEach(() => write('Requisition', 'R-1', '', 'R-1', 'R-4'));

  test.each([
    ['upload', []],
    ['upload', ['--skip-invalid']],
    ['upload', ['--dry-run']],
    ['plan', ['--out', 'a.plan', '--no-prices', '--skip-invalid']],
  ])('stop bulk %s %j before anything is sent', async (verb, more) => {
    const { code, stderr } = await bulk(verb, '--reference-column', 'Requisition', ...more);
    expect(code).toBe(7);
    for (const line of refused) expect(stderr).toContain(line);
    expect(stderr).toContain('error: 2 of 4 rows valid; nothing was sent');
    expect(stderr).toContain('--skip-invalid leaves out no row for its reference');
    expect(existsSync(join(workspace.folder, 'a.plan'))).toBe(false);
    const batches = await errand(workspace, ['bulk', 'list', '-o', 'id']);
    expect(batches).toMatchObject({ code: 0, stdout: '' });
  });

  test('are found by bulk validate, with their rows', async () => {
    const check = ['--local', '--reference-column', 'Requisition', '-o', 'json'];
    const { code, stdout, stderr } = await bulk('validate', ...check);
    expect(stderr).toBe('');
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toEqual([
      { row: 3, column: 'Requisition', value: '', message: 'has no reference; give each row its own' },
      {
        row: 4,
        column: 'Requisition',
        value: 'R-1',
        message: 'is the reference of row 2 already; two orders have two references',
      },
    ]);
    const people = await bulk('validate', '--local', '--reference-column', 'Requisition');
    expect(people.stderr).toContain('the reference of each row is its "Requisition": row 2 is R-1');
  });

  test('do not matter in a column that nobody named', async () => {
    const { code, stderr } = await bulk('validate', '--local');
    expect(code, stderr).toBe(0);
  });
});

test('a saved map has the columns of the reference, and the namespace; flags go before it', async () => {
  write('Requisition,Line', 'R-1,1', 'R-1,2');
  const saving = ['--reference-column', 'Requisition,Line', '--namespace', 'north', '--save-map', 'theirs'];
  expect(await bulk('validate', '--local', ...saving)).toMatchObject({ code: 0 });
  const used = await bulk('validate', '--local', '--use-map', 'theirs');
  expect(used.stderr).toContain('in the namespace north: row 2 is north:R-1/1');
  const other = await bulk('validate', '--local', '--use-map', 'theirs', '--namespace', 'south');
  expect(other.stderr).toContain('in the namespace south: row 2 is south:R-1/1');
  const maps = await errand(workspace, ['bulk', 'maps', '-o', 'json']);
  expect(JSON.parse(maps.stdout)).toContainEqual({
    ...{ name: 'theirs', kind: 'saved', adds_to: null, columns: [] },
    description: 'references from Requisition,Line in the namespace north',
    ...{ reference_columns: ['Requisition,Line'], namespace: 'north', reading: {}, defaults: {} },
  });
  write('Line', '1');
  const without = await bulk('validate', '--local', '--use-map', 'theirs');
  expect(without).toMatchObject({ code: 2 });
  expect(without.stderr).toContain('the map theirs names a heading that is not there: Requisition');
});

test('a plan has its references, and places each row with its own', async () => {
  write('Requisition', 'R-1', 'R-2');
  const named = ['--reference-column', 'Requisition', '--namespace', 'north'];
  const planned = await bulk('plan', '--out', 'a.plan', '--no-prices', ...named);
  expect(planned.code, planned.stderr).toBe(0);
  const plan = JSON.parse(readFileSync(join(workspace.folder, 'a.plan'), 'utf8'));
  expect(plan.made_from.reference).toEqual({ columns: ['Requisition'], namespace: 'north' });
  expect(plan.rows[0].order.metadata).toEqual({ errand_reference: 'north:R-1' });
  const applied = await errand(workspace, ['bulk', 'apply', 'a.plan']);
  expect(applied.code, applied.stderr).toBe(0);
  const list = async (...more: string[]) =>
    JSON.parse((await errand(workspace, ['order', 'list', '-o', 'json', ...more])).stdout);
  await expect.poll(() => list('--reference', 'R-2', '--namespace', 'north')).toHaveLength(1);
  const again = await bulk('upload', ...named);
  expect(again.code, again.stderr).toBe(0);
  expect(await list()).toHaveLength(2);
});

test('the file of failed rows is read as the first was: its references are in its own columns', async () => {
  write('Requisition', 'R-1', 'R-2');
  const cells = readFileSync(join(workspace.folder, 'orders.csv'), 'utf8');
  const products = await errand(workspace, ['sandbox', 'products', '-o', 'json']);
  const { url } = JSON.parse(products.stdout).find(
    (one: { scenario: string }) => one.scenario === 'out_of_stock',
  );
  writeFileSync(join(workspace.folder, 'orders.csv'), cells.replace('https://x.example/1', url));
  const named = ['--reference-column', 'Requisition', '--namespace', 'north'];
  const uploaded = await bulk('upload', '--watch', ...named);
  expect(uploaded.code, uploaded.stderr).toBe(7);
  const retried = await errand(workspace, ['bulk', 'retry', 'orders', '--to', 'failed.csv']);
  expect(retried.code, retried.stderr).toBe(0);
  const [headings] = readFileSync(join(workspace.folder, 'failed.csv'), 'utf8').split('\n');
  expect(headings).toContain('Requisition');
  expect(headings).not.toMatch(/errand_reference|idempotency_key/);
  const checked = await errand(workspace, ['bulk', 'validate', 'failed.csv', '--local', ...named]);
  expect(checked.code, checked.stderr).toBe(0);
  expect(checked.stderr).toMatch(/row \d is north:R-2/);
});

test('the map of a file reads the file of its failed rows: it has the headings of the first', async () => {
  const products = await errand(workspace, ['sandbox', 'products', '-o', 'json']);
  const { url } = JSON.parse(products.stdout).find(
    (one: { scenario: string }) => one.scenario === 'out_of_stock',
  );
  const theirs = 'Requisition,Item,Limit,Pieces,Ship to,Street,City,State,ZIP,Phone';
  const cells = 'R-1,URL,$50.00,2,Ada Byron,1 Main St,Austin,TX,78701,5125550100';
  writeFileSync(join(workspace.folder, 'orders.csv'), `${theirs}\n${cells.replace('URL', url)}\n`);
  const map = ['Item=product_url', 'Limit=max_price', 'Pieces=quantity', 'Ship to=name'];
  const flags = map.flatMap((entry) => ['--map', entry]);
  const named = ['--reference-column', 'Requisition', '--namespace', 'north', '--save-map', 'theirs'];
  expect((await bulk('upload', '--watch', ...flags, ...named)).code).toBe(7);
  for (const more of [[], ['--file', 'orders.csv', '--use-map', 'theirs']]) {
    const batch = await errand(workspace, ['bulk', 'list', '-o', 'id']);
    const what = more.length === 0 ? 'orders' : batch.stdout.trim();
    const retried = await errand(workspace, [
      ...['bulk', 'retry', what, '--to', 'failed.csv', '--force'],
      ...more,
    ]);
    expect(retried.code, retried.stderr).toBe(0);
    const [headings, row] = readFileSync(join(workspace.folder, 'failed.csv'), 'utf8').split('\n');
    expect(headings).toBe(`${theirs.replace('Limit', 'max_price_cents')},reason`);
    expect(row).toContain(`R-1,${url},5000,2,Ada Byron,`);
    const check = ['bulk', 'validate', 'failed.csv', '--local', '--use-map', 'theirs'];
    const checked = await errand(workspace, check);
    expect(checked.code, checked.stderr).toBe(0);
    expect(checked.stderr).toContain('row 2 is north:R-1');
  }
});

test.each([
  [['--map', 'Requisition=metadata.errand_reference'], 'give it by --reference-column Requisition'],
  [['--map', 'Requisition=errand_reference'], 'give it by --reference-column Requisition'],
  [['--reference-column', 'Requisition,'], '--reference-column takes headings, separated by commas'],
  [['--reference-column', 'Requisition', '--namespace', 'a b'], '--namespace takes letters, digits'],
  [['--namespace', 'shop'], 'the namespace shop is for references, and no column holds one'],
])('%j is refused', async (given, words) => {
  write('Requisition', 'R-1');
  const { code, stderr } = await bulk('validate', '--local', ...given);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});

test('rows as JSON do not give the metadata in which references travel', async () => {
  const rows = [{ product_url: 'https://x.example/1', 'metadata.errand_reference': 'R-1' }];
  writeFileSync(join(workspace.folder, 'rows.json'), JSON.stringify({ filename: 'a.csv', rows }));
  const { code, stderr } = await errand(workspace, ['api', 'POST', '/orders/bulk', '--input', 'rows.json']);
  expect(code).toBe(2);
  expect(stderr).toContain('rows.0: metadata.errand_reference is where the reference travels');
});

test('the template names each row, and is valid', async () => {
  const { stdout } = await errand(workspace, ['bulk', 'template']);
  writeFileSync(join(workspace.folder, 'orders.csv'), stdout);
  const { code, stderr } = await bulk('validate', '--local');
  expect(code).toBe(0);
  expect(stderr).toMatch(/the reference of each row is its "errand_reference": row \d+ is A-1/);
});
