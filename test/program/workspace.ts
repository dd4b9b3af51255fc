import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { caches } from '../caches.ts';
import { checkPrinted, type Leniency } from '../printed/check.ts';
import { takeDatabase } from '../team/store.ts';

const program = fileURLToPath(new URL('../../bin/errand.js', import.meta.url));

/** Loaded into each process of the program, it keeps the JSON that it prints for `checkPrinted`. */
export const recorder = fileURLToPath(new URL('../printed/record.cjs', import.meta.url));

const oneField = fileURLToPath(new URL('./one-field.mjs', import.meta.url));

/** The file of a program on the PATH; undefined where this machine has none. */
export const installedFile = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file));
const hasJq = installedFile('jq') !== undefined;

/** A folder of its own with the program on the PATH and empty configuration and state. */
export interface Workspace {
  readonly folder: string;
  readonly environment: Record<string, string>;
  readonly leniency: Leniency;
  /** Checks the JSON that the program has printed since against its published schemas. @throws Error naming the line. */
  checkPrinted(): void;
  /** Removes it, once what was printed is checked. */
  remove(): void;
}

/** Makes a workspace for one test. The program in it is the built one, as a user has it. */
export function makeWorkspace(more: Record<string, string> = {}, leniency: Leniency = {}): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'errand-'));
  const bin = join(folder, '.bin');
  const printed = join(folder, '.printed');
  mkdirSync(bin);
  symlinkSync(program, join(bin, 'errand'));
  if (!hasJq) symlinkSync(oneField, join(bin, 'jq'));
  const database = more.ERRAND_DATABASE_URL ?? takeDatabase();
  const environment = {
    PATH: `${bin}:${process.env.PATH ?? ''}`,
    HOME: folder,
    XDG_CACHE_HOME: caches,
    LANG: 'C.UTF-8',
    ERRAND_CONFIG_DIR: join(folder, '.config'),
    ERRAND_STATE_DIR: join(folder, '.state'),
    PRINTED_FOLDER: printed,
    ...(database !== undefined && { ERRAND_DATABASE_URL: database }),
    ...more,
    NODE_OPTIONS: `--require ${recorder} ${more.NODE_OPTIONS ?? ''}`.trim(),
  };
  const check = (): void => checkPrinted(printed, leniency);
  return {
    folder,
    environment,
    leniency,
    checkPrinted: check,
    remove: () => {
      try {
        check();
      } finally {
        removeFolder(folder);
      }
    },
  };
}

/** A workspace of its own that begins as another is: what the program made there was made once for all tests that need it. */
export function copyOf(other: Workspace, more: Record<string, string> = {}): Workspace {
  const workspace = makeWorkspace(more);
  const own = new Set(['.bin', '.printed']);
  const names = readdirSync(other.folder).filter((one) => !own.has(one));
  // With the modes of its folders, which `cpSync` of Node 24 does not keep.
  execFileSync('cp', ['-a', ...names.map((name) => join(other.folder, name)), workspace.folder]);
  return workspace;
}

/** What `errand config set` would store for each, without a start of the program. */
export function prefer(workspace: Workspace, preferences: Readonly<Record<string, string | number>>): void {
  const folder = join(workspace.folder, '.config');
  const file = join(folder, 'config.json');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stored = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const all = { ...stored, preferences: { ...stored.preferences, ...preferences } };
  // A program that reads it meanwhile finds the one or the other whole.
  writeFileSync(`${file}.part`, JSON.stringify(all), { mode: 0o600 });
  renameSync(`${file}.part`, file);
}

/** Removes a folder where a shell whose terminal was closed may still be writing. */
function removeFolder(folder: string): void {
  for (let more = 20; more >= 0; more--) {
    try {
      // Its own retries do not look again for what has arrived.
      rmSync(folder, { recursive: true, force: true, maxRetries: 1, retryDelay: 50 });
      return;
    } catch (error) {
      if (more === 0) throw error;
    }
  }
}
