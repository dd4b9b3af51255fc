import { execFile, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from 'vitest';

/** Where Debian installs server versions; their programs are not on the PATH. */
const debian = '/usr/lib/postgresql';
const newest = existsSync(debian)
  ? readdirSync(debian).sort((one, other) => Number(other) - Number(one))
  : [];
const programs = newest
  .map((version) => join(debian, version, 'bin'))
  .find((bin) => existsSync(join(bin, 'initdb')));

/** Whether database tests run: without a server they are skipped, except in CI, where they fail. */
export const hasPostgres = programs !== undefined || process.env.ERRAND_CI === '1';

/** `fast` rolls back open transactions; `immediate` is a crash, and the server recovers on the next start. */
export type StopMode = 'fast' | 'immediate';

const stopSignals: Readonly<Record<StopMode, NodeJS.Signals>> = { fast: 'SIGINT', immediate: 'SIGQUIT' };

/** A test database. */
export interface TeamDatabase {
  readonly name: string;
  /** Connection URL for errand's role, for `ERRAND_DATABASE_URL`. */
  readonly url: string;
  /** The role's password, unescaped. */
  readonly password: string;
  /** Runs a SELECT as the superuser, with the server's own client. */
  rows<T = Record<string, unknown>>(select: string): Promise<T[]>;
  /** Runs statements as the superuser. */
  run(statements: string): Promise<void>;
}

/** The role's rights: either the documented minimum (it owns the schema `errand`), or ownership of its database. */
type Rights = 'schema' | 'database';

const role = 'errand';
const admin = 'admin';

/** A private PostgreSQL server in a temporary directory, listening on 127.0.0.1. */
export class PostgresServer {
  /** Contains characters that must be escaped in a URL. */
  readonly password = `p@ss/${randomBytes(9).toString('hex')}%#`;
  readonly #adminPassword = randomBytes(12).toString('hex');
  readonly #folder: string;
  readonly #settings: readonly string[];
  #port = 0;
  #server: ReturnType<typeof spawn> | undefined;
  #databases = 0;

  private constructor(settings: Readonly<Record<string, string>>) {
    this.#folder = mkdtempSync(join(tmpdir(), 'errand-postgres-'));
    this.#settings = Object.entries({ ...always, ...settings }).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]);
  }

  /** Starts a server, which the caller must remove. @param settings overrides for `postgresql.conf`. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const made = new PostgresServer(settings);
    try {
      await made.#initialize();
      await made.start();
      await made.#psql('postgres', `CREATE ROLE ${role} LOGIN PASSWORD '${made.password}'`);
      await made.#psql('template1', `CREATE SCHEMA errand AUTHORIZATION ${role}`);
      return made;
    } catch (error) {
      await made.remove();
      throw error;
    }
  }

  get port(): number {
    return this.#port;
  }

  /** PID of the server's parent process. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  /** Creates an empty database. */
  async newDatabase(rights: Rights = 'schema'): Promise<TeamDatabase> {
    this.#databases += 1;
    const name = `team_${this.#databases}`;
    const from = rights === 'schema' ? 'template1' : `template0 OWNER ${role}`;
    await this.#psql('postgres', `CREATE DATABASE ${name} TEMPLATE ${from}`);
    return this.database(name);
  }

  /** An existing database. */
  database(name: string): TeamDatabase {
    return {
      name,
      url: `postgres://${role}:${encodeURIComponent(this.password)}@127.0.0.1:${this.#port}/${name}`,
      password: this.password,
      rows: async (select) =>
        JSON.parse(
          await this.#psql(name, `SELECT coalesce(json_agg(found), '[]') FROM (${select}) AS found`),
        ),
      run: async (statements) => void (await this.#psql(name, statements)),
    };
  }

  async stop(mode: StopMode = 'fast'): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const gone = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : undefined;
    server.kill(stopSignals[mode]);
    await gone;
  }

  /** Starts the server, reusing its port after a restart. */
  async start(): Promise<void> {
    for (let more = 9; ; more--) {
      const port = this.#port === 0 ? ownPort() : this.#port;
      const { ended, isReady } = this.#spawn(port);
      if (await isReady) {
        this.#port = port;
        return;
      }
      // Another server may have picked the port, or old connections may still be closing.
      if (more === 0) throw new Error(`PostgreSQL does not start: ${await ended}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Stops the server and deletes its files. */
  async remove(): Promise<void> {
    await this.stop('immediate');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #initialize(): Promise<void> {
    const [password, data] = [join(this.#folder, 'password'), join(this.#folder, 'data')];
    writeFileSync(password, this.#adminPassword, { mode: 0o600 });
    const user = servingUser();
    if (user) for (const path of [this.#folder, password]) chownSync(path, user.uid, user.gid);
    const how = ['-A', 'scram-sha-256', '-U', admin, `--pwfile=${password}`, '-E', 'UTF8', '--locale=C'];
    await promisify(execFile)(program('initdb'), ['-D', data, ...how, '--no-sync', '--no-instructions'], {
      ...user,
      cwd: this.#folder,
      env: plainEnvironment,
    });
  }

  #spawn(port: number): { readonly isReady: Promise<boolean>; readonly ended: Promise<string> } {
    const options: SpawnOptions = {
      ...servingUser(),
      cwd: this.#folder,
      env: plainEnvironment,
      stdio: ['ignore', 'ignore', 'pipe'],
    };
    const server = program('postgres');
    const args = ['-D', join(this.#folder, 'data'), '-p', String(port), ...this.#settings];
    // Ensure the server exits when its test is killed.
    const child = existsSync(setpriv)
      ? spawn(setpriv, ['--pdeathsig', 'QUIT', server, ...args], options)
      : spawn(server, args, options);
    this.#server = child;
    let said = '';
    const ended = once(child, 'exit').then(() => said);
    const isReady = new Promise<boolean>((resolve) => {
      if (child.stderr)
        createInterface(child.stderr).on('line', (line) => {
          said = `${said}\n${line}`.slice(-2000);
          if (line.includes('database system is ready to accept connections')) resolve(true);
        });
      child.once('exit', () => resolve(false));
    });
    return { isReady, ended };
  }

  /** Runs statements as the superuser. @returns the result of the last one. */
  async #psql(database: string, statements: string): Promise<string> {
    const where = ['-h', '127.0.0.1', '-p', String(this.#port), '-U', admin, '-d', database];
    const { stdout } = await promisify(execFile)(
      program('psql'),
      ['-XAtq', '-v', 'ON_ERROR_STOP=1', ...where, '-c', statements],
      { env: { ...plainEnvironment, PGPASSWORD: this.#adminPassword }, maxBuffer: 1 << 30 },
    );
    return stdout;
  }
}

/** Runs a server for the tests of a file. */
export function useServer(settings: Readonly<Record<string, string>> = {}): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    if (hasPostgres) server = await PostgresServer.start(settings);
  });
  afterAll(() => server?.remove());
  return () => {
    if (!server) throw new Error('the server has not started');
    return server;
  };
}

/** Durable, small, and without Unix sockets, whose paths could be too long. */
const always: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '300',
  shared_buffers: '16MB',
  wal_level: 'minimal',
  max_wal_senders: '0',
};

const setpriv = '/usr/bin/setpriv';
const plainEnvironment = { PATH: process.env.PATH ?? '', LC_ALL: 'C' };

/** Path of a program from the server's package, such as `psql` or `pg_dump`. */
export function program(name: string): string {
  if (programs === undefined) throw new Error(`PostgreSQL is missing: no initdb in ${debian}/*/bin`);
  return join(programs, name);
}

/** The user to run as instead of root, as which PostgreSQL refuses to run. */
export function servingUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** A port outside the ephemeral range, so that it is still free after a restart. */
const ownPort = (): number => 20_000 + Math.floor(Math.random() * 12_000);
