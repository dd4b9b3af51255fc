import { PrivateFileError } from '../private-files.ts';

/** The sandbox's store cannot be used; the message names the file and why. Nothing was kept of what was under way. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  /** The reason alone, for an answer that must not name files. */
  readonly reason: string;

  constructor(file: string, reason: string, options?: ErrorOptions) {
    super(`the sandbox's data ${file} cannot be used: ${reason}`, options);
    this.reason = reason;
  }
}

/** SQLite's result codes that speak of the file and not of the statement; every other code is a bug of ours. */
const reasons: Readonly<Record<number, string>> = {
  3: 'it may not be accessed',
  5: 'it is locked by another process',
  6: 'it is locked by another process',
  7: 'there is no memory left',
  8: 'it is read-only',
  10: 'reading or writing it failed; the disk may be full',
  11: 'it is damaged',
  13: 'the disk is full',
  14: 'it cannot be opened',
  15: 'it is locked by another process',
  26: 'it is no database',
};

/** A failed statement as a StoreError; undefined where the statement itself was at fault. */
export function storeTrouble(file: string, cause: unknown): StoreError | undefined {
  if (cause instanceof StoreError) return cause;
  if (cause instanceof PrivateFileError) return new StoreError(cause.path, `it ${cause.reason}`, { cause });
  if (!(cause instanceof Error && 'errcode' in cause)) return undefined;
  // The low byte is the result, the rest refines it.
  const reason = reasons[Number(cause.errcode) & 0xff];
  return reason === undefined ? undefined : new StoreError(file, reason, { cause });
}

/** Why a store could not be opened: whatever it was, the file is what the user can do something about. */
export function openTrouble(file: string, cause: unknown): StoreError {
  const known = storeTrouble(file, cause);
  if (known) return known;
  return new StoreError(file, cause instanceof Error ? cause.message : String(cause), { cause });
}
