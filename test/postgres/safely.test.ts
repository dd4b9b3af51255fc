import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { orderBody } from '../support/order-body.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { type Shopping, shopping } from '../support/shopping.ts';
import { DatabaseProxy } from './proxy.ts';

/** Prologue of the programs; output is one line of JSON per call of `tell`. */
const beginning = `import { createClient } from 'errand';
  import { openJournal, placeOrder, resumeOrder } from 'errand/safely';
  const { SERVICE: baseUrl, KEY: apiKey, FOLDER: folder, ORDER, TEAM: database } = process.env;
  const order = JSON.parse(ORDER);
  const tell = (value) => console.log(JSON.stringify(value));
  const failure = (promise) => promise.then(
    ({ order, existed, notes }) => ({ id: order.id, existed, notes }),
    ({ name, category, message, facts: { outcome } }) => ({ name, category, message, outcome }));
  const client = createClient({ baseUrl, apiKey, retries: 0 });
  const open = (at = folder) => openJournal({ folder: at, database, program: 'shop' });`;

interface Told {
  readonly [name: string]: unknown;
}

describe.skipIf(!hasPostgres)('errand/safely, and a database that is lost', () => {
  const server = useServer();

  async function scene() {
    const shop = await shopping();
    const team = await server().newDatabase();
    const database = await DatabaseProxy.start(server().port);
    onTestFinished(() => database.close());
    return { shop, team, database };
  }

  /** Starts a program. @param onTold is called with each line that it tells. */
  function start(
    { workspace, service }: Shopping,
    url: string,
    source: string,
    onTold: (line: Told) => void | Promise<void> = () => {},
  ) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', `${beginning}\n${source}`], {
      env: {
        ...workspace.environment,
        ...{ SERVICE: workspace.environment.ERRAND_BASE_URL, KEY: service.key, TEAM: url },
        FOLDER: join(workspace.folder, 'kept'),
        ORDER: JSON.stringify({ ...orderBody(service.product('test-success')), idempotency_key: 'order-17' }),
      },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => {
      stdout += text;
      for (const line of String(text).split('\n').filter(Boolean)) void onTold(JSON.parse(line));
    });
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const ended = new Promise<{ told: Told[]; stderr: string }>((resolve) =>
      child.on('close', () =>
        resolve({
          told: stdout
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line)),
          stderr,
        }),
      ),
    );
    return { child, ended };
  }

  const records = (team: TeamDatabase) => team.rows('SELECT key, state, order_id FROM errand.intents');
  const endLeases = (team: TeamDatabase): Promise<void> =>
    team.run(
      `UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
       UPDATE errand.leases SET until = 0, seq = (SELECT seq FROM errand.heads WHERE name = 'journal')`,
    );

  test('gone before the send: the call fails, nothing was sent, and the same call places it later', async () => {
    const { shop, team, database } = await scene();
    const program = start(
      shop,
      database.url(team.url),
      `const journal = await open();
       tell('ready');
       await new Promise((resolve) => process.stdin.once('data', resolve));
       tell(await failure(placeOrder(client, journal, order)));
       await new Promise((resolve) => process.stdin.once('data', resolve));
       tell(await failure(placeOrder(client, journal, order)));
       tell(await failure(placeOrder(client, journal, order)));
       await journal.close(); await client.close(); process.exit();`,
      async (line) => {
        if (String(line) === 'ready') {
          await database.refuse();
          program.child.stdin.write('gone\n');
        } else if (line.outcome !== undefined) {
          expect(await shop.orders()).toEqual([]);
          await database.accept();
          program.child.stdin.write('back\n');
        }
      },
    );
    const { told, stderr } = await program.ended;
    const [{ id } = { id: '' }] = await shop.orders();
    expect(told, stderr).toEqual([
      'ready',
      {
        name: 'StorageError',
        category: 'unavailable',
        message: expect.stringMatching(
          /^the database 127\.0\.0\.1:\d+\/team_\d+ cannot be reached: .*; nothing was sent$/,
        ),
        outcome: 'not_sent',
      },
      { id, existed: false, notes: [] },
      { id, existed: true, notes: [] },
    ]);
    expect(await records(team)).toEqual([{ key: 'order-17', state: 'reported', order_id: id }]);
  });

  test('gone after the send: the order is given, and its record follows', async () => {
    const { shop, team, database } = await scene();
    shop.losses.onMoment = (moment) => {
      if (moment === 'work-done') void database.refuse();
    };
    const placed = await start(
      shop,
      database.url(team.url),
      `const journal = await open(); tell(await failure(placeOrder(client, journal, order)));
       await journal.close(); await client.close();`,
    ).ended;
    const [{ id } = { id: '' }] = await shop.orders();
    expect(placed.told, placed.stderr).toEqual([
      {
        id,
        existed: false,
        notes: [expect.stringContaining(`the order ${id} was placed; the database did not take the record`)],
      },
    ]);
    expect(readdirSync(join(shop.workspace.folder, 'kept', 'spool'))).toHaveLength(1);
    expect(await records(team)).toEqual([{ key: 'order-17', state: 'intended', order_id: null }]);
    shop.losses.onMoment = () => {};
    await database.accept();
    const again = await start(
      shop,
      database.url(team.url),
      `const journal = await open(); tell(journal.unsettled()); tell(await failure(placeOrder(client, journal, order)));
       await journal.close(); await client.close();`,
    ).ended;
    expect(again.told, again.stderr).toEqual([[], { id, existed: true, notes: [] }]);
    expect(await records(team)).toEqual([{ key: 'order-17', state: 'reported', order_id: id }]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test('gone, and the program killed after the send: a program elsewhere makes it one order', async () => {
    const { shop, team, database } = await scene();
    const program = start(
      shop,
      database.url(team.url),
      'const journal = await open(); await placeOrder(client, journal, order);',
    );
    shop.losses.onMoment = (moment) => {
      if (moment !== 'work-done') return;
      void database.refuse();
      program.child.kill('SIGKILL');
    };
    await program.ended;
    shop.losses.onMoment = () => {};
    await database.accept();
    await endLeases(team);
    const elsewhere = await start(
      shop,
      team.url,
      `const journal = await open(folder + '-elsewhere'); tell(journal.unsettled().map(({ key, orderId }) => [key, orderId]));
       tell(await failure(resumeOrder(client, journal, 'order-17'))); tell(journal.unsettled());
       await journal.close(); await client.close();`,
    ).ended;
    const [{ id } = { id: '' }] = await shop.orders();
    expect(elsewhere.told, elsewhere.stderr).toEqual([
      [['order-17', null]],
      expect.objectContaining({ id }),
      [],
    ]);
    expect(await shop.orders()).toHaveLength(1);
    expect(await records(team)).toEqual([{ key: 'order-17', state: 'reported', order_id: id }]);
  });
});
