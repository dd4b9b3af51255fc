import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { loadSqlite, openReader } from '../../src/platform/sqlite/load.ts';
import { program, type TeamDatabase } from '../support/postgres.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import type { Made } from './made.ts';

/** The folder that the fixtures were made in, as it stands in them. */
export const madeIn = '/tmp/errand-of-an-earlier-build';

const clockSet = fileURLToPath(new URL('../support/clock-set.cjs', import.meta.url));

const at = (name: string): URL => new URL(`fixture/${name}`, import.meta.url);

/** What a fixture holds. */
export const madeOf = (name: 'machine' | 'team'): Kept =>
  JSON.parse(readFileSync(at(`${name}.json`), 'utf8'));

/** What stays of an intent, whatever becomes of it. */
export type IntentLine = Readonly<
  Record<'key' | 'operation' | 'account' | 'body_hash' | 'twin' | 'body', unknown>
>;

interface Kept {
  /** When it was (ISO 8601). */
  readonly at: string;
  readonly made: Made;
  readonly intents: readonly IntentLine[];
}

/** A record of the audit chain, as far as its form goes: what its detail says differs. */
export interface ChainLine {
  readonly number: number;
  readonly kind: string;
  readonly detail: string;
  readonly hash: string;
}

const selectIntents = 'SELECT key, operation, account, body_hash, twin, body FROM';
const selectChain = 'SELECT number, kind, detail, hash FROM';

/** The intents in a machine's journal, in the order in which they were recorded. */
export const intentsOf = (workspace: Workspace): IntentLine[] =>
  rowsOf(workspace, `${selectIntents} intents ORDER BY created_at, key`);

/** The audit chain there. */
export const chainOf = (workspace: Workspace): ChainLine[] =>
  rowsOf(workspace, `${selectChain} audit ORDER BY number`);

/** The same in a team's. */
export const intentsOfTeam = (database: Pick<TeamDatabase, 'rows'>): Promise<IntentLine[]> =>
  database.rows(`${selectIntents} errand.intents ORDER BY created_at, key`);

export const chainOfTeam = (database: Pick<TeamDatabase, 'rows'>): Promise<ChainLine[]> =>
  database.rows(`${selectChain} errand.audit ORDER BY number`);

function rowsOf<T>({ folder }: Workspace, sql: string): T[] {
  const journal = openReader(join(folder, '.state/journal.db'));
  try {
    // The columns that were selected.
    return journal.prepare(sql).all() as unknown as T[];
  } finally {
    journal.close();
  }
}

/** A workspace whose program is another build. */
export function withProgram(workspace: Workspace, file: string): Workspace {
  const link = join(workspace.folder, '.bin/errand');
  rmSync(link);
  symlinkSync(file, link);
  return workspace;
}

/** Sets the clock of a machine, which goes on from there. @param time ISO 8601. */
export function setClock({ environment }: Workspace, time: string): void {
  environment.NODE_OPTIONS = `${environment.NODE_OPTIONS ?? ''} --require ${clockSet}`.trim();
  environment.CLOCK_SET_MS = String(Date.parse(time) - Date.now());
  environment.CLOCK_SET_AFTER_MS = '-1';
}

/** A machine as an earlier build left it, a moment later. The one thing that is other than it was is the folder. */
export async function earlierMachine(
  name: 'machine' | 'team',
  environment: Record<string, string> = {},
): Promise<Workspace> {
  const workspace = makeWorkspace({ ERRAND_NO_INPUT: '1', ...environment });
  const { folder } = workspace;
  execFileSync('tar', ['-x', '-C', folder], {
    input: brotliDecompressSync(readFileSync(at(`${name}.tar.br`))),
  });
  const config = join(folder, '.config/config.json');
  writeFileSync(config, readFileSync(config, 'utf8').replaceAll(madeIn, folder));
  if (name === 'machine') {
    const uploads = new (loadSqlite())(join(folder, '.state/uploads.db'));
    uploads.prepare('UPDATE uploads SET source = replace(source, ?, ?)').run(madeIn, folder);
    uploads.close();
  }
  setClock(workspace, madeOf(name).at);
  return workspace;
}

/** Fills a database with what a team had. @param folder where its files are now. */
export function restoreTeam({ url }: Pick<TeamDatabase, 'url'>, folder: string): void {
  const dump = brotliDecompressSync(readFileSync(at('team.sql.br')))
    .toString()
    .replaceAll(madeIn, folder);
  execFileSync(program('psql'), ['-Xq', '-v', 'ON_ERROR_STOP=1', '-d', url], { input: dump });
}

/** Keeps what a build has made in a workspace. */
export function keepMachine(name: 'machine' | 'team', { folder }: Workspace, kept: Kept): void {
  const own =
    name === 'team'
      ? ['--exclude=.state/team-*', '--exclude=.state/snapshots', '--exclude=.state/journal.db*']
      : [];
  const names = ['.config', '.state', 'approval.json', 'begun.plan', 'december.plan'];
  const csv = ['done', 'lost', 'mapped', 'part', 'planned', ...(name === 'team' ? ['shared'] : [])];
  const plain = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--format=ustar',
    `--mtime=${kept.at}`,
  ];
  const files = [...names, ...csv.map((one) => `${one}.csv`)];
  const tar = execFileSync('tar', ['-c', ...own, ...plain, '-C', folder, ...files], { maxBuffer: 1 << 28 });
  writeFileSync(at(`${name}.tar.br`), compressed(tar));
  writeFileSync(at(`${name}.json`), `${JSON.stringify(kept, null, 2)}\n`);
}

export function keepTeam({ url }: Pick<TeamDatabase, 'url'>): void {
  const plain = ['-n', 'errand', '--no-owner', '--no-privileges', '--no-comments', '-d', url];
  const dump = execFileSync(program('pg_dump'), plain, { encoding: 'utf8', maxBuffer: 1 << 28 });
  // Commands of newer clients alone, comments, and settings that older servers do not know.
  const lines = dump
    .split('\n')
    .filter((line) => !/^(?:\\(?:un)?restrict |--|SET transaction_timeout)/.test(line));
  writeFileSync(at('team.sql.br'), compressed(Buffer.from(lines.join('\n'))));
}

const compressed = (bytes: Buffer): Buffer =>
  brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
  });
