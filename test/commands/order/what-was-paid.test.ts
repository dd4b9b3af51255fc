import { afterEach, beforeEach, expect, test } from 'vitest';
import { embeddedShop, errand, orderOf, shell } from '../../support/run.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(async () => {
  workspace = makeWorkspace();
  prefer(workspace, { 'sandbox-speed': 50 });
});
afterEach(() => workspace.remove());

const ended = async (slug: string): Promise<string> => {
  const order = await orderOf(workspace, slug);
  await errand(workspace, ['order', 'watch', order, '--timeout', '10m']);
  return order;
};
const rows = (csv: string): string[][] =>
  csv
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','));

test('an order that came to nothing has no total: what it was refused at is quoted', async () => {
  const bought = await ended('test-success');
  const failed = await ended('test-price-exceeded');
  const cancelled = await ended('test-cancelled-by-retailer');
  const { stdout } = await errand(workspace, ['order', 'list', '-o', 'csv']);
  const [headings = [], ...orders] = rows(stdout);
  const at = headings.indexOf('job_result.price_components.total');
  const totals = Object.fromEntries(orders.map((cells) => [cells[0], cells[at]]));
  expect(totals).toEqual({ [bought]: '1999', [failed]: '', [cancelled]: '' });
  const shown = (await errand(workspace, ['order', 'get', failed])).stdout;
  expect(shown).toMatch(/^quoted +\$\d/m);
  expect(shown).not.toMatch(/^total/m);
  expect((await errand(workspace, ['order', 'get', bought])).stdout).toMatch(/^total +\$19\.99$/m);
  const exported = rows((await errand(workspace, ['order', 'export'])).stdout);
  const total = exported[0]?.indexOf('total') ?? -1;
  const totalOf = (id: string) => exported.find((cells) => cells[0] === id)?.[total];
  expect([totalOf(bought), totalOf(failed), totalOf(cancelled)]).toEqual(['1999', '', '']);
  const record = await errand(workspace, [
    'order',
    'get',
    failed,
    '-o',
    'json',
    '--query',
    'job_result.price_components.total',
  ]);
  expect(Number(record.stdout)).toBeGreaterThan(0);
});

test('track shows every parcel', async () => {
  const order = await ended('test-two-packages');
  const { stdout } = await errand(workspace, ['track', order, '-o', 'json']);
  const numbers = JSON.parse(stdout).shipments.map(
    ({ tracking_number }: { tracking_number: string }) => tracking_number,
  );
  expect(numbers).toHaveLength(2);
  const table = (await errand(workspace, ['track', order])).stdout;
  for (const number of numbers) expect(table).toMatch(new RegExp(`${number} +delivered`));
  const csv = (await shell(workspace, `errand track ${order} -o csv`)).stdout;
  for (const number of numbers) expect(csv).toContain(number);
});

test('an order of which less was bought than was asked for looks whole nowhere', async () => {
  const product = `${await embeddedShop()}test-quantity-limit,quantity=5`;
  const create = `errand order create --product "${product}" --max-price '$50' --ship-to home --best-effort quantity -o id`;
  const order = (await shell(workspace, create)).stdout.trim();
  expect(order).not.toBe('');
  await errand(workspace, ['order', 'watch', order, '--timeout', '10m']);
  for (const line of [
    ['order', 'list'],
    ['order', 'get', order],
    ['order', 'explain', order],
    ['track', order],
  ]) {
    const terminal = new Terminal(workspace, 'errand', line, { columns: 80 });
    try {
      expect(await terminal.ended()).toBe(0);
      expect(terminal.text).toContain('✖ delivered in part');
      if (line[0] === 'order') expect(terminal.text).toContain('2 of 5 x Quantity limit');
    } finally {
      terminal.close();
    }
  }
});
