import { readdirSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { StorageError, UsageError } from '../errors.ts';
import {
  checkPrivateFile,
  checkPrivateFolder,
  makePrivateFolder as makeFolder,
  PrivateFileError,
  type Tell,
} from '../private-files.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Folders {
  readonly config: string;
  readonly state: string;
}

/** A path of the environment; one that is empty or relative would mean another folder in each folder, and names none. */
export const absolutePath = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

export const homeOf = ({ HOME, USERPROFILE }: Environment): string =>
  absolutePath(HOME) ?? absolutePath(USERPROFILE) ?? absolutePath(homedir()) ?? userInfo().homedir;

/**
 * Where configuration and state live: `ERRAND_CONFIG_DIR` and `ERRAND_STATE_DIR`, else the platform's own folders.
 * @throws UsageError for a relative one: from another directory it would hide the orders that are in doubt.
 */
export function resolveFolders(environment: Environment, platform: NodeJS.Platform): Folders {
  const preset = platformFolders(environment, platform, homeOf(environment));
  return {
    config: named(environment, 'ERRAND_CONFIG_DIR', 'configuration') ?? preset.config,
    state: named(environment, 'ERRAND_STATE_DIR', 'journal') ?? preset.state,
  };
}

function named(environment: Environment, variable: string, holds: string): string | undefined {
  const path = environment[variable];
  if (!path || isAbsolute(path)) return path ? resolve(path) : undefined;
  throw new UsageError(
    `${variable} must be an absolute path: "${path}" is another folder, with another ${holds}, in each directory`,
    { hint: `Write ${resolve(path)} if you mean the folder in this directory.` },
  );
}

function platformFolders(environment: Environment, platform: NodeJS.Platform, home: string): Folders {
  if (platform === 'darwin') {
    return {
      config: join(home, 'Library', 'Preferences', 'errand'),
      state: join(home, 'Library', 'Application Support', 'errand'),
    };
  }
  if (platform === 'win32') {
    const local = environment.LOCALAPPDATA || join(home, 'AppData', 'Local');
    const roaming = environment.APPDATA || join(home, 'AppData', 'Roaming');
    return { config: join(roaming, 'errand', 'Config'), state: join(local, 'errand', 'Data') };
  }
  return {
    config: join(absolutePath(environment.XDG_CONFIG_HOME) ?? join(home, '.config'), 'errand'),
    state: join(absolutePath(environment.XDG_STATE_HOME) ?? join(home, '.local', 'state'), 'errand'),
  };
}

/**
 * Makes a folder that only its owner can enter, whatever the umask.
 * @param isInUse another one is no remedy: what is in doubt is known in this one. @throws StorageError naming it.
 */
export function makePrivateFolder(folder: string, isInUse = false): void {
  try {
    // One that was there has been checked, with a note to the user, when the run began.
    makeFolder(folder, () => {});
  } catch (cause) {
    throw new StorageError(`the folder ${folder} cannot be made or written (${reasonOf(cause)})`, {
      cause,
      hint: isInUse
        ? 'Bring it back as it was, then try again: its journal may name orders in doubt.'
        : 'Make it writable, or name another with ERRAND_CONFIG_DIR or ERRAND_STATE_DIR.',
    });
  }
}

/** The files that errand keeps in the folder of its state. */
const stateFiles = /\.(?:db|db-wal|db-shm|db-journal|db-seal|db\.key|csv)$/;

/**
 * Checks the folder of the state and our files in it before any is opened, and tightens what others could use. From
 * then on nobody else can put anything there. @throws StorageError for a link, a FIFO, a device or another user's file.
 */
export function checkState(folder: string, tell: Tell): void {
  try {
    checkPrivateFolder(folder, tell);
    for (const name of namesIn(folder)) if (stateFiles.test(name)) checkPrivateFile(join(folder, name), tell);
  } catch (cause) {
    // Whatever else stands in the way is reported by whoever opens a file there.
    if (cause instanceof PrivateFileError) throw privateFileError(cause);
  }
}

/** A file of ours that must not be used, as an error for the user. */
export function privateFileError(cause: PrivateFileError): StorageError {
  return new StorageError(cause.message, {
    cause,
    hint: 'Move it away, or name another folder with ERRAND_CONFIG_DIR or ERRAND_STATE_DIR.',
  });
}

/** Nothing where there is no such folder; one that cannot be listed is reported by whoever opens a file in it. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** What the system says of a failed file operation, in words. */
export function reasonOf(error: unknown): string {
  if (error instanceof PrivateFileError) return `it ${error.reason}`;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const known: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    ENOTDIR: 'a part of the path is not a folder',
    EEXIST: 'a file stands in its place',
    ENOENT: 'there is no such file or folder',
  };
  return (
    (typeof code === 'string' && known[code]) || (error instanceof Error ? error.message : String(error))
  );
}
