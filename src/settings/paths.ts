import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StorageError, UsageError } from '../errors.ts';
import {
  checkPrivateFile,
  checkPrivateFolder,
  makePrivateFolder as makeFolder,
  PrivateFileError,
  type Tell,
} from '../private-files.ts';
import { type Environment, type Folders, type FolderVariable, foldersOf, isRelative } from './folders.ts';

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
