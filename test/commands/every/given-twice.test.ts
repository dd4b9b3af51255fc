import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const order = ['order', 'create', '--product', 'https://shop.example/p', '--ship-to', 'home'];
const whole = [...order, '--max-price', '$50'];

const orders = async (): Promise<object[]> =>
  JSON.parse((await errand(workspace, ['order', 'list', '-o', 'json'])).stdout);

test.each<[string, string[], string]>([
  ['a ceiling', [...whole, '--max-price', '$20'], '--max-price is given twice with different values'],
  [
    'a ceiling in cents',
    [...order, '--max-price-cents', '10', '--max-price-cents', '20'],
    '--max-price-cents is given twice with different values',
  ],
  ['a ceiling in two units', [...whole, '--max-price-cents', '10'], 'say the same; give one'],
  [
    'a ceiling in two units, cents first',
    [...order, '--max-price-cents', '10', '--max-price', '$50'],
    'say the same; give one',
  ],
  ['an address', [...whole, '--ship-to', 'work'], '--ship-to is given twice'],
  ['an order to repeat', ['order', 'create', '--like', 'a', '--like', 'b'], '--like is given twice'],
  ['a pair', [...whole, '--metadata', 'team=a', '--metadata', 'team=b'], '--metadata team is given twice'],
])('%s that is given twice is refused by what writes, and nothing is sent', async (_, args, message) => {
  const { code, stdout, stderr } = await errand(workspace, args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
  expect(await orders()).toEqual([]);
});

test('the same value twice is no contradiction, and lists are given in parts', async () => {
  await errand(workspace, ['sandbox', 'mint']);
  const more = ['--max-price', '50.00', '--metadata', 'a=1', '--metadata', 'b=2', '--metadata', 'a=1'];
  const parts = ['--best-effort', 'items', '--best-effort', 'quantity', '-o', 'id', '-o', 'json'];
  const { code, stdout } = await errand(workspace, [...whole, ...more, ...parts]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ max_price: 5000, metadata: { a: '1', b: '2' } });
});

test('where nothing is written the last value counts, as in other programs', async () => {
  const list = ['order', 'list', '--limit', '5', '--limit', '1', '-o', 'json', '-o', 'id'];
  const { code, stdout } = await errand(workspace, list);
  expect([code, stdout]).toEqual([0, '']);
});

test('an option of all commands that a shell alias gives is replaced by what is typed after it', async () => {
  await errand(workspace, ['sandbox', 'mint']);
  const { code } = await errand(workspace, ['--profile', 'other', ...whole, '--profile', 'local']);
  expect(code).toBe(0);
});
