import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

describe.skipIf(!hasPostgres)('a journal that machines share', () => {
  const server = useServer();

  function machine(environment: Record<string, string> = {}): Workspace {
    const workspace = makeWorkspace(environment);
    onTestFinished(workspace.remove);
    return workspace;
  }

  /** All files in a directory, recursively. */
  const filesIn = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));

  test('quickstart places its order with the database of ERRAND_DATABASE_URL, and another machine knows of it', async () => {
    const { url, password, rows } = await server().newDatabase();
    const one = machine({ ERRAND_DATABASE_URL: url });
    const placed = await errand(one, ['quickstart', '-o', 'json', '--debug']);
    expect(placed).toMatchObject({ code: 0 });
    const { id } = JSON.parse(placed.stdout);
    expect(await rows('SELECT state, order_id FROM errand.intents')).toEqual([
      { state: 'reported', order_id: id },
    ]);

    const other = machine({ ERRAND_DATABASE_URL: url });
    const listed = await errand(other, ['order', 'journal', 'list', '--all', '-o', 'json']);
    expect(JSON.parse(listed.stdout)).toMatchObject([{ order_id: id }]);
    expect((await errand(other, ['audit', 'verify'])).code).toBe(0);

    const files = [one, other].flatMap(({ folder }) => filesIn(join(folder, '.state')));
    expect(
      files.filter((file) => file.includes('journal')).map((file) => statSync(file).mode & 0o777),
    ).toContain(0o600);
    const secrets = [password, encodeURIComponent(password)];
    const told = [placed, listed].map(({ stdout, stderr }) => stdout + stderr);
    const holding = [...told, ...files.map((file) => readFileSync(file, 'latin1'))].filter((text) =>
      secrets.some((secret) => text.includes(secret)),
    );
    expect(holding).toEqual([]);
  });

  test('so it does with the database of a profile, and with a role that owns its database', async () => {
    const { url, rows } = await server().newDatabase('database');
    const workspace = machine();
    await errand(workspace, ['profile', 'database'], { stdin: url });
    expect(await errand(workspace, ['quickstart', '-o', 'id'])).toMatchObject({ code: 0 });
    expect(await rows('SELECT state FROM errand.intents')).toEqual([{ state: 'reported' }]);
  });

  test('a program that places orders by errand/safely shares it too', async () => {
    const { url, rows } = await server().newDatabase();
    const workspace = machine();
    const script = `import { openJournal } from 'errand/safely';
      const journal = await openJournal({ folder: ${JSON.stringify(join(workspace.folder, 'kept'))}, database: process.env.TEAM });
      console.log(journal.unsettled().length);
      await journal.close();
      await openJournal({ folder: '/tmp/x', database: 'mysql://me:hunter22@h/x' }).catch((error) => console.log(error.message));`;
    const { execFileSync } = await import('node:child_process');
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { ...process.env, TEAM: url },
    });
    expect(printed).toBe(
      '0\nthe database of openJournal is not the address of a PostgreSQL database: it takes postgres://<user>:<password>@<host>:<port>/<database>\n',
    );
    expect(await rows('SELECT name FROM errand.heads ORDER BY name')).toContainEqual({ name: 'journal' });
  });
});
