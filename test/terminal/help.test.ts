import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errand, orderOf } from '../support/run.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, prefer, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
beforeAll(() => {
  workspace = makeWorkspace();
});
afterAll(() => workspace.remove());

async function shown(
  words: readonly string[],
  columns: number,
  environment: Record<string, string> = {},
): Promise<Terminal> {
  const own = { ...workspace, environment: { ...workspace.environment, ...environment } };
  const terminal = new Terminal(own, 'errand', words, { columns, rows: 500 });
  expect(await terminal.ended()).toBe(0);
  return terminal;
}

test('help on a terminal has bold headings and cyan commands', async () => {
  const { raw } = await shown(['order', 'create', '--help'], 80);
  expect(raw).toContain('\u001b[1mExamples:\u001b[22m');
  expect(raw).toContain('  \u001b[36m--max-price\u001b[39m <amount>');
  expect(raw).toContain(
    '  \u001b[2m# from a file, for a script: bought once, however often and wherever it runs\u001b[22m',
  );
  expect(raw).toContain(
    '  \u001b[36merrand order create --file order.json --reference REQ-00006 -o json --query id\u001b[39m',
  );
});

test('NO_COLOR and a pipe leave it plain, FORCE_COLOR colours a pipe', async () => {
  const { raw } = await shown(['order', '--help'], 80, { NO_COLOR: '1' });
  expect(raw).not.toContain('\u001b');
  expect(raw).toContain('Commands:');
  expect((await errand(workspace, ['order', '--help'])).stdout).not.toContain('\u001b');
  const forced = { ...workspace, environment: { ...workspace.environment, FORCE_COLOR: '1' } };
  expect((await errand(forced, ['order', '--help'])).stdout).toContain('\u001b[1mCommands:');
});

test.each([40, 50, 80, 120])('in %i columns no line is broken by the terminal', async (columns) => {
  for (const words of [
    ['--help'],
    ['order', 'create', '--help'],
    ['sandbox', 'serve', '--help'],
    ['help', 'policy'],
  ]) {
    const { text } = await shown(words, columns);
    expect(text.split('\n').filter((line) => line.length > columns)).toEqual([]);
  }
  expect((await shown(['order', 'create', '--help'], columns)).text).toMatch(
    /\[,condition=New\];\s+repeats\n/,
  );
});

test('commands are printed as they can be typed where errand is not on the PATH, and JSON keeps errand', async () => {
  const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const program = join(workspace.folder, '.bin', 'errand');
  const run = async (environment: Record<string, string>, ...words: string[]): Promise<string> => {
    const own = { ...workspace, environment: { ...workspace.environment, PATH: path, ...environment } };
    const terminal = new Terminal(own, process.execPath, [program, ...words], { columns: 200, rows: 200 });
    await terminal.ended();
    return terminal.text;
  };
  const npm = { npm_execpath: '/usr/lib/npm/bin/npx-cli.js' };
  expect(await run(npm, 'order', 'list', '--bad')).toContain('`npx errand order list --help`');
  expect(await run(npm, 'search', '--help')).toContain('  npx errand search coffee');
  expect(await run(npm, 'order', 'get', 'x')).toContain('`npx errand order list -o id` prints them');
  const plain = await run({}, 'order', 'get', 'x');
  expect(plain).toContain(`\`node ${program} order list -o id\` prints them`);
  expect(await run(npm, 'order', 'get', 'x', '-o', 'json')).toContain(
    '`errand order list -o id` prints them',
  );
  expect((await shown(['search', '--help'], 80)).text).toContain('  errand search coffee');
});

test('a record tells commands as they can be typed too, and a pipe keeps errand', async () => {
  prefer(workspace, { 'sandbox-speed': 1 });
  await errand(workspace, ['wallet']);
  const id = await orderOf(workspace, 'test-slow');
  const program = join(workspace.folder, '.bin', 'errand');
  const environment = {
    ...workspace.environment,
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    npm_execpath: '/usr/lib/npm/bin/npx-cli.js',
  };
  const terminal = new Terminal(
    { ...workspace, environment },
    process.execPath,
    [program, 'order', 'explain', id],
    {
      columns: 120,
      rows: 100,
    },
  );
  await terminal.ended();
  expect(terminal.text).toContain(`npx errand order watch ${id}`);
  const piped = await errand(workspace, ['order', 'explain', id]);
  expect(piped.stdout).toContain(`errand order watch ${id}`);
  expect(piped.stdout).not.toContain('npx');
});
