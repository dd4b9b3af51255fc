import { afterEach, beforeEach, expect, test } from 'vitest';
import { embeddedShop, errand, orderOf } from '../support/run.ts';
import type { Terminal } from '../support/terminal.ts';
import { makeWorkspace, prefer, type Workspace } from '../support/workspace.ts';
import { useTerminals } from './terminals.ts';
import { withVariants } from './variants.ts';

const enter = '\r';
const down = '\u001b[B';

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => {
  workspace.remove();
});
const terminalOf = useTerminals(() => workspace);

function open(args: readonly string[], columns = 100): Terminal {
  return terminalOf('errand', args, { columns });
}

const json = async (...args: string[]) =>
  JSON.parse((await errand(workspace, [...args, '-o', 'json'])).stdout);

test('a product given as a URL is looked up: its variant is asked from the list, and the ceiling holds its price', async () => {
  const { url, choices } = await withVariants(workspace);
  const terminal = open(['order', 'create', '--product', url]);
  await terminal.shows('Which variant?');
  terminal.type(down + enter);
  await terminal.shows('(the item is $');
  terminal.type(`$0.50${enter}`);
  await terminal.shows('the item alone is $');
  terminal.type(`$90${enter}`);
  await terminal.shows('Place this order? (y/N, e to edit)');
  const [, second = []] = choices;
  expect(terminal.text).toContain(
    `variant   ${second.map((one) => `${one.dimension}: ${one.value}`).join(', ')}`,
  );
  expect(terminal.text).toMatch(/ceiling +\$90\.00; the item is \$[\d.]+ before shipping and tax/);
  terminal.type(`y${enter}`);
  expect(await terminal.ended()).toBe(0);
  expect(await json('order', 'list')).toMatchObject([
    { items: [{ url, variant: second.map(({ dimension, value }) => ({ label: dimension, value })) }] },
  ]);
});

test('each line of the order can be changed before it is placed, and the ceiling follows the quantity', async () => {
  const { url } = await withVariants(workspace);
  const asked = open(['order', 'create', '--product', `${url},quantity=1`]);
  const answer = async (...turns: (readonly [string | RegExp, string])[]): Promise<void> => {
    for (const [shown, keys] of turns) {
      const from = asked.text.length;
      await asked.shows(shown);
      asked.type(keys + enter);
      await expect.poll(() => asked.text.length).toBeGreaterThan(from);
    }
  };
  await answer(['Which variant?', ''], ['Price ceiling', '$40'], ['(y/N, e to edit)', 'e']);
  await answer(['What to change', down.repeat(2)], ['Quantity', '3']);
  await answer([/the 3 items are \$[\d.]+, more than the ceiling of \$40\.00/, '$190']);
  await asked.shows(/quantity +3/);
  await answer([/\$190\.00; the 3 items[\s\S]*e to edit/, 'edit']);
  await answer(
    [/✔ Place this order\? \(y\/N, e to edit\) edit[\s\S]*nothing, go back/, down.repeat(3)],
    ['as a gift?', 'y'],
    ['Gift message', 'Hello'],
  );
  await answer([/gift +yes, "Hello"[\s\S]*e to edit/, 'perhaps'], ['type y, n or e', 'y']);
  expect(await asked.ended()).toBe(0);
  expect(await json('order', 'list')).toMatchObject([
    { items: [{ url, quantity: 3 }], max_price: 19_000, is_gift: true, gift_message: 'Hello' },
  ]);
});

test('Enter places nothing', async () => {
  const terminal = open(['order', 'create', '--product', `${await embeddedShop()}test-success`]);
  await terminal.shows('Price ceiling');
  terminal.type(`$50${enter}`);
  await terminal.shows('(y/N, e to edit)');
  terminal.type(enter);
  expect(await terminal.ended()).toBe(130);
  expect(terminal.text).toContain('nothing was ordered');
  expect(await json('order', 'list')).toEqual([]);
});

test('several saved addresses are offered, the default first', async () => {
  await json('order', 'list');
  await errand(workspace, ['sandbox', 'mint']);
  const fields = [
    '--last-name',
    'Byron',
    '--address-line1',
    '1 Main St',
    '--city',
    'Austin',
    '--state',
    'TX',
  ];
  const more = ['--postal-code', '78701', '--country', 'US', '--phone-number', '5125550100'];
  for (const name of ['cabin', 'work'])
    await errand(workspace, ['address', 'add', name, '--first-name', `Ada-${name}`, ...fields, ...more]);
  const terminal = open(['order', 'create', '--product', `${await embeddedShop()}test-success`]);
  await terminal.shows('Price ceiling');
  terminal.type(`$50${enter}`);
  await terminal.shows(/❯ home/);
  terminal.type(`${down}${enter}`);
  await terminal.shows(/ship to +Ada-[\s\S]*e to edit\)/);
  terminal.type(`y${enter}`);
  expect(await terminal.ended()).toBe(0);
});

test('a failed order names the command that tries again with what was wrong changed', async () => {
  prefer(workspace, { 'sandbox-speed': 50 });
  const id = await orderOf(workspace, 'test-price-exceeded');
  await errand(workspace, ['order', 'watch', id]);
  const terminal = open(['order', 'get', id], 250);
  expect(await terminal.ended()).toBe(0);
  const command = /try again with a higher ceiling: errand (.*)/.exec(terminal.text)?.[1] ?? '';
  expect(command).toMatch(`order create --like ${id} --max-price '$`);
  const again = open(command.replaceAll("'", '').trim().split(' '));
  expect(await again.ended()).toBe(0);
});

test('a profile with a key is deleted only after a question', async () => {
  await errand(workspace, ['profile', 'set', 'work', '--base-url', 'https://service.example']);
  await errand(workspace, ['auth', 'token', '--profile', 'work'], { stdin: 'zz_test_0123456789abcdef' });
  const refused = open(['profile', 'delete', 'work']);
  await refused.shows('Delete the profile work and its key zz_test_…cdef?');
  refused.type(enter);
  expect(await refused.ended()).toBe(130);
  expect(await json('profile', 'list')).toHaveLength(2);
  const agreed = open(['profile', 'delete', 'work', '--yes']);
  expect(await agreed.ended()).toBe(0);
  expect(await json('profile', 'list')).toHaveLength(1);
});
