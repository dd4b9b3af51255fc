import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasPostgres, PostgresServer, servingUser, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { makeWorkspace } from '../support/workspace.ts';

interface Found {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy: string | null;
}

describe.skipIf(!hasPostgres)('doctor looks at the database that machines share', () => {
  const server = useServer();
  const careless = useServer({ fsync: 'off' });

  async function findings(url: string | undefined): Promise<Found[]> {
    const workspace = makeWorkspace(url === undefined ? {} : { ERRAND_DATABASE_URL: url });
    onTestFinished(workspace.remove);
    const { stdout, stderr } = await errand(workspace, ['doctor', '-o', 'json', '--debug']);
    const password = url === undefined ? '' : decodeURIComponent(new URL(url).password);
    if (password !== '') expect(stdout + stderr).not.toContain(password);
    return JSON.parse(stdout).filter(({ check }: Found) => check === 'database');
  }

  const messages = (found: readonly Found[]): string =>
    found.map(({ status, message }) => `${status}: ${message}`).join('\n');

  test('without one it says nothing of it', async () => {
    expect(await findings(undefined)).toEqual([]);
  });

  test('version, latency, rights, clock; then the tables and who is at work', async () => {
    const database = await server().newDatabase();
    const fresh = messages(await findings(database.url));
    expect(fresh).toMatch(
      /^ok: 127\.0\.0\.1:\d+\/\w+ \(ERRAND_DATABASE_URL\): PostgreSQL \d+\.\d+.* responds in \d+ ms, not encrypted$/m,
    );
    expect(fresh).toContain('ok: the role has the rights it needs; the first command makes the tables');
    expect(fresh).toContain("ok: the clock of this machine agrees with the database's to 1 s");
    expect(messages(await findings(database.url))).toMatch(
      /^ok: its tables are of version \d+, as errand knows them; no process/m,
    );
    await database.run('UPDATE errand.schema SET version = 99');
    expect(messages(await findings(database.url))).toContain(
      'trouble: its tables are of version 99; this errand knows',
    );
  });

  test('a database that takes no writes is trouble', async () => {
    const database = await server().newDatabase();
    await database.run(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`);
    expect(messages(await findings(database.url))).toContain(
      'trouble: it takes no writes: it is a standby, or read-only',
    );
  });

  test('rights that are missing are named, with the statement that grants them', async () => {
    const owned = await server().newDatabase('database');
    expect(messages(await findings(owned.url))).toContain('ok: the role has the rights it needs');
    const database = await server().newDatabase();
    await database.run('ALTER SCHEMA errand OWNER TO admin');
    expect(await findings(database.url)).toContainEqual(
      expect.objectContaining({
        status: 'trouble',
        message: expect.stringContaining('is of another role'),
      }),
    );
    await database.run('DROP SCHEMA errand');
    expect(await findings(database.url)).toContainEqual(
      expect.objectContaining({
        status: 'trouble',
        remedy: expect.stringContaining('CREATE SCHEMA errand AUTHORIZATION errand;'),
      }),
    );
  });

  test('one that cannot be reached, or refuses the password, is one line of trouble', async () => {
    const { url } = await server().newDatabase();
    const [gone] = await findings(url.replace(/:\d+\//, ':1/'));
    expect(gone).toMatchObject({ status: 'trouble', message: expect.stringContaining('cannot be reached') });
    const [refused] = await findings(url.replace(/:[^:@]*@/, ':of-nobody@'));
    expect(refused).toMatchObject({
      status: 'trouble',
      message: expect.stringContaining('refuses the password'),
    });
  });

  test('what crosses a network is encrypted: a server that cannot, or that nobody vouches for, is told by name', async () => {
    const plain = await server().newDatabase();
    const [cut] = await findings(`${plain.url}?sslmode=require`);
    expect(cut?.message).toContain('it may not offer TLS');
    const folder = mkdtempSync(join(tmpdir(), 'errand-certificate-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [key, certificate] = [join(folder, 'server.key'), join(folder, 'server.crt')];
    const made = ['-keyout', key, '-out', certificate, '-subj', '/CN=localhost', '-days', '2'];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...made], { stdio: 'ignore' });
    const user = servingUser();
    if (user) for (const path of [folder, key, certificate]) chownSync(path, user.uid, user.gid);
    const guarded = await PostgresServer.start({ ssl: 'on', ssl_key_file: key, ssl_cert_file: certificate });
    onTestFinished(() => guarded.remove());
    const { url } = await guarded.newDatabase();
    const [encrypted] = await findings(`${url}?sslmode=require`);
    expect(encrypted).toMatchObject({ status: 'ok', message: expect.stringMatching(/, encrypted$/) });
    const [unproved] = await findings(`${url.replace('127.0.0.1', 'localhost')}?sslmode=verify-full`);
    expect(unproved).toMatchObject({ status: 'trouble', message: expect.stringContaining('self-signed') });
  });

  test('a server that may lose what it has committed is one', async () => {
    const { url } = await careless().newDatabase();
    expect(messages(await findings(url))).toContain('trouble: fsync is off: after a power cut');
  });
});
