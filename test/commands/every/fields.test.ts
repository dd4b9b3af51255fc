import { describe, expect, test } from 'vitest';
import { hasPath } from '../../../src/api/schemas/has-path.ts';
import { beginWithCopies } from '../../support/copies.ts';
import { listCommands } from '../../support/known-commands.ts';
import { embeddedShop, errand, orderOf } from '../../support/run.ts';
import { prefer, type Workspace } from '../../support/workspace.ts';

const lists = await listCommands();

let workspace: Workspace;
beginWithCopies(
  // Creates the sandbox and its key.
  (used) => errand(used, ['wallet']),
  (copy) => {
    workspace = copy;
  },
);

describe('a field that is nowhere', () => {
  const formats = ['table', 'json', 'ndjson', 'csv', 'tsv', 'yaml'];

  test('is refused by what reads, in every format, with the fields there are', async () => {
    const order = await orderOf(workspace, 'test-slow');
    for (const format of formats) {
      for (const command of [
        ['order', 'list'],
        ['order', 'get', order],
        ['order', 'list', '--all'],
      ]) {
        const refused = await errand(workspace, [
          ...command,
          '-o',
          format,
          '--fields',
          'id,nosuch,items.0.nosuch',
        ]);
        expect(refused, `${command} ${format}`).toMatchObject({ code: 2, stdout: '' });
        expect(refused.stderr).toMatch(
          /--fields: there is no field nosuch, items\.0\.nosuch; there are id, status, /,
        );
      }
    }
  });

  test('is refused where nothing was found, too', async () => {
    const refused = await errand(workspace, ['order', 'list', '-o', 'json', '--fields', 'nosuch']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
  });

  test('is told after a write, which is not undone by it', async () => {
    const url = `${await embeddedShop()}test-slow`;
    const create = ['order', 'create', '--product', url, '--max-price', '$50', '--ship-to', 'home'];
    const created = await errand(workspace, [...create, '-o', 'json', '--fields', 'id,nosuch']);
    expect(created.code, created.stderr).toBe(0);
    expect(JSON.parse(created.stdout)).toEqual({ id: expect.any(String), nosuch: null });
    expect(created.stderr).toContain('note: --fields: there is no field nosuch');
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.trim()).toBe(
      JSON.parse(created.stdout).id,
    );
  });

  test.each([
    'address list',
    'profile list',
    'config list',
    'order journal list --all',
    'doctor',
    'schema operations',
    'wallet',
    'usage',
    'search tea',
    'webhook events',
    'audit head',
    ...lists,
  ])('is refused by `%s`', async (line) => {
    const refused = await errand(workspace, [...line.split(' '), '-o', 'json', '--fields', 'nosuch']);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('--fields: there is no field nosuch');
  });
});

test('the one state is named as its heading is, and is what a list on a terminal says', async () => {
  prefer(workspace, { 'sandbox-speed': 200 });
  const order = await orderOf(workspace, 'test-undeliverable');
  await errand(workspace, ['order', 'watch', order, '--timeout', '10m']);
  const list = ['order', 'list', '--fields', 'status,state'];
  const json = await errand(workspace, [...list, '-o', 'json']);
  expect(JSON.parse(json.stdout), json.stderr).toEqual([{ status: 'order_placed', state: 'undeliverable' }]);
  const csv = await errand(workspace, [...list, '-o', 'csv']);
  expect(csv.stdout).toMatch(/^status,state\r?\norder_placed,undeliverable\r?\n$/);
  expect((await errand(workspace, list)).stdout).toMatch(/^STATUS +STATE\norder_placed +undeliverable\n$/);
  expect((await errand(workspace, ['order', 'get', order, '--fields', 'state'])).stdout).toMatch(
    /^state +undeliverable\n$/,
  );
  const refused = await errand(workspace, ['order', 'list', '--fields', 'nosuch']);
  expect(refused.stderr).toMatch(/there are id, status, .*, state, age/);
  // Scripts that do not request the field see no change.
  expect((await errand(workspace, ['order', 'list', '-o', 'csv'])).stdout).not.toContain('state,');
});

test('a field that the contract has is shown empty where a record has none', async () => {
  const order = await orderOf(workspace, 'test-slow');
  const fields = 'job_result.price_components.total,tracking_numbers.3.status,metadata.team,items.0.url';
  for (const command of [`order get ${order}`, 'order list']) {
    const read = await errand(workspace, [...command.split(' '), '-o', 'csv', '--fields', fields]);
    expect(read.code, read.stderr).toBe(0);
    expect(read.stdout).toContain('test-slow');
  }
});

test.each([
  ['OrderResponse', 'items.0.variant.0.label', true],
  ['OrderResponse', 'items.url', false],
  ['OrderResponse', 'items.0.nosuch', false],
  ['OrderResponse', 'job_result.price_components.cart_items.0.name', true],
  ['OrderResponse', 'metadata.any.thing', true],
  ['OrderResponse', 'constructor', false],
  ['OrderResponse', '__proto__', false],
  ['OrderListResponse', 'orders.0.id', true],
] as const)('%s has %s: %s', (shape, path, has) => {
  expect(hasPath(shape, path)).toBe(has);
});
