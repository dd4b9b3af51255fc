import { uuidPattern } from '../../api/limits.ts';
import type { NewUpload, SavedUpload } from '../../journal/uploads.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { type Shard, shardName } from '../check/check.ts';
import { packRows, type UploadFileRow } from './file-rows.ts';
import { hasUploads, uploadOwner } from './named.ts';

/** An upload that is about to begin, under its chosen name. */
export interface NamedUpload {
  readonly name: string;
  readonly upload: NewUpload;
  /** Reads the rows of the file, to store them with the upload. If undefined, the rows that are already stored stay. */
  readonly fileRows?: (() => AsyncIterable<readonly UploadFileRow[]>) | undefined;
}

/**
 * Picks the name of an upload. If the same rows were uploaded before, it is the name of that upload. Otherwise, it is
 * the given name, or else the file's name, with a number if the file's name is taken. @returns the name, and facts to
 * print about it. @throws UsageError if a different upload has the given name.
 */
export async function uploadName(
  context: Context,
  {
    given,
    file,
    identity,
    shard,
  }: { readonly given: string | undefined; readonly shard?: Shard | undefined } & Pick<
    NewUpload,
    'file' | 'identity'
  >,
): Promise<{ readonly name: string; readonly facts: readonly string[] }> {
  const requested = given === undefined ? shardName(nameOfFile(file), shard) : checkUploadName(given);
  if (!hasUploads(context)) return { name: requested, facts: [] };
  const { name, isKnown } = (await context.uploads()).nameFor(
    await uploadOwner(context),
    requested,
    identity,
  );
  if (name === requested) return { name, facts: [] };
  if (isKnown) return { name, facts: [`these rows were uploaded before, as ${name}`] };
  if (given === undefined)
    return {
      name,
      facts: [`this upload is called ${name}, since an earlier upload has the name ${requested}`],
    };
  throw new UsageError(`--name ${requested}: that upload has other rows; ${name} is free`);
}

/** Records an upload in the journal before anything is sent. @throws StorageError. */
export async function beginUpload(
  context: Context,
  { name, upload, fileRows }: NamedUpload,
): Promise<SavedUpload> {
  const blocks = fileRows && (await packRows(fileRows()));
  return (await context.uploads()).begin(await uploadOwner(context), name, upload, blocks);
}

const maxLength = 60;
const allowed = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u;

/**
 * Whether a text is a valid upload name: a single shell word that cannot be mistaken for an id, a flag or a row
 * reference.
 */
const isUploadName = (text: string): boolean =>
  text.length <= maxLength && allowed.test(text) && !uuidPattern.test(text);

/** Default upload name for a file: `december` for `december.csv`. */
export function nameOfFile(file: string): string {
  const stem = file.replace(/\.[A-Za-z\d]{1,8}$/, '');
  const name = stem
    .normalize('NFC')
    .slice(0, maxLength)
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]/gu, '-')
    .replace(/^[^\p{L}\p{N}]*/u, '');
  return isUploadName(name) ? name : 'upload';
}

/** @throws UsageError for an invalid `--name`. */
export function checkUploadName(name: string): string {
  if (isUploadName(name)) return name;
  throw new UsageError(
    `--name ${JSON.stringify(name)} cannot be typed as one word: use up to ${maxLength} letters, digits, ".", "_" and "-", beginning with a letter or a digit; an id is no name`,
  );
}
