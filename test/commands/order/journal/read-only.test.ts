import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Journal } from '../../../../src/journal/journal.ts';
import { intent } from '../../../support/intents.ts';
import { errand, type Finished, shell } from '../../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const mustRun = process.env.ERRAND_CI === '1';
const isRoot = process.getuid?.() === 0;
const mounts = spawnSync('unshare', ['-m', 'true']).status === 0;

const order = (price: string): string =>
  `errand order create --product http://127.0.0.1:4848/shop/test-success --ship-to home --max-price '${price}' -o id`;

/** Runs a line with a read-only state directory; for root this takes a mount. */
const readOnly = (workspace: Workspace, line: string): Promise<Finished> =>
  isRoot
    ? shell(
        workspace,
        `unshare -m bash -c ${quoted(`mount --bind "$ERRAND_STATE_DIR" "$ERRAND_STATE_DIR" && mount -o remount,ro,bind "$ERRAND_STATE_DIR" && ${line}`)}`,
      )
    : shell(
        workspace,
        `chmod 500 "$ERRAND_STATE_DIR"; ${line}; code=$?; chmod 700 "$ERRAND_STATE_DIR"; exit $code`,
      );

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

async function withOneOrder(): Promise<{ workspace: Workspace; id: string; state: string }> {
  const workspace = makeWorkspace();
  workspace.environment.TMPDIR = workspace.folder;
  onTestFinished(workspace.remove);
  const { stdout } = await shell(workspace, order('$5'));
  return { workspace, id: stdout.trim(), state: join(workspace.folder, '.state') };
}

/** A directory's contents, byte for byte. */
const contentOf = (folder: string): unknown =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [name, readFileSync(join(folder, name)).toString('base64')]);

describe.skipIf(isRoot && !mounts && !mustRun)('a folder of the state that is read-only', () => {
  test('keeps no command from reading, and nothing in it changes', async () => {
    const { workspace, id, state } = await withOneOrder();
    const before = contentOf(state);
    const journal = await readOnly(workspace, 'errand order journal list --all -o json');
    expect(journal).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(journal.stdout)).toMatchObject([{ state: 'reported', order_id: id }]);
    expect(await readOnly(workspace, 'errand order list -o id')).toMatchObject({
      code: 0,
      stdout: `${id}\n`,
    });
    expect(await readOnly(workspace, 'errand wallet -o json')).toMatchObject({ code: 0 });
    expect(await readOnly(workspace, 'errand webhook events -o json')).toMatchObject({
      code: 0,
      stdout: '[]\n',
    });
    expect(contentOf(state)).toEqual(before);
    expect(readdirSync(workspace.folder).filter((name) => name.startsWith('errand-read-'))).toEqual([]);
  });

  test('stops an order before it is sent, and says why', async () => {
    const { workspace, id } = await withOneOrder();
    const refused = await readOnly(workspace, order('$6'));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /journal\.db cannot be used: it is read-only; nothing was sent\n.*Make it writable/,
    );
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout).toBe(`${id}\n`);
    expect((await readOnly(workspace, 'errand sandbox advance 1h')).stderr).toMatch(
      /sandbox\.db cannot be used: it is read-only/,
    );
  });

  test('shows what another process has written last, and has not moved into the file yet', async () => {
    const { workspace, state } = await withOneOrder();
    const journal = await Journal.open(state, Date.now);
    onTestFinished(() => journal.close());
    const key = 'written-a-moment-ago';
    await journal.record({ ...intent(key), profile: 'local', baseUrl: 'embedded:' });
    expect(existsSync(join(state, 'journal.db-wal'))).toBe(true);
    const { stdout } = await readOnly(workspace, 'errand order journal list --all -o id');
    expect(stdout.split('\n')).toContain(key);
  });
});
