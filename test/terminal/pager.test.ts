import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand, shell } from '../support/run.ts';
import type { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { useTerminals } from './terminals.ts';

let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace({ PAGER: 'sh pager.sh' });
  writeFileSync(join(workspace.folder, 'pager.sh'), 'echo "pager begins ($LESS)"; cat; echo "pager ends"\n');
});
afterEach(() => {
  workspace.remove();
});
const terminalOf = useTerminals(() => workspace);

function open(args: readonly string[]): Terminal {
  return terminalOf('errand', args, { columns: 80, rows: 12 });
}

test('what is longer than the terminal goes through the pager, hints below it; what is shorter does not', async () => {
  const long = open(['search', 'coffee']);
  expect(await long.ended()).toBe(0);
  expect(long.text).toMatch(/^pager begins \(FRX\)\n[\s\S]*TITLE[\s\S]*pager ends\n@1 names the first row/m);
  const short = open(['search', 'coffee', '--limit', '3']);
  expect(await short.ended()).toBe(0);
  expect(short.text).toMatch(/TITLE[\s\S]*@1 names the first row/);
  expect(short.text).not.toContain('pager');
  const help = open(['order', 'create', '--help']);
  expect(await help.ended()).toBe(0);
  expect(help.text).toMatch(/pager begins[\s\S]*Usage: errand order create[\s\S]*pager ends/);
});

test('--no-pager, PAGER= and the preference turn it off, and no pipe has one', async () => {
  const off = async (args: readonly string[]): Promise<void> => {
    const terminal = open(args);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).not.toContain('pager begins');
  };
  await off(['search', 'coffee', '--no-pager']);
  await off(['order', 'create', '--help', '--no-pager']);
  expect((await shell(workspace, 'errand search coffee | cat')).stdout).not.toContain('pager begins');
  expect((await errand(workspace, ['order', 'create', '--help'])).stdout).not.toContain('pager begins');
  delete workspace.environment.PAGER;
  await errand(workspace, ['config', 'set', 'pager', 'sh pager.sh']);
  const set = open(['search', 'coffee']);
  expect(await set.ended()).toBe(0);
  expect(set.text).toContain('pager begins');
  await errand(workspace, ['config', 'set', 'pager', 'off']);
  await off(['search', 'coffee']);
  workspace.environment.PAGER = 'sh pager.sh';
  workspace.environment.CI = '1';
  await off(['search', 'coffee']);
});

test('a pager that is left early, or that is not there, breaks nothing', async () => {
  writeFileSync(join(workspace.folder, 'pager.sh'), 'head -2\n');
  const left = open(['search', 'coffee']);
  expect(await left.ended()).toBe(0);
  expect(left.text).toContain('TITLE');
  workspace.environment.PAGER = 'no-such-pager-at-all';
  const missing = open(['search', 'coffee']);
  expect(await missing.ended()).toBe(0);
  expect(missing.text).toMatch(/TITLE[\s\S]*@1 names the first row/);
});

test('config edit changes what the editor saves, and nothing if a line is wrong', async () => {
  writeFileSync(join(workspace.folder, 'editor.sh'), 'printf "%s\\n" "$LINES_TO_SAVE" > "$1"\n');
  workspace.environment.EDITOR = 'sh editor.sh';
  workspace.environment.LINES_TO_SAVE = 'retries = 2\nutc = on';
  const good = open(['config', 'edit']);
  expect(await good.ended()).toBe(0);
  expect(good.text).toContain('retries = 2');
  workspace.environment.LINES_TO_SAVE = 'retries = 3\ncolor = mauve';
  const bad = open(['config', 'edit']);
  expect(await bad.ended()).toBe(2);
  expect(bad.text.replaceAll(/\s+/g, ' ')).toContain(
    'line 2: color takes one of auto, always, never, not "mauve"; nothing was changed',
  );
  const listed = JSON.parse((await errand(workspace, ['config', 'list', '-o', 'json'])).stdout);
  const of = (wanted: string) => listed.find(({ name }: { name: string }) => name === wanted);
  expect(of('retries')).toMatchObject({ value: 2, in_use: '2', default: '4', from: 'config' });
  expect(of('utc')).toMatchObject({ value: true, in_use: 'on', from: 'config' });
  expect(of('pager')).toMatchObject({ value: null, in_use: 'sh pager.sh', from: 'PAGER' });
  expect(of('color')).toMatchObject({ value: null, in_use: 'auto', from: 'default' });
});
