import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { embeddedShop, errand, orderOf } from '../support/run.ts';
import { errorOf } from '../support/shopping.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { DatabaseProxy } from './proxy.ts';

describe.skipIf(!hasPostgres)('what the database costs an order', () => {
  const server = useServer();

  test('three round trips before it is sent, and a commit each for its response and its report', async () => {
    const proxy = await DatabaseProxy.start(server().port);
    onTestFinished(() => proxy.close());
    const { url } = await server().newDatabase();
    const workspace = makeWorkspace({ ERRAND_DATABASE_URL: proxy.url(url) });
    onTestFinished(workspace.remove);
    await orderOf(workspace, 'test-success');
    proxy.reset();
    await orderOf(workspace, 'test-slow');
    const written = proxy.statements.map((statement) =>
      statement.includes('INSERT INTO errand.intents') ? 'record' : 'other',
    );
    // Others' writes, the attempts at the need, then the attempt together with its intent.
    expect(written.slice(0, 3)).toEqual(['other', 'other', 'record']);
    expect(written.filter((kind) => kind === 'record')).toHaveLength(3);
    expect(proxy.connections).toBe(2);
  });

  test('an order whose attempt comes after that of another command is not sent', async () => {
    const proxy = await DatabaseProxy.start(server().port);
    onTestFinished(() => proxy.close());
    const { url } = await server().newDatabase();
    const workspace = makeWorkspace({ ERRAND_DATABASE_URL: proxy.url(url) });
    onTestFinished(workspace.remove);
    const product = `${await embeddedShop()}test-success`;
    const create = ['order', 'create', '--product', product, '--max-price', '$50', '--ship-to', 'home'];
    const other: unknown[] = [];
    proxy.faultAt({
      ...{ at: /INSERT INTO errand\.intents/, arrives: false, end: 'cut' },
      onMessage: () => {
        const env = { ...workspace.environment, ERRAND_DATABASE_URL: url };
        other.push(
          spawnSync(join(workspace.folder, '.bin/errand'), create, { cwd: workspace.folder, env }).status,
        );
      },
    });
    const { code, stderr } = await errand(workspace, create);
    expect([other, code], stderr).toEqual([[0], 5]);
    expect((await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.trim().split('\n')).toHaveLength(
      1,
    );
  });

  describe('where the attempts at a need change before each commit', () => {
    /** A machine with one order placed, in whose database every write changes what is known of the attempts. */
    async function unsettled() {
      const database = await server().newDatabase();
      const workspace = makeWorkspace({ ERRAND_DATABASE_URL: database.url });
      onTestFinished(workspace.remove);
      await orderOf(workspace, 'test-success');
      await database.run(`CREATE FUNCTION errand.touch() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN UPDATE errand.attempts SET made_at = made_at + 1; RETURN NULL; END $$;
        CREATE TRIGGER touches AFTER UPDATE ON errand.heads FOR EACH STATEMENT EXECUTE FUNCTION errand.touch()`);
      const product = `${await embeddedShop()}test-success`;
      return (...more: string[]) =>
        errand(workspace, [
          ...['order', 'create', '--product', product, '--max-price', '$50', '--ship-to', 'home'],
          ...['-o', 'json', ...more],
        ]);
    }

    test('an order with a key of its own is placed, since no other order concerns it', async () => {
      const order = await unsettled();
      const { code, stderr } = await order('--idempotency-key', 'loop-17');
      expect(code, stderr).toBe(0);
    });

    test('another order is refused in the end, and nothing was sent', async () => {
      const order = await unsettled();
      const refused = await order('--new');
      expect([refused.code, errorOf(refused)]).toMatchObject([5, { code: 'overtaken', outcome: 'not_sent' }]);
    });
  });
});
