import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { embeddedShop, errand, orderOf } from '../support/run.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, prefer, type Workspace } from '../support/workspace.ts';
import { moves } from './accessible.ts';

const enter = '\r';

let workspace: Workspace;
let terminals: Terminal[];

beforeEach(() => {
  workspace = makeWorkspace({ ACCESSIBLE: '1' });
  prefer(workspace, { 'sandbox-speed': 20 });
  terminals = [];
});
afterEach(() => {
  for (const terminal of terminals) {
    expect(terminal.raw).not.toMatch(moves);
    terminal.close();
  }
  workspace.remove();
});

function open(args: readonly string[]): Terminal {
  const terminal = new Terminal(workspace, 'errand', args, { columns: 80, rows: 24 });
  terminals.push(terminal);
  return terminal;
}

/** Answers each question once it is asked below what was there before. */
async function answer(terminal: Terminal, ...turns: readonly (readonly [RegExp, string])[]): Promise<void> {
  let from = 0;
  for (const [asked, typed] of turns) {
    await expect.poll(() => asked.test(terminal.text.slice(from))).toBe(true);
    from = terminal.text.length;
    terminal.type(typed + enter);
  }
}

const json = async (...args: string[]) =>
  JSON.parse((await errand(workspace, [...args, '-o', 'json'])).stdout);

describe('without a movement of the cursor', () => {
  test('quickstart', async () => {
    const terminal = open(['quickstart']);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toMatch(/Watch: delivered/);
  });

  test('an order: words, a numbered choice, the ceiling, a change, yes', async () => {
    const [, second] = await json('search', 'tea');
    const terminal = open(['order', 'create']);
    await answer(
      terminal,
      [/What to order.*: $/, 'tea'],
      [/Which one\?\n {2}1\. [\s\S]*Number, 1 to \d+: $/, '99'],
      [/type a number from 1 to[\s\S]*: $/, '2'],
      [/Price ceiling[\s\S]*: $/, '90'],
      [/dollars or cents\?[\s\S]*: $/, '$90'],
      [/Place this order\? \(y\/N, e to edit\): $/, 'e'],
      [/What to change:[\s\S]*Number, 1 to \d: $/, '2'],
      [/Quantity \(1\): $/, '2'],
      [/quantity +2[\s\S]*Place this order\?.*: $/, 'y'],
    );
    expect(await terminal.ended()).toBe(0);
    expect(await json('order', 'list')).toMatchObject([{ items: [{ url: second.url, quantity: 2 }] }]);
  });

  test('a watch says each change of each order in a line', async () => {
    const [one, other] = [await orderOf(workspace, 'test-success'), await orderOf(workspace, 'test-success')];
    const terminal = open(['order', 'watch', one, other]);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toMatch(new RegExp(`order ${one.slice(0, 8)}: \\w+`));
    expect(terminal.text).toMatch(/: delivered, 2 of 2\n/);
    const spoken = terminal.text.match(/^order \w{8}: [a-z ]+/gm);
    expect(spoken).toEqual([...new Set(spoken)]);
  });

  test('a return: numbered items, reason, yes; then it is watched', async () => {
    const order = await orderOf(workspace, 'test-success');
    await errand(workspace, ['order', 'watch', order, '--until', 'placed']);
    const terminal = open(['return', 'create']);
    await answer(
      terminal,
      [/Order:\n {2}1\. [\s\S]*Number.*: $/, '1'],
      [/Reason:[\s\S]*Number.*: $/, '1'],
      [/Request this return\? \(y\/N\): $/, 'y'],
    );
    expect(await terminal.ended()).toBe(0);
    const [{ id }] = await json('return', 'list');
    expect(await open(['return', 'watch', id, '--interval', '100ms']).ended()).toBe(0);
  });

  test('an upload, and what became of it', async () => {
    const { stdout } = await errand(workspace, ['bulk', 'template']);
    writeFileSync(join(workspace.folder, 'orders.csv'), stdout);
    const terminal = open(['bulk', 'upload', 'orders.csv', '--watch']);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toMatch(/2 orders: 2 placed/);
  });

  test('an address, field by field; Ctrl-C and Ctrl-D end it', async () => {
    const terminal = open(['address', 'add', 'work']);
    await answer(terminal, [/First name.*: $/, ''], [/a value is needed[\s\S]*: $/, 'Ada']);
    await expect.poll(() => terminal.text).toMatch(/Last name: $/);
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
    const other = open(['address', 'add', 'work']);
    await other.shows('First name');
    other.type('\u0004');
    expect(await other.ended()).toBe(130);
  });

  test('a key is typed unseen', async () => {
    const terminal = open(['auth', 'token']);
    await answer(terminal, [/API key \(what you type is not shown\): $/, 'zz_test_0123456789abcdef']);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).not.toContain('0123456789');
    expect(terminal.text).toContain('stored zz_test_…cdef');
  });

  test('what is typed before a question about an order does not answer it', async () => {
    const args = ['order', 'create', '--product', `${await embeddedShop()}test-success`];
    const terminal = open(args);
    await terminal.shows('Price ceiling');
    terminal.type(`$50${enter}y${enter}y${enter}`);
    await terminal.shows('Place this order? (y/N, e to edit): ');
    terminal.type(`n${enter}`);
    expect(await terminal.ended()).toBe(130);
    expect(await json('order', 'list')).toEqual([]);
  });
});

test('config set accessible does the same; lines writes tables as labelled lines', async () => {
  await errand(workspace, ['quickstart']);
  workspace.environment.ACCESSIBLE = '';
  expect((await errand(workspace, ['config', 'set', 'accessible', 'lines'])).code).toBe(0);
  const terminal = open(['order', 'list']);
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).toMatch(/^@ +1\nid +[\da-f-]{36}\nstate +✔ delivered\nproduct +\S/m);
});
