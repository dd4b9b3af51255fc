import { readdirSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { StorageError, UsageError, unread } from '../platform/errors.ts';
import {
  checkPrivateFile,
  checkPrivateFolder,
  findLooseParent,
  makePrivateFolder as makeFolder,
  mayBeThere,
  PrivateFileError,
  type Warn,
} from '../platform/private-files.ts';
import { shellLine } from '../platform/shell.ts';

/**
 * Resolves the configuration and state folders.
 * @throws UsageError for a relative path. With such a path, orders in doubt would be hidden when errand runs in another
 * directory.
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

/**
 * Creates the configuration folder. Only its owner can access it, whatever the umask.
 * @throws StorageError naming the folder.
 */
export const makeConfigFolder = (folder: string): void =>
  makeOwnFolder(folder, (error) => {
    const hint =
      'Make it writable; name another with ERRAND_CONFIG_DIR only if this one holds no configuration.';
    return new StorageError(error.message, { ...error.facts, hint });
  });

/**
 * Creates the state folder, which holds the journal. Only its owner can access it.
 * @param hasJournal tells whether this folder is known to have had a journal.
 * @param otherFolderHint says how to name another folder.
 * @throws StorageError naming the folder.
 */
export const makeStateFolder = (
  folder: string,
  hasJournal: boolean,
  otherFolderHint = 'Name another with ERRAND_STATE_DIR',
): void =>
  makeOwnFolder(folder, (error) => {
    const hint = 'Bring it back as a folder of your own that you can write to, then try again.';
    if (hasJournal || mayBeThere(join(folder, 'journal.db')))
      return unread(new StorageError(error.message, { ...error.facts, hint }));
    // The folder may be on a disk that is not mounted at the moment.
    const other = `${otherFolderHint} only if nothing was ever ordered with this one.`;
    return new StorageError(error.message, { ...error.facts, outcome: 'unknown', hint: `${hint} ${other}` });
  });

function makeOwnFolder(folder: string, explain: (error: StorageError) => StorageError): void {
  try {
    // Report nothing here. If the folder exists, startup has already checked it and printed a note for the user.
    makeFolder(folder, () => {});
  } catch (cause) {
    throw explain(
      new StorageError(`the folder ${folder} cannot be made or written (${reasonOf(cause)})`, { cause }),
    );
  }
}

/** Files that errand keeps in the state folder. */
const stateFiles = /\.(?:db|db-wal|db-shm|db-journal|db-seal|db\.key|csv|policy\.json)$/;

/**
 * Checks the state folder and errand's files before any of the files is opened. Tightens permissions, so that nobody
 * else can add files afterwards.
 * @throws StorageError for a link, a FIFO, a device or another user's file.
 */
export function checkState(folder: string, report: Warn): void {
  try {
    checkPrivateFolder(folder, report);
    for (const name of namesIn(folder))
      if (stateFiles.test(name)) checkPrivateFile(join(folder, name), report);
  } catch (cause) {
    // The code that opens the file reports any other error later.
    if (cause instanceof PrivateFileError)
      throw unread(new StorageError(cause.message, { cause, hint: putBack }));
  }
}

/** Why other users may replace one of errand's folders, and what to do about it. */
export interface LooseFolders {
  readonly message: string;
  readonly remedy: string;
}

/** Finds out whether other users may replace the folders. Returns undefined if they may not. */
export function findLooseFolders({ config, state }: Partial<Folders>): LooseFolders | undefined {
  const found = [config, state].flatMap((folder) => {
    const parent = folder === undefined ? undefined : findLooseParent(folder);
    return folder === undefined || !parent ? [] : [{ folder, parent }];
  });
  const [first] = found;
  if (!first) return undefined;
  const { path, message } = first.parent;
  const folders = found.filter(({ parent }) => parent.path === path).map(({ folder }) => folder);
  return {
    message: `${message}, who may put another folder in the place of ${[...new Set(folders)].join(' and ')}`,
    remedy: `Let nobody else own it or write there: ${shellLine`chmod go-w ${path}`}`,
  };
}

/** Suggests what to do about a link, a FIFO or another user's file that is in the place of one of errand's files. */
const putBack = 'Put back the file or folder itself, owned by you, then try again.';

/**
 * The error for a configuration file that cannot be read. The file may name the policy and the database with the
 * journal. Therefore the error does not suggest using another folder.
 */
export function unreadConfig(file: string, cause: unknown): StorageError {
  const isUnfit = cause instanceof PrivateFileError;
  return new StorageError(isUnfit ? cause.message : `${file} cannot be read (${reasonOf(cause)})`, {
    cause,
    outcome: 'unknown',
    hint: `${isUnfit ? putBack : 'Make it readable, then try again.'} Another folder is no remedy: it does not have the policy and the database that this one may name.`,
  });
}

/**
 * Names of the files in a folder. Empty if the folder is missing or unreadable. In that case, opening a file in the
 * folder reports the error.
 */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Describes a file system error in words. */
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

/**
 * Returns a path from the environment if the path is absolute. Returns undefined if it is empty or relative, because
 * the meaning of a relative path depends on the working directory.
 */
export const absolutePath = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

/** Whether a variable holds a path relative to the working directory. */
export const isRelative = (path: string | undefined): path is string => Boolean(path && !isAbsolute(path));

export const homeOf = ({ HOME, USERPROFILE }: Environment): string =>
  absolutePath(HOME) ?? absolutePath(USERPROFILE) ?? absolutePath(homedir()) ?? userInfo().homedir;

/** Returns the folders that `ERRAND_CONFIG_DIR` and `ERRAND_STATE_DIR` name, or the platform's default folders. */
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
