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

/** Shows one line to the user. */
export type Tell = (line: string) => void;

/** A file or folder of errand's own is not what errand would have made, so it is not used. */
export class PrivateFileError extends Error {
  override readonly name = 'PrivateFileError';
  readonly path: string;
  /** What is wrong, without the path. */
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
 * Makes a folder, and those above it, for its owner alone, whatever the umask; tightens one that is there.
 * @throws PrivateFileError, NodeJS.ErrnoException.
 */
export function makePrivateFolder(folder: string, tell: Tell): void {
  makeFolders(folder);
  const stats = statSync(folder);
  if (isShared(stats)) throw new PrivateFileError(folder, 'is shared with other users');
  checkOwner(folder, stats);
  tighten(folder, stats, 0o700, tell);
}

/** Tightens a folder of ours where there is one. One that is shared by design, as /tmp, is left as it is. @throws PrivateFileError. */
export function checkPrivateFolder(folder: string, tell: Tell): void {
  const stats = statsOf(folder);
  if (!stats?.isDirectory() || isShared(stats)) return;
  checkOwner(folder, stats);
  tighten(folder, stats, 0o700, tell);
}

/**
 * Makes an empty file for its owner alone, with the folders above it, or checks the one that is there. It is not opened a second time: closing a
 * database's file drops every lock that SQLite holds on it in this process.
 * @throws PrivateFileError, NodeJS.ErrnoException.
 */
export function makePrivateFile(file: string, tell: Tell): void {
  makeFolders(dirname(file));
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    checkPrivateFile(file, tell);
  }
}

/**
 * Checks a file of ours by its name alone: no link, a plain file, our own; tightened where others could use it. That
 * holds as long as nobody else can write to its folder. @returns whether there is such a file. @throws PrivateFileError.
 */
export function checkPrivateFile(file: string, tell: Tell): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (!stats) return false;
  checkKind(file, stats);
  checkOwner(file, stats);
  tighten(file, stats, 0o600, tell);
  return true;
}

/** What SQLite keeps beside a database. */
const companions = ['-wal', '-shm', '-journal'] as const;

/** Makes a database's file, or checks it and what SQLite keeps beside it. @throws PrivateFileError, NodeJS.ErrnoException. */
export function makePrivateDatabase(file: string, tell: Tell): void {
  makePrivateFile(file, tell);
  for (const companion of companions) checkPrivateFile(file + companion, tell);
}

/** Bytes that no file of ours has. */
const tooManyBytes = 64 * 1024 * 1024;

/**
 * Reads a file of ours whole; the checks are of the very file that is read. A FIFO or a device is refused at once.
 * @returns undefined where there is none. @throws PrivateFileError, NodeJS.ErrnoException.
 */
export function readPrivateFile(file: string, tell: Tell): Buffer | undefined {
  const opened = openNoFollow(file);
  if (opened === undefined) return undefined;
  try {
    const stats = fstatSync(opened);
    checkKind(file, stats);
    checkOwner(file, stats);
    tighten(file, stats, 0o600, tell, opened);
    if (stats.size > tooManyBytes) throw new PrivateFileError(file, 'is too large');
    return readFileSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Bytes that no file has that a person wrote to steer errand. */
const tooManyWritten = 1024 * 1024;

/**
 * Reads a file whose words are obeyed: others may read it, and only its owner or root may have written it. A link is
 * followed; what counts is the file that is read.
 * @returns undefined where there is nothing of that name. @throws PrivateFileError, NodeJS.ErrnoException.
 */
export function readGuardedFile(file: string): Buffer | undefined {
  const opened = openFollowing(file);
  if (opened === undefined) return undefined;
  try {
    const stats = fstatSync(opened);
    checkKind(file, stats);
    checkOwner(file, stats);
    checkGuarded(file, stats.mode);
    checkFoldersOf(file);
    checkFoldersOf(realpathSync(file));
    if (stats.size > tooManyWritten) throw new PrivateFileError(file, 'is too large');
    return readFileSync(opened);
  } finally {
    closeSync(opened);
  }
}

/** Whoever can write to a folder can put another file in the place of one in it, unless the folder is sticky as /tmp is. */
function checkFoldersOf(file: string): void {
  if (!hasModes) return;
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const stats = statSync(folder);
    checkOwner(folder, stats);
    if ((stats.mode & 0o1000) === 0) checkGuarded(folder, stats.mode);
    if (folder === dirname(folder)) return;
  }
}

function checkGuarded(path: string, mode: number): void {
  if (hasModes && (mode & 0o022) !== 0)
    throw new PrivateFileError(path, `can be changed by other users (mode ${octal(mode)})`);
}

/** A link that leads nowhere is not the same as no file. */
function openFollowing(file: string): number | undefined {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(file, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    if ((hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) && !isThere(file)) return undefined;
    throw error;
  }
}

/** Whether something of that name is there, or may be: where the system does not say, it is not taken for absent. */
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

/** Without waiting for a FIFO's writer; a link is not followed where the system can tell. */
function openNoFollow(file: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // A link (ELOOP, on some systems EMLINK) or a socket (ENXIO) cannot be opened so; the reason is said in words.
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

/** What belongs to root is as safe as the machine. */
function checkOwner(path: string, { uid }: Stats): void {
  const own = process.geteuid?.();
  if (own === undefined || uid === own || uid === 0) return;
  throw new PrivateFileError(path, `belongs to another user (uid ${uid})`);
}

function tighten(path: string, { mode }: Stats, wanted: number, tell: Tell, opened?: number): void {
  if (!hasModes || (mode & openToOthers) === 0) return;
  const was = `${path} could be used by others (mode ${octal(mode)})`;
  try {
    if (opened === undefined) chmodSync(path, wanted);
    else fchmodSync(opened, wanted);
  } catch (error) {
    tell(`warning: ${was}, and that cannot be changed: ${error instanceof Error ? error.message : error}`);
    return;
  }
  const now = opened === undefined ? statSync(path).mode : fstatSync(opened).mode;
  // Some mounts of other systems keep no modes.
  const isTight = (now & openToOthers) === 0;
  tell(
    isTight ? `${was}; its mode is ${octal(wanted)} now` : `warning: ${was}, and its file system keeps it so`,
  );
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, '0');

/** Such as /tmp: everybody writes there and nobody but root may remove what others wrote. It is not ours to close. */
const isShared = ({ mode }: Stats): boolean => (mode & 0o1002) === 0o1002;

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

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Undefined where there is nothing, be it that a part of the path is not a folder. */
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
