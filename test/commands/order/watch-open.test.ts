import { afterEach, beforeEach, expect, test } from 'vitest';
import { Begun } from '../../support/begun.ts';
import { errand, orderOf } from '../../support/run.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;

beforeEach(async () => {
  workspace = makeWorkspace();
  prefer(workspace, { 'sandbox-speed': 20 });
});
afterEach(() => workspace.remove());

const watch = (...args: string[]) => errand(workspace, ['order', 'watch', ...args]);
const records = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('--open follows everything that is under way, and nothing that has ended', async () => {
  const ended = await orderOf(workspace, 'test-out-of-stock');
  await watch(ended);
  prefer(workspace, { 'sandbox-speed': 1 });
  const [one, other] = [await orderOf(workspace, 'test-never'), await orderOf(workspace, 'test-never')];
  const begun = new Begun(workspace, ['order', 'watch', '--open', '-o', 'ndjson', '--timeout', '30m']);
  for (const id of [one, other]) await begun.prints(id);
  begun.passDeadline();
  const { code, stdout } = await begun.ended();
  expect(code).toBe(8);
  const [ready, ...changes] = records(stdout);
  const summary = changes.pop();
  expect(ready).toMatchObject({ type: 'ready', orders: 2 });
  expect(new Set(changes.map(({ order }) => order.id))).toEqual(new Set([one, other]));
  expect(summary).toMatchObject({ type: 'summary', reached: 0, failed: 0, waiting: 2 });
});

test('what was placed is no more open for --until placed', async () => {
  prefer(workspace, { 'sandbox-speed': 1 });
  const id = await orderOf(workspace, 'test-success');
  await watch(id, '--until', 'placed');
  expect(await watch('--open', '--until', 'placed')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'no order is open\n',
  });
  expect(records((await watch('--open', '-o', 'ndjson')).stdout)[0]).toMatchObject({ orders: 1 });
});

test('nothing open: said to a person, and a program gets the first and the last record', async () => {
  await errand(workspace, ['sandbox', 'mint']);
  expect(await watch('--open')).toMatchObject({ code: 0, stdout: '', stderr: 'no order is open\n' });
  const { code, stdout } = await watch('--open', '-o', 'ndjson');
  expect(code).toBe(0);
  expect(records(stdout).map(({ type }) => type)).toEqual(['ready', 'summary']);
});

test('no ids and no terminal follow nothing, as ever; --open takes no ids', async () => {
  const id = await orderOf(workspace, 'test-slow');
  expect(await watch()).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'no order to watch; --open watches every open one\n',
  });
  expect(await watch(id, '--open')).toMatchObject({ code: 2, stdout: '' });
  expect(await watch('')).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('empty') });
});
