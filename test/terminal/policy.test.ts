import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { address, orderBody } from '../support/order-body.ts';
import { errand } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let service: TestService;
let workspace: Workspace;

beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
  writeFileSync(
    join(workspace.folder, 'order.json'),
    JSON.stringify(orderBody(service.product('test-success'))),
  );
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});

function policy(text: string): void {
  mkdirSync(join(workspace.folder, '.config'), { recursive: true, mode: 0o700 });
  writeFileSync(join(workspace.folder, '.config', 'policy.yaml'), `version: 1\n${text}\n`, { mode: 0o600 });
}

const create = ['order', 'create', '--file', 'order.json', '--override-policy', 'the office needs it'];
const ordersMade = async (): Promise<number> => (await service.send('GET', '/orders')).body.orders.length;

test('the policy is overruled by typing the amount, and by nothing else', async () => {
  policy('limits:\n  per_order: $50');
  const wrong = new Terminal(workspace, 'errand', create);
  await wrong.shows('Type $51.00 to spend it against the policy');
  expect(wrong.text.replace(/\s+/g, ' ')).toContain(
    'limits.per_order: $51.00 is more than $50.00 for an order',
  );
  wrong.type('yes\r');
  expect(await wrong.ended()).toBe(11);
  expect(await ordersMade()).toBe(0);
  const right = new Terminal(workspace, 'errand', create);
  await right.shows('Type $51.00 to spend it against the policy');
  right.type('$51.00\r');
  expect(await right.ended()).toBe(0);
  expect(await ordersMade()).toBe(1);
});

test.each([['overrides: never', 'says overrides: never']])(
  'it cannot be overruled where it says %s',
  async (term, why) => {
    policy(`limits:\n  per_order: $50\n${term}`);
    const terminal = new Terminal(workspace, 'errand', create);
    expect(await terminal.ended()).toBe(11);
    expect(terminal.text.replace(/\s+/g, ' ')).toContain(why);
    expect(await ordersMade()).toBe(0);
  },
);

test('each row that is against the policy is named, and how many orders it is', async () => {
  policy('limits:\n  per_order: $20');
  const rows = [1, 2, 3].map(
    (house) => `${service.product('test-success')},1,A B,${house} Main St,Austin,TX,78701,5125550100,3000`,
  );
  const headings = 'url,quantity,name,address,city,state,zip,phone,max_price_cents';
  writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
  const terminal = new Terminal(workspace, 'errand', [
    'bulk',
    'upload',
    'orders.csv',
    '--override-policy',
    'a move',
  ]);
  await terminal.shows('Type $93.00 to spend it on 3 orders against the policy');
  for (const row of [2, 3, 4]) expect(terminal.text).toContain(`row ${row}, limits.per_order`);
  terminal.type('93\r');
  expect(await terminal.ended()).toBe(0);
});

test('an approval without approvers takes the amount, typed at a terminal, and says what it is', async () => {
  policy('approve: { above: $20 }');
  const order = ['order', 'create', '--file', 'order.json'];
  const refused = await errand(workspace, [...order, '-o', 'json']);
  const { id } = JSON.parse(refused.stderr).error.details.approval;
  const piped = await errand(workspace, ['approval', 'approve', id]);
  expect([piped.code, piped.stderr]).toEqual([11, expect.stringContaining('takes a terminal')]);
  const approve = ['approval', 'approve', id, '--file', 'order.json'];
  const wrong = new Terminal(workspace, 'errand', approve);
  await wrong.shows('Type $51.00 to approve it');
  const said = wrong.text.replace(/\s+/g, ' ');
  expect(said).toContain('a second look, not a second person');
  expect(said).toContain(address.address_line1);
  wrong.type('y\r');
  expect(await wrong.ended()).toBe(11);
  const right = new Terminal(workspace, 'errand', approve);
  await right.shows('Type $51.00 to approve it');
  right.type('51.00\r');
  expect(await right.ended()).toBe(0);
  expect(await errand(workspace, order)).toMatchObject({ code: 0 });
  const carried = await errand(workspace, ['approval', 'export', id]);
  expect([carried.code, carried.stderr]).toEqual([
    11,
    expect.stringContaining('holds on this machine alone'),
  ]);
  writeFileSync(
    join(workspace.folder, 'order.json'),
    JSON.stringify({ ...orderBody(service.product('test-success')), po_number: 'other' }),
  );
  const other = await errand(workspace, ['approval', 'show', id, '--file', 'order.json']);
  expect([other.code, other.stderr]).toEqual([11, expect.stringContaining('an order with other fields')]);
});

test('what the policy becomes while the question stands is what holds', async () => {
  policy('limits:\n  per_order: $50');
  const changed = new Terminal(workspace, 'errand', create);
  await changed.shows('Type $51.00 to spend it against the policy');
  policy('limits:\n  per_order: $50\noverrides: never');
  changed.type('$51.00\r');
  expect(await changed.ended()).toBe(11);
  expect(changed.text.replace(/\s+/g, ' ')).toContain(
    'was changed while this command waited; nothing was sent',
  );
  expect(await ordersMade()).toBe(0);
});

test('a reason without a policy is refused', async () => {
  const { code, stderr } = await errand(workspace, create);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--override-policy has nothing to override')]);
});
