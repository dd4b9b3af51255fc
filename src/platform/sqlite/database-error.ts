import { PrivateFileError } from '../private-files.ts';

/** Kind of problem with a database. Each kind has a remedy of its own. */
export type DatabaseProblem =
  | 'busy'
  | 'full'
  | 'read_only'
  | 'not_opened'
  | 'damaged'
  | 'newer'
  | 'unlockable'
  | 'failing'
  | 'not_private';

/** Advice for each problem. It never suggests another folder, because only this folder has the records in doubt. */
export const remedies: Readonly<Record<DatabaseProblem, string>> = {
  busy: 'Wait for the other errand to end, then try again.',
  full: 'Free some space, then try again.',
  read_only: 'Make it writable, then try again.',
  not_opened: 'Make it readable and writable, with its folder, then try again.',
  damaged: 'Move it aside to keep it, then try again.',
  newer: 'Update errand.',
  unlockable: 'Move its folder, with all that is in it, to a file system that grants locks.',
  failing: 'Look at the disk, then try again.',
  not_private: 'Put back the file itself, owned by you, then try again.',
};

/** An error that was caused by the database file, and not by the statement. The work in progress is lost. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly file: string;
  readonly problem: DatabaseProblem;
  /** The reason, without the file name. */
  readonly reason: string;

  constructor(file: string, problem: DatabaseProblem, reason: string, options?: ErrorOptions) {
    super(`${file} cannot be used: ${reason}`, options);
    this.file = file;
    this.problem = problem;
    this.reason = reason;
  }
}

type Known = readonly [trouble: DatabaseProblem, reason: string];

const busy: Known = ['busy', 'it is locked by another process'];
const full: Known = ['full', 'the disk is full'];
const readOnly: Known = ['read_only', 'it is read-only'];
const notOpened: Known = ['not_opened', 'it cannot be opened'];
const unlockable: Known = ['unlockable', 'its file system grants no locks'];
const failing: Known = ['failing', 'reading or writing it failed; the disk may be full'];

/** SQLite result codes for problems with the file. Any other code is about the statement, and so is a bug. */
const byResult: Readonly<Record<number, Known>> = {
  3: ['not_opened', 'it may not be accessed'],
  5: busy,
  6: busy,
  7: ['failing', 'there is no memory left'],
  8: readOnly,
  10: failing,
  11: ['damaged', 'it is damaged'],
  13: full,
  14: notOpened,
  15: unlockable,
  26: ['damaged', 'it is damaged'],
};

/**
 * Extended result codes that are more specific than their primary code: SQLITE_IOERR_UNLOCK, _RDLOCK,
 * _CHECKRESERVEDLOCK and _LOCK.
 */
const byExtendedResult: Readonly<Record<number, Known>> = {
  2058: unlockable,
  2314: unlockable,
  3594: unlockable,
  3850: unlockable,
};

/** Maps messages of SQLite to result codes. The packaged driver omits the code when it reads many rows. */
const resultByMessage: Readonly<Record<string, number>> = {
  'access permission denied': 3,
  'database is locked': 5,
  'database table is locked': 6,
  'out of memory': 7,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'locking protocol': 15,
  'file is not a database': 26,
};

/** The problem for each system error that may be raised when a file or folder cannot be created or opened. */
const bySystemCode: Readonly<Record<string, Known>> = {
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full,
  EROFS: readOnly,
  EACCES: notOpened,
  EPERM: notOpened,
  ENOENT: notOpened,
  ENOTDIR: notOpened,
  EISDIR: notOpened,
  EIO: failing,
};

/** Converts a failure to a DatabaseError. Undefined if the statement caused the failure, which is a bug. */
export function databaseError(file: string, cause: unknown): DatabaseError | undefined {
  if (cause instanceof DatabaseError) return cause;
  if (cause instanceof PrivateFileError)
    return new DatabaseError(cause.path, 'not_private', `it ${cause.reason}`, { cause });
  if (!(cause instanceof Error)) return undefined;
  const known = knownProblem(cause);
  return known && new DatabaseError(file, ...known, { cause });
}

function knownProblem(cause: Error): Known | undefined {
  const result = resultOf(cause);
  // The low byte is the primary code. The other bytes make it more specific.
  if (result !== undefined) return byExtendedResult[result] ?? byResult[result & 0xff];
  return 'code' in cause ? bySystemCode[String(cause.code)] : undefined;
}

/** Whether SQLite threw the error. */
export const isOfSqlite = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';

/** Whether another process has locked the database. */
export function isBusy(error: unknown): boolean {
  const result = error instanceof Error ? resultOf(error) : undefined;
  return result !== undefined && byResult[result & 0xff] === busy;
}

/** The SQLite result code of an error that SQLite has thrown. */
function resultOf(error: Error): number | undefined {
  if (!isOfSqlite(error)) return undefined;
  return 'errcode' in error ? Number(error.errcode) : resultByMessage[error.message];
}
