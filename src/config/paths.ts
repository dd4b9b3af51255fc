import { readdirSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { StorageError, UsageError, unread } from '../platform/errors.ts';
import {
  checkPrivateFile,
  checkPrivateFolder,
  makePrivateFolder as makeFolder,
  mayBeThere,
  PrivateFileError,
  type Tell,
} from '../platform/private-files.ts';

/**
 * Where configuration and state live.
 * @throws UsageError for a relative one: from another directory it would hide the orders that are in doubt.
 */
export function resolveFolders(environment: Environment, platform: NodeJS.Platform): Folders {
  refuseRelative(environment, 'ERRAND_CONFIG_DIR', 'configuration');
  refuseRelative(environment, 'ERRAND_STATE_DIR', 'journal');
  return foldersOf(environment, platform);
}

function refuseRelative(environment: Environment, variable: FolderVariable, holds: string): void {
  const path = environment[variable];
  if (!isRelative(path)) return;
  throw new UsageError(
    `${variable} must be an absolute path: "${path}" is another folder, with another ${holds}, in each directory`,
    { hint: `Write ${resolve(path)} if you mean the folder in this directory.` },
  );
}

/** Makes the folder of the configuration, which only its owner can enter, whatever the umask. @throws StorageError naming it. */
export const makeConfigFolder = (folder: string): void =>
  makeOwnFolder(folder, (error) => {
    const hint =
      'Make it writable; name another with ERRAND_CONFIG_DIR only if this one holds no configuration.';
    return new StorageError(error.message, { ...error.facts, hint });
  });

/**
 * The same of the state, where the journal is. @param hasJournal whether one was begun there, as far as is known.
 * @param nameAnother says how. @throws StorageError naming it.
 */
export const makeStateFolder = (
  folder: string,
  hasJournal: boolean,
  nameAnother = 'Name another with ERRAND_STATE_DIR',
): void =>
  makeOwnFolder(folder, (error) => {
    const hint = 'Bring it back as a folder of your own that you can write to, then try again.';
    if (hasJournal || mayBeThere(join(folder, 'journal.db')))
      return unread(new StorageError(error.message, { ...error.facts, hint }));
    // It may lie on a disk that is not there now.
    const other = `${nameAnother} only if nothing was ever ordered with this one.`;
    return new StorageError(error.message, { ...error.facts, outcome: 'unknown', hint: `${hint} ${other}` });
  });

function makeOwnFolder(folder: string, explain: (error: StorageError) => StorageError): void {
  try {
    // One that was there has been checked, with a note to the user, when the run began.
    makeFolder(folder, () => {});
  } catch (cause) {
    throw explain(
      new StorageError(`the folder ${folder} cannot be made or written (${reasonOf(cause)})`, { cause }),
    );
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
    if (cause instanceof PrivateFileError)
      throw unread(new StorageError(cause.message, { cause, hint: putBack }));
  }
}

/** What helps with a link, a FIFO or another user's file where one of ours belongs. */
const putBack = 'Put back the file or folder itself, owned by you, then try again.';

/** A configuration that cannot be read: it may name the database that holds the journal, and the policy. */
export function unreadConfig(file: string, cause: unknown): StorageError {
  const isUnfit = cause instanceof PrivateFileError;
  return new StorageError(isUnfit ? cause.message : `${file} cannot be read (${reasonOf(cause)})`, {
    cause,
    outcome: 'unknown',
    hint: `${isUnfit ? putBack : 'Make it readable, then try again.'} Another folder is no remedy: it does not have the policy and the database that this one may name.`,
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

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Folders {
  readonly config: string;
  readonly state: string;
}

type FolderVariable = 'ERRAND_CONFIG_DIR' | 'ERRAND_STATE_DIR';

/** A path of the environment; one that is empty or relative would mean another folder in each folder, and names none. */
export const absolutePath = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

/** Whether a variable names a folder that is another one in each directory. */
export const isRelative = (path: string | undefined): path is string => Boolean(path && !isAbsolute(path));

export const homeOf = ({ HOME, USERPROFILE }: Environment): string =>
  absolutePath(HOME) ?? absolutePath(USERPROFILE) ?? absolutePath(homedir()) ?? userInfo().homedir;

/** `ERRAND_CONFIG_DIR` and `ERRAND_STATE_DIR`, else the platform's own folders. */
export function foldersOf(environment: Environment, platform: NodeJS.Platform): Folders {
  const preset = platformFolders(environment, platform, homeOf(environment));
  const { ERRAND_CONFIG_DIR: config, ERRAND_STATE_DIR: state } = environment;
  return { config: config ? resolve(config) : preset.config, state: state ? resolve(state) : preset.state };
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
