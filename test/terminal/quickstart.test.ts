import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import { withTimeInHand } from '../support/begun.ts';
import { opens } from '../support/idle.ts';
import { errand } from '../support/run.ts';
import { Screen } from '../support/screen.ts';
import { serveAt } from '../support/served.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, prefer, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let terminal: Terminal | undefined;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => {
  terminal?.close();
  workspace.remove();
});

const speed = (factor: number) => prefer(workspace, { 'sandbox-speed': factor });

function start(columns: number, ...flags: readonly string[]): Terminal {
  terminal = new Terminal(workspace, 'errand', ['quickstart', ...flags], { columns, rows: 60 });
  return terminal;
}

/** The final screen contents. */
function screenOf({ raw }: Terminal, columns: number): string[] {
  const screen = new Screen(columns, 60);
  screen.write(raw.replaceAll('\r\n', '\n'));
  return screen.lines().map((line) => line.trimEnd());
}

test('a line a step with its command below, then what to type next', async () => {
  speed(30);
  const shown = start(80);
  expect(await shown.ended()).toBe(0);
  const lines = screenOf(shown, 80).filter((line) => line !== '');
  const steps = lines.filter((line) => line.startsWith('✔ '));
  expect(steps.map((line) => line.slice(0, 11))).toEqual([
    '✔ Sandbox  ',
    '✔ Search   ',
    '✔ Check    ',
    '✔ Order    ',
    '✔ Watch    ',
  ]);
  expect(steps[0]).toBe('✔ Sandbox  a test key, and a wallet with $1,000.00');
  expect(steps[1]).toMatch(/^✔ Search {3}.*, \$\d+\.\d\d$/);
  const [, id = ''] = /^✔ Order {4}([0-9a-f-]{36}), ceiling \$50\.00$/.exec(steps[3] ?? '') ?? [];
  expect(steps[4]).toMatch(/^✔ Watch {4}delivered, \$\d+\.\d\d, by /);
  expect(lines).toContain('  errand wallet');
  const short = id.slice(0, 8);
  expect(lines).toContain(`  errand order watch ${short}`);
  expect(lines.slice(lines.indexOf('Next'))).toEqual([
    'Next',
    '  errand order list               your orders',
    `  errand order timeline ${short}  how it went`,
    '  errand search tea               something else',
    '  errand sandbox serve            a console in the browser',
  ]);
  expect(shown.raw).toContain('\u001b[32m✔\u001b[39m Sandbox');
  expect(shown.raw).toContain('  \u001b[2merrand wallet\u001b[22m');
  expect(shown.raw).toContain('\u001b[36merrand order list\u001b[39m');
  // The spinner is gone and the cursor is visible again.
  expect(lines.join('\n')).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/u);
  expect(shown.raw.lastIndexOf('\u001b[?25h')).toBeGreaterThan(shown.raw.lastIndexOf('\u001b[?25l'));
});

test('every command of it runs as it is printed, at a terminal', async () => {
  speed(30);
  const shown = start(50);
  expect(await shown.ended()).toBe(0);
  // Join lines that end in a backslash; the terminal itself only wraps text without spaces.
  const text = shown.text.replace(/ \\\n +/g, ' ');
  const commands = [...text.matchAll(/^ {2}(errand .*?)(?: {2,}.*)?$/gm)].map(([, line = '']) => line);
  expect(commands.length).toBeGreaterThan(8);
  for (const line of commands.filter((one) => !/sandbox serve|order create/.test(one))) {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
    terminal = new Terminal(workspace, 'errand', words.slice(1), { columns: 80 });
    expect([line, await terminal.ended()]).toEqual([line, 0]);
  }
});

test('in 50 columns nothing is lost: what does not fit goes on below', async () => {
  speed(30);
  const shown = start(50);
  expect(await shown.ended()).toBe(0);
  const lines = screenOf(shown, 50);
  const order = lines.findIndex((line) => line.startsWith('✔ Order'));
  expect(lines[order]).toMatch(/^✔ Order {4}[0-9a-f-]{36},$/);
  expect(lines[order + 1]).toBe('           ceiling $50.00');
  expect(lines.find((line) => line.startsWith('✔ Search'))).toMatch(/, \$\d+\.\d\d$/);
});

