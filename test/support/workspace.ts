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
import { caches } from './caches.ts';
import { checkPrinted, type Leniency } from './printed/check.ts';
import { takeDatabase } from './store.ts';

const program = fileURLToPath(new URL('../../bin/errand.js', import.meta.url));

/** Loaded into each process of the program, it keeps the JSON that it prints for `checkPrinted`. */
export const recorder = fileURLToPath(new URL('./printed/record.cjs', import.meta.url));

const oneField = fileURLToPath(new URL('./one-field.mjs', import.meta.url));

/** Locates a program on the PATH; undefined if it is not installed. */
export const installedFile = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file));
const hasJq = installedFile('jq') !== undefined;

/** A temporary directory with the program on the PATH and empty configuration and state. */
export interface Workspace {
  readonly folder: string;
  readonly environment: Record<string, string>;
  readonly leniency: Leniency;
  /** Validates the JSON printed since the last check against the published schemas. @throws Error naming the line. */
  checkPrinted(): void;
  /** Removes the workspace, after validating its output. */
  remove(): void;
}

/** Makes a workspace for one test, using the built program as users have it. */
export function makeWorkspace(more: Record<string, string> = {}, leniency: Leniency = {}): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'errand-'));
  const bin = join(folder, '.bin');
  const printed = join(folder, '.printed');
  mkdirSync(bin);
  symlinkSync(program, join(bin, 'errand'));
  if (!hasJq) symlinkSync(oneField, join(bin, 'jq'));
  const database = more.ERRAND_DATABASE_URL ?? takeDatabase();
  const environment = {
    // A test that is about the pager names one.
    PAGER: '',
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

/** Copies a workspace, so that setup shared by several tests runs only once. */
export function copyOf(other: Workspace, more: Record<string, string> = {}): Workspace {
  const workspace = makeWorkspace(more);
  const own = new Set(['.bin', '.printed']);
  const names = readdirSync(other.folder).filter((one) => !own.has(one));
  // `cp -a` preserves directory modes, which `cpSync` in Node 24 does not.
  execFileSync('cp', ['-a', ...names.map((name) => join(other.folder, name)), workspace.folder]);
  return workspace;
}

/** Stores preferences as `errand config set` would, without starting the program. */
export function prefer(workspace: Workspace, preferences: Readonly<Record<string, string | number>>): void {
  const folder = join(workspace.folder, '.config');
  const file = join(folder, 'config.json');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stored = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const all = { ...stored, preferences: { ...stored.preferences, ...preferences } };
  // Replace atomically: a concurrent reader sees either version complete.
  writeFileSync(`${file}.part`, JSON.stringify(all), { mode: 0o600 });
  renameSync(`${file}.part`, file);
}

/** Removes a directory that a shell whose terminal was closed may still be writing to. */
function removeFolder(folder: string): void {
  for (let more = 20; more >= 0; more--) {
    try {
      // rmSync's own retries do not pick up newly created files.
      rmSync(folder, { recursive: true, force: true, maxRetries: 1, retryDelay: 50 });
      return;
    } catch (error) {
      if (more === 0) throw error;
    }
  }
}
