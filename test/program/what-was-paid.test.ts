import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand, orderOf, shell } from './run.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

let workspace: Workspace;
beforeEach(async () => {
  workspace = makeWorkspace();
  await errand(workspace, ['config', 'set', 'sandbox-speed', '50']);
});
afterEach(() => workspace.remove());

const ended = async (slug: string): Promise<string> => {
  const order = await orderOf(workspace, slug);
  await errand(workspace, ['order', 'watch', order, '--timeout', '10s']);
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
