import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { orderBody } from '../support/order-body.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { errorOf, lose, type Shopping, shopping } from '../support/shopping.ts';
import { makeWorkspace } from '../support/workspace.ts';

describe.skipIf(!hasPostgres)('an order that the buyer names, on machines that share a database', () => {
  const server = useServer();
  const named = ['--reference', 'REQ-1', '-o', 'json'];

  /** A machine with its own folder, using the same service and database. */
  function machine({ workspace, service }: Shopping, url: string) {
    const own = makeWorkspace({ ...workspace.environment, ERRAND_DATABASE_URL: url });
    onTestFinished(() => own.remove());
    const file = JSON.stringify(orderBody(service.product('test-success')));
    writeFileSync(join(own.folder, 'order.json'), file);
    return (...more: readonly string[]) =>
      errand(own, ['order', 'create', '--file', 'order.json', '--retries', '0', ...more]);
  }

  test('is bought once, and all that is written of it names that order', async () => {
    const shop = await shopping();
    const database = await server().newDatabase();
    const machines = Array.from({ length: 4 }, () => machine(shop, database.url));
    const all = await Promise.all(machines.map((order) => order(...named)));
    const said = all.map(({ stderr }) => stderr).join('\n');
    expect(
      all.map(({ code }) => code).filter((code) => code !== 0 && code !== 5),
      said,
    ).toEqual([]);
    const [order, ...more] = await shop.orders();
    expect(more).toEqual([]);
    const again = await machines[0]?.(...named);
    expect([again?.code, JSON.parse(again?.stdout ?? '').id]).toEqual([0, order?.id]);
    expect(
      await database.rows(
        // A machine that sees the order listed before its sender has noted it writes it down, too.
        "SELECT DISTINCT reference, state, order_id, number FROM errand.attempts WHERE state <> 'unsent'",
      ),
    ).toEqual([{ reference: 'REQ-1', state: 'placed', order_id: order?.id, number: 1 }]);
  });

  test('is bought again where it was given up, once that is said', async () => {
    const shop = await shopping();
    const { url } = await server().newDatabase();
    const order = machine(shop, url);
    lose(shop, 'reset-before');
    expect((await order(...named)).code).toBe(10);
    Object.assign(shop.workspace.environment, { ERRAND_DATABASE_URL: url });
    const key = (await shop.run('order', 'journal', 'list', '-o', 'id')).stdout.trim();
    const forgotten = await shop.run('order', 'journal', 'forget', key);
    expect(forgotten.code, forgotten.stderr).toBe(0);
    const again = await order(...named);
    expect([again.code, errorOf(again).code], again.stderr).toEqual([5, 'reference_unknown']);
    const bought = await order(...named, '--again');
    expect(bought.code, bought.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('is bought again where another machine has emptied the sandbox, or brought it back', async () => {
    const shop = await shopping();
    const database = await server().newDatabase();
    const [first, second] = [machine(shop, database.url), machine(shop, database.url)];
    const { workspace, service } = shop;
    Object.assign(workspace.environment, { ERRAND_DATABASE_URL: database.url });
    const sandbox = (...args: string[]) => errand(workspace, ['sandbox', ...args]);
    const snapshot = await sandbox('snapshot', 'before');
    expect(snapshot.code, snapshot.stderr).toBe(0);
    const placed = await first(...named);
    expect(placed.code, placed.stderr).toBe(0);
    expect((await sandbox('restore', 'before')).code).toBe(0);
    const states = () => database.rows('SELECT state FROM errand.attempts ORDER BY serial');
    expect(await states()).toEqual([{ state: 'unsent' }]);
    const other = ['--reference', 'REQ-2', '-o', 'json'];
    const different = await second('--product', service.product('test-two-packages'), ...other);
    expect([different.code, JSON.parse(different.stdout).id]).toEqual([0, JSON.parse(placed.stdout).id]);
    const again = await second(...named);
    expect(again.code, again.stderr).toBe(0);
    expect(await shop.orders()).toHaveLength(2);
    expect(await states()).toEqual([{ state: 'unsent' }, { state: 'placed' }, { state: 'placed' }]);
  });

  test('that one machine left in doubt is settled by another', async () => {
    const shop = await shopping();
    const database = await server().newDatabase();
    const [first, second] = [machine(shop, database.url), machine(shop, database.url)];
    lose(shop, 'reset-before');
    const lost = await first(...named);
    expect([lost.code, errorOf(lost).outcome]).toEqual([10, 'unknown']);
    const settled = await second(...named);
    expect(settled.code, settled.stderr).toBe(0);
    expect(settled.stderr).toContain('is in doubt since');
    expect(await shop.orders()).toHaveLength(1);
  });
});
