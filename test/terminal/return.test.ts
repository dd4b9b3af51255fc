import { afterEach, beforeEach, expect, test } from 'vitest';
import { embeddedShop, errand, orderOf, shell } from '../support/run.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, prefer, type Workspace } from '../support/workspace.ts';

const enter = '\r';
const down = '\u001b[B';

let workspace: Workspace;
let terminal: Terminal | undefined;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => {
  terminal?.close();
  workspace.remove();
});

test('return create lets a person pick the order, the items and the reason', async () => {
  prefer(workspace, { 'sandbox-speed': 50 });
  const shop = await embeddedShop();
  const [success, pickup] = [`${shop}test-success`, `${shop}test-pickup`];
  const order = async (...urls: string[]): Promise<string> => {
    const flags = urls.map((url) => `--product ${url}`).join(' ');
    const line = `errand order create ${flags} --max-price '$90' --ship-to home -o id`;
    const id = (await shell(workspace, line)).stdout.trim();
    await errand(workspace, ['order', 'watch', id, '--until', 'placed']);
    return id;
  };
  const both = await order(success, pickup);
  await order(success);
  terminal = new Terminal(workspace, 'errand', ['return', 'create', '-o', 'json'], { columns: 160 });
  await terminal.shows('Order');
  terminal.type(down + enter);
  await terminal.shows('Items');
  // Both are preselected; space deselects the first.
  terminal.type(` ${enter}`);
  await terminal.shows('Reason');
  terminal.type(enter);
  await terminal.shows('Request this return?');
  expect(terminal.text).toMatch(/1 of 1 x \S/);
  terminal.type(`y${enter}`);
  expect(await terminal.ended()).toBe(0);
  const [made] = JSON.parse((await errand(workspace, ['return', 'list', '-o', 'json'])).stdout);
  const { items } = JSON.parse((await errand(workspace, ['order', 'get', both, '-o', 'json'])).stdout);
  expect(made).toMatchObject({
    order_id: both,
    reason: 'damaged',
    items: [{ order_item_id: items[1].id, quantity: 1 }],
  });
});

test('return create asks how many of a line go back, one unless more are typed, and once before it sends', async () => {
  prefer(workspace, { 'sandbox-speed': 50 });
  const product = `${await embeddedShop()}test-success,quantity=3`;
  const line = `errand order create --product ${product} --max-price '$200' --ship-to home -o id`;
  const id = (await shell(workspace, line)).stdout.trim();
  await errand(workspace, ['order', 'watch', id, '--until', 'placed']);
  const returned = async () => JSON.parse((await errand(workspace, ['return', 'list', '-o', 'json'])).stdout);
  const args = ['return', 'create', '--order', id, '--reason', 'damaged'];
  const ask = async (quantity: string, answer: string): Promise<number> => {
    terminal = new Terminal(workspace, 'errand', args, { columns: 120 });
    await terminal.shows('How many of');
    terminal.type(quantity + enter);
    await terminal.shows('Request this return?');
    terminal.type(answer + enter);
    return terminal.ended();
  };
  expect(await ask('', 'n')).toBe(130);
  expect(terminal?.text).toContain('1 of 3 x');
  expect(await returned()).toEqual([]);
  terminal = new Terminal(workspace, 'errand', args, { columns: 120 });
  await terminal.shows('How many of');
  terminal.type(`4${enter}`);
  await terminal.shows('from 1 to 3');
  terminal.type('\u0003');
  expect(await terminal.ended()).toBe(130);
  expect(await ask('2', 'y')).toBe(0);
  expect(await returned()).toMatchObject([{ items: [{ quantity: 2 }] }]);
  // What goes back is shown by its title, not by its id.
  expect(terminal?.text).toMatch(/items +2 x [^\r\n]*[A-Z]/);
});

test('Ctrl-C at a prompt sends nothing and ends with 130', async () => {
  prefer(workspace, { 'sandbox-speed': 50 });
  const id = await orderOf(workspace, 'test-success');
  await errand(workspace, ['order', 'watch', id, '--until', 'placed']);
  terminal = new Terminal(workspace, 'errand', ['return', 'create', '--order', id]);
  await terminal.shows('Reason');
  terminal.type('\u0003');
  expect(await terminal.ended()).toBe(130);
  expect((await errand(workspace, ['return', 'list', '-o', 'id'])).stdout).toBe('');
});

test('return watch draws a table in place until the return is decided, and ends on Ctrl-C with the cursor back', async () => {
  prefer(workspace, { 'sandbox-speed': 50 });
  const order = await orderOf(workspace, 'test-success');
  await errand(workspace, ['order', 'watch', order]);
  prefer(workspace, { 'sandbox-speed': 1 });
  const create = `errand return create --order ${order} --reason damaged -o id`;
  const id = (await shell(workspace, create)).stdout.trim();
  terminal = new Terminal(workspace, 'errand', ['return', 'watch', id, '--interval', '100ms'], {
    columns: 60,
  });
  await terminal.shows('watching 1 return');
  terminal.type('\u0003');
  expect(await terminal.ended()).toBe(130);
  expect(terminal.text).toContain('stopped watching; the return goes on');
  expect(terminal.text).toMatch(/errand return watch [0-9a-f]{8}$/m);
  expect(terminal.text).not.toContain('error:');
  expect(terminal.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.raw.lastIndexOf('\u001b[?25l'));
  terminal = new Terminal(workspace, 'errand', ['return', 'watch', id, '--interval', '100ms'], {
    columns: 60,
  });
  await terminal.shows('watching 1 return');
  await errand(workspace, ['sandbox', 'trigger', 'return-approved', id]);
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).toMatch(/status +(?:✔ )?approved/);
});
