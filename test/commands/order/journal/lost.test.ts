import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../../../src/platform/sqlite/load.ts';
import { errorOf, lose, shopping } from '../../../support/shopping.ts';

test('a state folder that is gone is not taken for new: nothing is ordered until somebody has looked', async () => {
  const shop = await shopping();
  lose(shop, 'reset-after');
  expect((await shop.order()).code).toBe(10);
  rmSync(join(shop.workspace.folder, '.state'), { recursive: true });
  const refused = await shop.order('-o', 'json');
  expect(refused.code).toBe(1);
  expect(errorOf(refused)).toMatchObject({
    outcome: 'unknown',
    message: expect.stringContaining('journal.db is empty or gone, and a journal was begun there at'),
    next: [{ command: 'errand order list' }, { command: 'errand order journal repair' }],
  });
  expect((await shop.run('order', 'list')).code).toBe(0);
  expect(await shop.orders()).toHaveLength(1);
  const repaired = await shop.run('order', 'journal', 'repair');
  expect([repaired.code, repaired.stderr]).toEqual([0, expect.stringContaining('a new journal is begun')]);
  expect((await shop.order()).code).toBe(0);
  expect(await shop.orders()).toHaveLength(2);
});

test.each([
  ['a column is gone', 'ALTER TABLE intents RENAME COLUMN created_at TO created_aT2'],
  ['the tally was changed', 'UPDATE tally SET count = 7'],
  ['a record is gone', 'DELETE FROM intents'],
])(
  'a journal that cannot vouch for itself, as %s: this run sent nothing, and an earlier one may have',
  async (_, damage) => {
    const shop = await shopping();
    expect((await shop.order()).code).toBe(0);
    const database = new (loadSqlite())(join(shop.workspace.folder, '.state', 'journal.db'));
    database.exec(damage);
    database.close();
    const refused = await shop.order('-o', 'json');
    expect(refused.code).toBe(1);
    expect(errorOf(refused)).toMatchObject({
      outcome: 'unknown',
      message: expect.stringMatching(/damaged.*; nothing was sent now, and /),
      hint: expect.stringContaining('An earlier command may have ordered'),
      next: expect.arrayContaining([expect.objectContaining({ command: 'errand order journal repair' })]),
    });
    expect(refused.stderr).not.toContain('no such column');
    expect(await shop.orders()).toHaveLength(1);
  },
);

test('a state folder that cannot be made where a journal was: no other folder is suggested', async () => {
  const shop = await shopping();
  lose(shop, 'reset-after');
  expect((await shop.order()).code).toBe(10);
  const state = join(shop.workspace.folder, '.state');
  renameSync(state, `${state}-away`);
  writeFileSync(state, '');
  const refused = await shop.order('-o', 'json');
  expect(refused.code).toBe(1);
  expect(errorOf(refused)).toMatchObject({
    outcome: 'unknown',
    hint: expect.stringContaining('Another folder is no remedy: an earlier command may have ordered'),
  });
  expect(refused.stderr).not.toContain('ERRAND_STATE_DIR');
  rmSync(state);
  renameSync(`${state}-away`, state);
  expect((await shop.order()).code).toBe(0);
  expect(await shop.orders()).toHaveLength(1);
});
