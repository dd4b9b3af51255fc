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

/** The error for a file or folder of errand's that is not as errand creates it. Such a file or folder is not used. */
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
 * Creates a folder and its parents. Only the owner has access, whatever the umask. If the folder exists, tightens its
 * mode.
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
 * Tightens the mode of an existing folder. A folder that is shared by design, such as /tmp, stays as it is.
 * @throws PrivateFileError.
 */
export function checkPrivateFolder(folder: string, warn: Warn): void {
  const stats = statsOf(folder);
  if (!stats?.isDirectory() || isShared(stats)) return;
  checkOwner(folder, stats);
  tighten(folder, stats, 0o700, warn);
}

/**
 * Makes sure that a file exists and that only its owner has access to it. Creates an empty file and its parent folders,
 * or checks the existing file. An existing file is never opened, because closing a database file drops every lock that
 * SQLite holds on it in this process.
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
 * Checks by path that a file is a regular file, belongs to this user and is not a symlink. Tightens its mode. The check
 * is safe as long as nobody else can write to the folder of the file.
 * @returns whether the file exists.
 * @throws PrivateFileError.
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

/**
 * Creates a database file. If the file exists, checks it and its companions.
 * @throws PrivateFileError, NodeJS.ErrnoException.
 */
export function makePrivateDatabase(file: string, warn: Warn): void {
  makePrivateFile(file, warn);
  for (const companion of companions) checkPrivateFile(file + companion, warn);
}

/** Maximum size of errand's own files, in bytes. */
const tooManyBytes = 64 * 1024 * 1024;

/**
 * Reads a whole file. The checks use the open descriptor, so the file cannot be exchanged between check and read. A
 * FIFO or device is rejected without blocking.
 * @returns undefined if there is no file.
 * @throws PrivateFileError, NodeJS.ErrnoException.
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

/** Maximum size, in bytes, of a control file that a user writes by hand. */
const tooManyWritten = 1024 * 1024;

/**
 * Reads a file that controls what errand does. Others may read the file, but only its owner or root may be able to
 * write it. Follows symlinks and checks the target.
 * @returns undefined if the name does not exist.
 * @throws PrivateFileError, NodeJS.ErrnoException.
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
 * Finds a folder above a path in which other users could replace the next part of the path.
 * @returns an error about that folder. Undefined if there is none, or if the check fails.
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
 * Finds out whether other users of the machine could replace a program. This is possible because of the mode or owner
 * of the program, of a folder above it, or of a folder above the targets of its symlinks. Group-writable folders are
 * accepted, because package managers share folders among a machine's administrators.
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
 * Checks the folders above a path, and those above its real path. A missing folder is accepted, because errand creates
 * it itself.
 */
function checkParents(path: string, allowed = 0): void {
  checkFoldersOf(path, allowed);
  if (statsOf(path)) checkFoldersOf(realpathSync(path), allowed);
}

/**
 * Checks the parent folders. Whoever can write to a folder can replace the files in it, unless the folder is sticky
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
 * Mode bits that are harmless if only one user is in the group. Many systems create such a group for each user, with
 * the same number as the user, and give it write access to the user's files.
 */
const ownGroupBits = ({ gid }: Stats): number =>
  gid === process.getegid?.() && gid === process.geteuid?.() ? groupBits : 0;

function checkGuarded(path: string, mode: number, allowed = 0): void {
  if (hasModes && (mode & 0o022 & ~allowed) !== 0)
    throw new PrivateFileError(path, `can be changed by other users (mode ${octal(mode)})`);
}

/** A symlink whose target is missing is an error. It does not count as a missing file. */
function openFollowing(file: string): number | undefined {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(file, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    if ((hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) && !isThere(file)) return undefined;
    throw error;
  }
}

/** Whether a file exists or may exist. If the check fails, the file counts as existing. */
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

/** Opens a file. Does not wait for the writer of a FIFO. Does not follow a symlink, where the system supports that. */
function openNoFollow(file: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // Opening fails for a symlink (ELOOP, on some systems EMLINK) and for a socket (ENXIO). In these cases, report the
    // real reason.
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

/** Trust files owned by root, because whoever is root controls the machine anyway. */
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

/**
 * Whether a folder is world-writable and sticky, such as /tmp. Such a folder is not errand's, so its mode must not be
 * tightened.
 */
const isShared = ({ mode }: Stats): boolean => (mode & 0o1002) === 0o1002;

/**
 * Creates the folders one by one. If the system reports ENOENT for a new folder, as it does under /proc, Node's
 * recursive `mkdir` loops forever.
 */
function makeFolders(folder: string): void {
  if (isFolder(folder)) return;
  makeFolders(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have created the folder in the meantime.
    if (!isFolder(folder)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The stats of a path. Undefined if there is nothing at the path, or if one of its parents is not a folder. */
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
