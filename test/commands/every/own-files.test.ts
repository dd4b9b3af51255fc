import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { embeddedShop, errand, shell } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { copyOf, makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const at = (...path: string[]): string => join(workspace.folder, ...path);
const modeOf = (path: string): number => statSync(path).mode & 0o777;
const fifo = (path: string): void => void execFileSync('mkfifo', [path]);

/** A workspace with all files errand keeps, created the way a user would. */
let settled: Workspace;

beforeAll(async () => {
  settled = makeWorkspace();
  const url = `${await embeddedShop()}test-success`;
  const line = `errand order create --product ${url} --max-price '$50' --ship-to home -o id`;
  const account =
    'echo hunter2222 > password && errand account add --email a@b.example --password-file password';
  const events = 'errand webhook listen --timeout 1ms || true';
  const { code, stderr } = await shell(settled, `${line} && ${account} && ${events}`);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(existsSync(join(settled.folder, '.state', 'sandbox.db.key'))).toBe(true);
});
afterAll(() => settled.remove());

function settle(): void {
  workspace.remove();
  workspace = copyOf(settled);
}

describe('what errand keeps', () => {
  test('is tightened wherever others could use it, and each file is told once', async () => {
    settle();
    const files = ['journal.db', 'journal.db-seal', 'webhooks.db', 'sandbox.db', 'sandbox.db.key'];
    for (const file of files) chmodSync(at('.state', file), 0o666);
    chmodSync(at('.config', 'config.json'), 0o644);
    for (const folder of ['.state', '.config']) chmodSync(at(folder), 0o777);
    const { code, stderr } = await errand(workspace, ['account', 'list']);
    expect(code).toBe(0);
    for (const file of files) {
      expect(stderr).toContain(
        `${at('.state', file)} could be used by others (mode 0666); its mode is 0600 now\n`,
      );
      expect(modeOf(at('.state', file))).toBe(0o600);
    }
    expect(stderr).toContain(`${at('.config', 'config.json')} could be used by others (mode 0644)`);
    expect(stderr).toContain(`${at('.config')} could be used by others (mode 0777); its mode is 0700 now`);
    expect(stderr).toContain(`${at('.state')} could be used by others (mode 0777); its mode is 0700 now`);
    expect([modeOf(at('.config')), modeOf(at('.state')), modeOf(at('.config', 'config.json'))]).toEqual([
      0o700, 0o700, 0o600,
    ]);
    expect((await errand(workspace, ['account', 'list'])).stderr).toBe('');
  });

  test.each([
    'journal.db',
    'journal.db-seal',
    'webhooks.db',
    'sandbox.db',
    'sandbox.db.key',
    'sandbox.db-wal',
  ])('a link in the place of %s is refused, and what it leads to is neither read nor made', async (name) => {
    settle();
    for (const target of ['there', 'nowhere']) {
      rmSync(at('.state', name), { force: true });
      writeFileSync(at('there'), 'mine');
      symlinkSync(at(target), at('.state', name));
      const { code, stderr, stdout } = await errand(workspace, ['order', 'list']);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(`${at('.state', name)} is a link; errand does not follow links`);
      expect(stderr).toContain('Another folder is no remedy');
      expect([readFileSync(at('there'), 'utf8'), existsSync(at('nowhere'))]).toEqual(['mine', false]);
    }
  });

  test.each([
    ['.config', 'config.json'],
    ['.state', 'journal.db'],
    ['.state', 'journal.db-seal'],
    ['.state', 'sandbox.db'],
    ['.state', 'sandbox.db.key'],
  ])('a FIFO in the place of %s/%s is refused at once', async (folder, name) => {
    mkdirSync(at(folder), { mode: 0o700 });
    fifo(at(folder, name));
    const { code, signal, stderr } = await errand(workspace, ['order', 'list']);
    expect([code, signal]).toEqual([1, null]);
    expect(stderr).toContain(`${at(folder, name)} is a FIFO, not a file`);
    const tab = await errand(workspace, ['__complete', '--', 'order', 'get', '']);
    expect([tab.code, tab.signal]).toEqual([0, null]);
    const doctor = await errand(workspace, ['doctor', '-o', 'json']);
    expect(doctor.stdout).toContain('is a FIFO, not a file');
  });

  test("another user's file or folder is not used", async () => {
    settle();
    if (process.getuid?.() !== 0) {
      // Only root can change a file's owner; other users can only check that root's files are trusted.
      expect(statSync('/').uid).toBe(0);
      return;
    }
    chownSync(at('.state', 'journal.db'), 12_345, 12_345);
    const file = await errand(workspace, ['order', 'list']);
    expect(file.stderr).toContain(`${at('.state', 'journal.db')} belongs to another user (uid 12345)`);
    chownSync(at('.state', 'journal.db'), 0, 0);
    chownSync(at('.config'), 12_345, 12_345);
    const folder = await errand(workspace, ['order', 'list']);
    expect([folder.code, folder.stderr]).toEqual([1, expect.stringContaining('.config belongs to another')]);
  });
});

describe('files that the user names', () => {
  test('the data of a served sandbox is tightened and told, its key too', async () => {
    settle();
    renameSync(at('.state', 'sandbox.db'), at('data.db'));
    renameSync(at('.state', 'sandbox.db.key'), at('data.db.key'));
    for (const file of ['data.db', 'data.db.key']) chmodSync(at(file), 0o666);
    const { stderr } = await serveAt(workspace, '--data', 'data.db');
    for (const file of ['data.db', 'data.db.key'])
      expect(stderr()).toContain(`${at(file)} could be used by others (mode 0666); its mode is 0600 now`);
    expect([modeOf(at('data.db')), modeOf(at('data.db.key'))]).toEqual([0o600, 0o600]);
  });

  test('a --secret-file that others could read is tightened and told; a link or a FIFO is refused', async () => {
    writeFileSync(at('secret'), 'abcdefghijklmnopqrstuvwx\n', { mode: 0o644 });
    const listen = (file: string) =>
      errand(workspace, ['webhook', 'listen', '--secret-file', file, '--timeout', '1ms']);
    const { stderr } = await listen('secret');
    expect(stderr).toContain('secret could be used by others (mode 0644); its mode is 0600 now');
    expect(modeOf(at('secret'))).toBe(0o600);
    symlinkSync('secret', at('link'));
    expect(await listen('link')).toMatchObject({ code: 2, stderr: expect.stringContaining('is a link') });
    fifo(at('pipe'));
    expect(await listen('pipe')).toMatchObject({ code: 2, stderr: expect.stringContaining('is a FIFO') });
  });
});
