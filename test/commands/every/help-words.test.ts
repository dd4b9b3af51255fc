import { afterAll, beforeAll, expect, test } from 'vitest';
import { errand, shell } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeAll(() => {
  workspace = makeWorkspace();
});
afterAll(() => workspace.remove());

const help = async (...words: string[]): Promise<string> =>
  (await errand(workspace, [...words, '--help'])).stdout;

test('the help of a price flag shows currency units; cents are its twin alone', async () => {
  for (const words of [['search'], ['agent', 'search']]) {
    const text = await help(...words);
    expect(text).toMatch(/--max-price <amount> +highest price: '\$30' or 30\.00\n/);
    expect(text).not.toMatch(/<amount>.*in cents/);
  }
});

test('the help names flags as they are typed, never as they are on the wire', async () => {
  for (const words of [
    ['product', 'get'],
    ['agent', 'product', 'offers'],
    ['legacy', 'product'],
  ]) {
    const text = await help(...words);
    expect(text).toContain('not together with --newer-than');
    expect(text).not.toContain('newer_than');
  }
});

test('the help of account update does not speak of what only account add does', async () => {
  const text = await help('account', 'update');
  expect(text).not.toContain('without it');
});

test('the help of a negated flag says what it negates', async () => {
  expect(await help('auth', 'login')).toMatch(/--no-browser +the opposite of --browser\n/);
});

test('a paragraph of the help is wrapped once, to the width it has', async () => {
  expect(await help('doctor')).toContain('completion scripts and terminal. Every check');
  expect(await help('completion')).not.toContain('of\nprofiles,\n');
});

test('--version on a full disk is exit 1 and one message', async () => {
  const { code, stderr } = await shell(workspace, 'errand --version > /dev/full');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: cannot write the output: ENOSPC[^\n]*\n$/);
});
