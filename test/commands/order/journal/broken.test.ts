import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadSqlite } from '../../../../src/platform/sqlite/load.ts';
import { errand, shell } from '../../../support/run.ts';
import { shopping } from '../../../support/shopping.ts';
import { makeWorkspace, type Workspace } from '../../../support/workspace.ts';

const order =
  'order create --product http://127.0.0.1:4848/shop/test-never --max-price 5.00 --ship-to home -o id';

/** A workspace with a single order. */
async function withOneOrder(): Promise<{ workspace: Workspace; journal: string; id: string }> {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  const { stdout } = await shell(workspace, `errand ${order}`);
  return { workspace, journal: join(workspace.folder, '.state', 'journal.db'), id: stdout.trim() };
}

/** Overwrites the root page of a table or an index. */
function destroy(journal: string, name: string): void {
  const database = new (loadSqlite())(journal);
  const row = database.prepare('SELECT rootpage FROM sqlite_master WHERE name = ?').get(name);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  const bytes = readFileSync(journal);
  const start = (Number(Object(row).rootpage) - 1) * 4096;
  writeFileSync(journal, bytes.fill(0xee, start, start + 4096));
}

describe('a journal that cannot be used', () => {
  test('stops an order before it is sent, and no command that only looks', async () => {
    const { workspace, journal, id } = await withOneOrder();
    writeFileSync(journal, 'this was a journal once, and no longer is');
    const create = await shell(workspace, `errand ${order}`);
    expect(create.code).toBe(1);
    expect(create.stderr).toContain('journal.db cannot be used: it is damaged');
    const list = await errand(workspace, ['order', 'list', '-o', 'id']);
    expect(list).toMatchObject({ code: 0, stdout: `${id}\n` });
    expect(list.stderr).toMatch(/cannot check whether an order is in doubt: .*it is damaged/);
    expect(await errand(workspace, ['order', 'get', id, '-o', 'id'])).toMatchObject({
      code: 0,
      stdout: `${id}\n`,
    });
    expect((await errand(workspace, ['order', 'timeline', id])).code).toBe(0);
  });

  test.each(['audit', 'intents', 'audit_order'])(
    'where the page of %s is destroyed: a look finds it, the repair mends it, and no order in doubt is lost',
    async (name) => {
      const shop = await shopping();
      await shop.order('--idempotency-key', 'k1', '--po-number', '1');
      shop.losses.faults = ['reset-after'];
      expect((await shop.order('--idempotency-key', 'k2', '--po-number', '2')).code).toBe(10);
      shop.losses.faults = [];
      destroy(join(shop.workspace.folder, '.state', 'journal.db'), name);
      const looked = await shop.run('doctor');
      expect(looked.stdout).toMatch(/journal +trouble/);
      expect(looked.stderr).toContain('errand order journal repair');
      const repaired = await shop.run('order', 'journal', 'repair');
      expect(repaired.stderr).toContain('a new journal is begun; the old one is kept as');
      expect((await shop.run('order', 'journal', 'repair')).stderr).toContain('the journal is whole');
      expect((await shop.run('doctor')).stdout).not.toContain('damaged');
      expect((await shop.run('order', 'journal', 'list', '-o', 'id')).stdout).toBe('k2\n');
      // The repeat either returns the order of k2 or is refused until the user has checked.
      const again = await shop.order('--po-number', '2');
      expect(again.code === 0 || /order journal (?:forget|resume)/.test(again.stderr)).toBe(true);
      const product = shop.service.product('test-slow');
      expect((await shop.order('--product', product)).code).toBe(0);
      expect(await shop.orders()).toHaveLength(3);
      expect((await shop.run('audit', 'verify')).code).toBe(0);
    },
  );

  test('from a newer errand is not written to: what it means is not known', async () => {
    const { workspace, journal, id } = await withOneOrder();
    const Database = loadSqlite();
    const database = new Database(journal);
    database.exec('PRAGMA user_version = 99');
    database.close();
    const create = await shell(workspace, `errand ${order}`);
    expect(create.code).toBe(1);
    expect(create.stderr).toMatch(
      /a newer errand has changed it; nothing was sent now, and an earlier command may have ordered\n.*\n.*Update errand/,
    );
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout).toBe(`${id}\n`);
  });

  test('once the order is sent hides neither the order nor the refusal', async () => {
    const { workspace, journal } = await withOneOrder();
    const Database = loadSqlite();
    const database = new Database(journal);
    database.exec(`CREATE TRIGGER full BEFORE UPDATE ON intents
      BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`);
    database.close();
    const made = await shell(workspace, `errand ${order.replace('test-never', 'test-success')}`);
    expect(made.code).toBe(0);
    expect(made.stderr).toMatch(
      /the order \S+ was placed, with the key \S+; the journal could not record that .*disk is full/,
    );
    const refused = await shell(
      workspace,
      `errand ${order.replace('test-never', 'test-insufficient-funds')}`,
    );
    expect(refused.code).toBe(6);
    expect(refused.stderr).toMatch(
      /no order was placed with the key \S+; the journal could not record that .*disk is full/,
    );
    const { stdout } = await errand(workspace, ['order', 'journal', 'list', '-o', 'id']);
    expect(stdout.trim().split('\n')).toHaveLength(2);
  });
});