test('NO_COLOR leaves the signs, and nothing but the cursor is moved', async () => {
  speed(30);
  workspace.environment.NO_COLOR = '1';
  const shown = start(80);
  expect(await shown.ended()).toBe(0);
  expect(shown.raw).toContain('✔ Sandbox  a test key');
  expect(shown.raw).not.toMatch(/\u001b\[(?:1|2|22|3\d|9\d)m/);
});

test('Ctrl-C while the order lives says where it stands and how to go on, and leaves nothing owed', async () => {
  speed(1);
  const shown = start(80);
  await shown.shows('Watch    waiting');
  shown.type('\u0003');
  expect(await shown.ended()).toBe(130);
  const lines = screenOf(shown, 80);
  const id = (await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.trim();
  expect(lines.join('\n')).toMatch(/^● Watch {4}(?:waiting|in progress)$/m);
  expect(lines).toContain(`The order goes on: errand order watch ${id.slice(0, 8)}`);
  expect(shown.text).not.toContain('error');
  expect((await errand(workspace, ['order', 'journal', 'list', '-o', 'json'])).stdout).toBe('[]\n');
});

test('Ctrl-C while a key of the sandbox is minted is no error: nothing was ordered', async () => {
  await errand(workspace, ['sandbox', 'mint', '-o', 'id']);
  rmSync(join(workspace.folder, '.config'), { recursive: true });
  const Sqlite = loadSqlite();
  const held = new Sqlite(join(workspace.folder, '.state', 'sandbox.db'));
  onTestFinished(() => held.close());
  held.exec('BEGIN EXCLUSIVE');
  const shown = start(80);
  await shown.shows('Sandbox');
  await expect.poll(() => opens(shown.pid, 'sandbox.db')).toBe(true);
  shown.type('\u0003');
  expect(await shown.ended()).toBe(130);
  const lines = screenOf(shown, 80).filter((line) => line !== '');
  expect(lines).toEqual([
    '● Sandbox  stopped here',
    'Nothing was ordered. From the start: errand quickstart',
  ]);
});

test('--timeout leaves the order as it goes on', async () => {
  // Use a served sandbox: its clock does not advance with the command's.
  const served = await serveAt(workspace, '--memory');
  const key = JSON.parse(await (await fetch(`${served.url}/sandbox/keys`, { method: 'POST' })).text());
  Object.assign(workspace.environment, { ERRAND_BASE_URL: served.url, ERRAND_API_KEY: key.api_key });
  await errand(workspace, ['address', 'add', 'home', '--file', '-'], {
    stdin: JSON.stringify(key.example_order.shipping_address),
  });
  workspace = withTimeInHand(workspace);
  const shown = start(80, '--timeout', '30m');
  await shown.shows(/Watch +(?:waiting|in progress)/);
  process.kill(shown.pid, 'SIGUSR2');
  expect(await shown.ended()).toBe(8);
  const text = screenOf(shown, 80).join('\n');
  expect(text).toMatch(/^● Watch {4}.*; the time is up, and the order goes on$/m);
  expect(text).toMatch(/^Next\n {2}errand order watch [0-9a-f]{8} +goes on watching$/m);
});

test.each([
  ['GET /search', 'Search', 'Done before: Sandbox.'],
  ['GET /retailers/check', 'Check', 'Done before: Sandbox, Search.'],
])('where %s fails, one error says what was done', async (path, label, done) => {
  const served = await serveAt(workspace, '--memory', '--fault', `503@${path}`);
  const key = JSON.parse(await (await fetch(`${served.url}/sandbox/keys`, { method: 'POST' })).text());
  Object.assign(workspace.environment, { ERRAND_BASE_URL: served.url, ERRAND_API_KEY: key.api_key });
  const shown = start(140, '--retries', '0');
  expect(await shown.ended()).toBe(9);
  const lines = screenOf(shown, 140).filter((line) => line !== '');
  expect(lines).toContain(`✖ ${label.padEnd(9)}stopped here`);
  expect(lines.filter((line) => line.startsWith('error:'))).toHaveLength(1);
  expect(lines.join(' ')).toContain(`error: ${label}: `);
  expect(lines.join(' ')).toContain(`${done} Nothing was ordered.`);
});

test('an order in doubt is said to be in doubt, never that nothing was ordered', async () => {
  const served = await serveAt(workspace, '--memory', '--fault', 'reset-after@POST /orders');
  const key = JSON.parse(await (await fetch(`${served.url}/sandbox/keys`, { method: 'POST' })).text());
  Object.assign(workspace.environment, { ERRAND_BASE_URL: served.url, ERRAND_API_KEY: key.api_key });
  await errand(workspace, ['address', 'add', 'home', '--file', '-'], {
    stdin: JSON.stringify(key.example_order.shipping_address),
  });
  const shown = start(140, '--retries', '0');
  expect(await shown.ended()).toBe(10);
  expect(shown.text).toContain('✖ Order    stopped here');
  expect(shown.text).toContain('errand order journal resume');
  expect(shown.text).not.toContain('Nothing was ordered');
});
