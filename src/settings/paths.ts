import { chmodSync, lstatSync, mkdirSync, type Stats, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { StorageError } from '../errors.ts';

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

/** Where configuration and state live: `ERRAND_CONFIG_DIR` and `ERRAND_STATE_DIR`, else the platform's own folders. */
export function resolveFolders(environment: Environment, platform: NodeJS.Platform): Folders {
  const preset = platformFolders(environment, platform, homeOf(environment));
  return {
    config: environment.ERRAND_CONFIG_DIR || preset.config,
    state: environment.ERRAND_STATE_DIR || preset.state,
  };
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

/** Makes a folder that only its owner can enter, whatever the umask. @throws StorageError naming it. */
export function makePrivateFolder(folder: string): void {
  try {
    makeFolders(folder);
    if (isShared(folder)) throw new Error('it is shared with other users');
    chmodSync(folder, 0o700);
  } catch (cause) {
    throw new StorageError(`the folder ${folder} cannot be made or written (${reasonOf(cause)})`, {
      cause,
      hint: 'Make it writable, or name another with ERRAND_CONFIG_DIR or ERRAND_STATE_DIR.',
    });
  }
}

/** Node's own way to make the folders above too never ends where the system says ENOENT of a new one, as /proc does. */
function makeFolders(folder: string): void {
  if (isFolder(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (!isFolder(folder)) throw error;
  }
}

/** Such as /tmp: everybody writes there and nobody but root may remove what others wrote. It is not ours to close. */
const isShared = (folder: string): boolean => (statSync(folder).mode & 0o1002) === 0o1002;

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Tightens a file of ours to 0600. @returns whether it was looser. @throws StorageError where a link stands in its place.
 */
export function tightenFile(file: string): boolean {
  const stat = statOf(file);
  if (!stat) return false;
  if (stat.isSymbolicLink()) {
    throw new StorageError(`${file} is a link; errand does not follow links to its own files`, {
      hint: 'Remove the link, or name another folder with ERRAND_CONFIG_DIR.',
    });
  }
  if (process.platform === 'win32' || (stat.mode & 0o077) === 0) return false;
  chmodSync(file, 0o600);
  return true;
}

function statOf(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch (cause) {
    throw new StorageError(`${file} cannot be read (${reasonOf(cause)})`, {
      cause,
      hint: 'Name another folder with ERRAND_CONFIG_DIR or ERRAND_STATE_DIR.',
    });
  }
}

/** What the system says of a failed file operation, in words. */
export function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const known: Readonly<Record<string, string>> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    ENOTDIR: 'a part of the path is no folder',
    EEXIST: 'a file stands in its place',
    ENOENT: 'there is no such file or folder',
  };
  return (
    (typeof code === 'string' && known[code]) || (error instanceof Error ? error.message : String(error))
  );
}
