import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand } from '../support/run.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const enter = '\r';

let workspace: Workspace;
let terminal: Terminal;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => {
  terminal.close();
  workspace.remove();
});

async function accounts(): Promise<object[]> {
  return JSON.parse((await errand(workspace, ['account', 'list', '-o', 'json'])).stdout);
}

test('an Enter in place of a password is asked again, so that the password is not typed into the shell', async () => {
  terminal = new Terminal(workspace, 'errand', ['account', 'add', '--email', 'ada@example.com']);
  await terminal.shows('Which retailer is it for?');
  terminal.type(enter);
  await terminal.shows('Password');
  terminal.type(enter);
  await terminal.shows('nothing was typed; type it, or press Ctrl-C to end');
  terminal.type(`correct horse${enter}`);
  await terminal.shows('Two-factor secret (empty: none)');
  terminal.type(`123456${enter}`);
  await terminal.shows(/a 6-digit code: [^?]*type it again, or\s+press Ctrl-C to end/);
  terminal.type(`${'A'.repeat(64)}${enter}`);
  expect(await terminal.ended()).toBe(0);
  expect(terminal.raw).not.toContain('correct');
  expect(terminal.raw).not.toContain('AAAA');
  expect(await accounts()).toMatchObject([{ email: 'ada@example.com', has_totp: true }]);
});

test('an Enter in place of a new password is asked again; Ctrl-C ends and changes nothing', async () => {
  const password = ['account', 'add', '--email', 'ada@example.com', '--password-file', '-', '-o', 'id'];
  const id = (await errand(workspace, password, { stdin: 'before' })).stdout.trim();
  terminal = new Terminal(workspace, 'errand', ['account', 'update', id, '--new-password']);
  await terminal.shows('New password');
  terminal.type(enter);
  await terminal.shows('nothing was typed');
  terminal.type('\u0003');
  expect(await terminal.ended()).toBe(130);
  expect(terminal.text).toContain('interrupted; nothing was sent');
});

test('a key that is none is asked for again, and nothing of it is shown', async () => {
  terminal = new Terminal(workspace, 'errand', ['auth', 'token']);
  await terminal.shows('API key');
  terminal.type(enter);
  await terminal.shows('nothing was typed');
  terminal.type(`not a key${enter}`);
  await terminal.shows('the key holds spaces, line breaks or characters that no key has; type it again');
  terminal.type(`zz_test_0123456789abcdef${enter}`);
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).toContain('stored zz_test_…cdef');
  expect(terminal.raw).not.toContain('not a key');
});

const unlisted = ['account', 'add', '--email', 'ada@example.com', '--retailer', 'harborgood'];

test('a retailer that the service does not list is asked about before anything else, and Enter stores nothing', async () => {
  terminal = new Terminal(workspace, 'errand', unlisted);
  await terminal.shows('the service lists no retailer "harborgood"; did you mean harborgoods?');
  await terminal.shows('Use "harborgood" all the same? (y/N)');
  expect(terminal.text).not.toContain('Password');
  terminal.type(enter);
  expect(await terminal.ended()).toBe(2);
  expect(terminal.text).toContain('the service lists no retailer "harborgood"; nothing was stored');
  expect(await accounts()).toEqual([]);
});

test('a store that the service does not list is taken where a person says so', async () => {
  const file = [...unlisted, '--password-file', join(workspace.folder, 'password.txt')];
  writeFileSync(join(workspace.folder, 'password.txt'), 'correct horse\n');
  terminal = new Terminal(workspace, 'errand', file);
  await terminal.shows('(y/N)');
  terminal.type(`y${enter}`);
  expect(await terminal.ended()).toBe(0);
  expect(await accounts()).toMatchObject([{ retailer: 'harborgood' }]);
});
