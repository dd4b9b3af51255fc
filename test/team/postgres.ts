import { execFile, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from 'vitest';

/** Where Debian keeps the newest server; its programs are not on the PATH. */
const debian = '/usr/lib/postgresql';
const newest = existsSync(debian)
  ? readdirSync(debian).sort((one, other) => Number(other) - Number(one))
  : [];
const programs = newest
  .map((version) => join(debian, version, 'bin'))
  .find((bin) => existsSync(join(bin, 'initdb')));

/** Whether tests on the database run: a machine without a server skips them, and on CI they fail. */
export const hasPostgres = programs !== undefined || process.env.ERRAND_CI === '1';

/** `fast` rolls back what is open; `immediate` is a crash: the server recovers when it starts again. */
export type StopMode = 'fast' | 'immediate';

const stopSignals: Readonly<Record<StopMode, NodeJS.Signals>> = { fast: 'SIGINT', immediate: 'SIGQUIT' };

/** A database of a test. */
export interface TeamDatabase {
  readonly name: string;
  /** With the role that errand has, as `ERRAND_DATABASE_URL` takes it. */
  readonly url: string;
  /** The role's password as it is, without the escapes of the URL. */
  readonly password: string;
  /** What a SELECT gives, read by the superuser with the server's own client. */
  rows<T = Record<string, unknown>>(select: string): Promise<T[]>;
  /** Statements of the superuser. */
  run(statements: string): Promise<void>;
}

/** A role may do as little as the documents ask for (it owns the schema `errand`), or own its database. */
type Rights = 'schema' | 'database';

const role = 'errand';
const admin = 'admin';

/** A PostgreSQL of its own in a temporary folder, on a port of 127.0.0.1. */
export class PostgresServer {
  /** With characters that a URL must escape. */
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

  /** @param settings of `postgresql.conf` that differ from the usual. It is removed by whoever starts it. */
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

  /** Of the process that the others of the server descend from. */
  get pid(): number | undefined {
    return this.#server?.pid;
  }

  /** A database that nobody has used. */
  async newDatabase(rights: Rights = 'schema'): Promise<TeamDatabase> {
    this.#databases += 1;
    const name = `team_${this.#databases}`;
    const from = rights === 'schema' ? 'template1' : `template0 OWNER ${role}`;
    await this.#psql('postgres', `CREATE DATABASE ${name} TEMPLATE ${from}`);
    return this.database(name);
  }

  /** One that is there. */
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

  /** Starts it, again on the port that it had. */
  async start(): Promise<void> {
    for (let more = 9; ; more--) {
      const port = this.#port === 0 ? ownPort() : this.#port;
      const { ended, isReady } = this.#spawn(port);
      if (await isReady) {
        this.#port = port;
        return;
      }
      // Another server may have drawn the port, or connections of before are not gone yet.
      if (more === 0) throw new Error(`PostgreSQL does not start: ${await ended}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Ends it and removes all that it had. */
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
    // A test that is killed takes its server with it.
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

  /** Runs statements as the superuser. @returns what the last of them gives. */
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

/** The server of a test file, while its tests run. */
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

/** As a careful team has it, small, and without sockets that a long folder's name would not allow. */
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

/** Where a program of the server's package is: `psql`, `pg_dump`. */
export function program(name: string): string {
  if (programs === undefined) throw new Error(`PostgreSQL is missing: no initdb in ${debian}/*/bin`);
  return join(programs, name);
}

/** Who runs it where we are root, which PostgreSQL refuses to run as. */
export function servingUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** One that no system gives to a connection: it is still free when the server comes back. */
const ownPort = (): number => 20_000 + Math.floor(Math.random() * 12_000);
