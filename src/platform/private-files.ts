import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';

export type Warn = (line: string) => void;

/** The error for one of errand's own files or folders that is not as errand creates it, and so is not used. */
export class PrivateFileError extends Error {
  override readonly name = 'PrivateFileError';
  readonly path: string;
  /** The problem, without the path. */
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`${path} ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

const hasModes = process.platform !== 'win32';
const openToOthers = 0o077;

/**
 * Creates a folder and its parents with access for the owner only, regardless of umask. Tightens the mode of an
 * existing folder.
 * @throws PrivateFileError, NodeJS.ErrnoException.
 */
export function makePrivateFolder(folder: string, warn: Warn): void {
  makeFolders(folder);
  const stats = statSync(folder);
  if (isShared(stats)) throw new PrivateFileError(folder, 'is shared with other users');
  checkOwner(folder, stats);
  tighten(folder, stats, 0o700, warn);
}

/**
 * Tightens the mode of an existing folder, except for a folder that is shared by design, such as /tmp. @throws
 * PrivateFileError.
 */
export function checkPrivateFolder(folder: string, warn: Warn): void {
  const stats = statsOf(folder);
  if (!stats?.isDirectory() || isShared(stats)) return;
  checkOwner(folder, stats);
  tighten(folder, stats, 0o700, warn);
}

/**
 * Makes sure that a file exists and only its owner has access. Creates an empty file and its parent folders, or checks
 * an existing file. Does not open an existing file, because closing a database file drops every lock SQLite holds on it
 * in this process.
 * @throws PrivateFileError, NodeJS.ErrnoException.
 */
export function makePrivateFile(file: string, warn: Warn): void {
  makeFolders(dirname(file));
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    checkPrivateFile(file, warn);
  }
}

/**
 * Checks by path that a file is a regular file that we own and not a symlink, and tightens its mode. The check is safe
 * as long as nobody else can write to the file's folder. @returns whether the file exists. @throws PrivateFileError.
 */
export function checkPrivateFile(file: string, warn: Warn): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (!stats) return false;
  checkKind(file, stats);
  checkOwner(file, stats);
  tighten(file, stats, 0o600, warn);
  return true;
}

/** Files SQLite keeps next to a database. */
const companions = ['-wal', '-shm', '-journal'] as const;

/** Creates a database file, or checks it and its companions. @throws PrivateFileError, NodeJS.ErrnoException. */
export function makePrivateDatabase(file: string, warn: Warn): void {
  makePrivateFile(file, warn);
  for (const companion of companions) checkPrivateFile(file + companion, warn);
}

/** Maximum size of our own files, bytes. */
const tooManyBytes = 64 * 1024 * 1024;

/**
 * Reads a whole file. Checks the open descriptor, so that there is no race. Rejects a FIFO or device without blocking.
 * @returns undefined if there is no file. @throws PrivateFileError, NodeJS.ErrnoException.
 */
export function readPrivateFile(file: string, warn: Warn): Buffer | undefined {
  const opened = openNoFollow(file);
  if (opened === undefined) return undefined;
  try {
    const stats = fstatSync(opened);
    checkKind(file, stats);
    checkOwner(file, stats);
    tighten(file, stats, 0o600, warn, opened);
    if (stats.size > tooManyBytes) throw new PrivateFileError(file, 'is too large');
    return readFileSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Maximum size of a hand-written control file, bytes. */
const tooManyWritten = 1024 * 1024;

/**
 * Reads a file that controls errand. Others may read the file, but only its owner or root may have written it. Follows
 * symlinks and checks the target.
 * @returns undefined if the name does not exist. @throws PrivateFileError, NodeJS.ErrnoException.
 */
export function readGuardedFile(file: string): Buffer | undefined {
  const opened = openFollowing(file);
  if (opened === undefined) return undefined;
  try {
    const stats = fstatSync(opened);
    checkKind(file, stats);
    checkOwner(file, stats);
    checkGuarded(file, stats.mode);
    checkParents(file);
    if (stats.size > tooManyWritten) throw new PrivateFileError(file, 'is too large');
    return readFileSync(opened);
  } finally {
    closeSync(opened);
  }
}

/**
 * Finds a folder above a path in which other users could replace the next part of the path. @returns undefined if there
 * is no such folder, or if the check fails.
 */
export function findLooseParent(path: string): PrivateFileError | undefined {
  try {
    checkParents(path);
    return undefined;
  } catch (error) {
    return error instanceof PrivateFileError ? error : undefined;
  }
}

/**
 * Finds out whether other users of the machine could replace a program. They could through its mode or its owner, or
 * through a folder above it or above the targets of its symlinks. Group-writable folders are accepted, because package
 * managers share folders among a machine's administrators.
 * @returns the first problem; undefined if there is none, or if the check fails.
 */
export function findLooseProgram(file: string): PrivateFileError | undefined {
  try {
    const stats = statSync(file);
    checkOwner(file, stats);
    checkGuarded(file, stats.mode, ownGroupBits(stats));
    checkParents(file, groupBits);
    return undefined;
  } catch (error) {
    return error instanceof PrivateFileError ? error : undefined;
  }
}

const groupBits = 0o020;

/**
 * Checks the folders above a path and above its real path. Accepts a missing folder, because errand creates it itself.
 */
function checkParents(path: string, allowed = 0): void {
  checkFoldersOf(path, allowed);
  if (statsOf(path)) checkFoldersOf(realpathSync(path), allowed);
}

/**
 * Checks the parent folders, because whoever can write to a folder can replace its files, unless the folder is sticky
 * like /tmp.
 */
function checkFoldersOf(path: string, allowed: number): void {
  if (!hasModes) return;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const stats = statsOf(folder);
    if (stats?.isDirectory()) {
      checkOwner(folder, stats);
      if ((stats.mode & 0o1000) === 0) checkGuarded(folder, stats.mode, allowed | ownGroupBits(stats));
    }
    if (folder === dirname(folder)) return;
  }
}

/**
 * Mode bits that are safe because only one user is in the group. Many systems create such a group for each user, with
 * the same number as the user, and give it write access to the user's files.
 */
const ownGroupBits = ({ gid }: Stats): number =>
  gid === process.getegid?.() && gid === process.geteuid?.() ? groupBits : 0;

function checkGuarded(path: string, mode: number, allowed = 0): void {
  if (hasModes && (mode & 0o022 & ~allowed) !== 0)
    throw new PrivateFileError(path, `can be changed by other users (mode ${octal(mode)})`);
}

/** A dangling symlink is an error, not a missing file. */
function openFollowing(file: string): number | undefined {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(file, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    if ((hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) && !isThere(file)) return undefined;
    throw error;
  }
}

/** Whether a file exists or may exist. An inconclusive check counts as present. */
export function mayBeThere(file: string): boolean {
  try {
    return isThere(file);
  } catch {
    return true;
  }
}

function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return false;
    throw error;
  }
}

/** Opens without waiting for a FIFO's writer, and without following a symlink where supported. */
function openNoFollow(file: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // A symlink (ELOOP, on some systems EMLINK) or a socket (ENXIO) fails to open, so report the real reason.
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats) checkKind(file, stats);
    throw error;
  }
}

function checkKind(path: string, stats: Stats): void {
  if (stats.isSymbolicLink())
    throw new PrivateFileError(path, 'is a link; errand does not follow links to its own files');
  if (!stats.isFile()) throw new PrivateFileError(path, `is ${kindOf(stats)}, not a file`);
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a FIFO';
  return stats.isSocket() ? 'a socket' : 'a device';
}

/** Files owned by root are as trusted as the machine. */
function checkOwner(path: string, { uid }: Stats): void {
  const own = process.geteuid?.();
  if (own === undefined || uid === own || uid === 0) return;
  throw new PrivateFileError(path, `belongs to another user (uid ${uid})`);
}

function tighten(path: string, { mode }: Stats, requiredMode: number, warn: Warn, opened?: number): void {
  if (!hasModes || (mode & openToOthers) === 0) return;
  const was = `${path} could be used by others (mode ${octal(mode)})`;
  try {
    if (opened === undefined) chmodSync(path, requiredMode);
    else fchmodSync(opened, requiredMode);
  } catch (error) {
    warn(`warning: ${was}, and that cannot be changed: ${error instanceof Error ? error.message : error}`);
    return;
  }
  const now = opened === undefined ? statSync(path).mode : fstatSync(opened).mode;
  // Some mounted file systems do not store modes.
  const isTight = (now & openToOthers) === 0;
  warn(
    isTight
      ? `${was}; its mode is ${octal(requiredMode)} now`
      : `warning: ${was}, and its file system keeps it so`,
  );
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0');

/** A folder such as /tmp: world-writable and sticky. It is not ours to tighten. */
const isShared = ({ mode }: Stats): boolean => (mode & 0o1002) === 0o1002;

/** Node's recursive `mkdir` loops forever where the system reports ENOENT for a new folder, as under /proc. */
function makeFolders(folder: string): void {
  if (isFolder(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it first.
    if (!isFolder(folder)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Stats of a path; undefined if nothing is there, or if a parent is not a folder. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return undefined;
    throw error;
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
