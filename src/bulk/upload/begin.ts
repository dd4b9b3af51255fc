import { uuidPattern } from '../../api/limits.ts';
import type { KeptUpload, NewUpload } from '../../journal/uploads.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { type Shard, shardName } from '../check/check.ts';
import { tellingEarlier } from '../earlier-uploads.ts';
import { hasUploads, uploadOwner } from './named.ts';

/** An upload that is about to begin, with the name that it is to have. */
export interface BeginningUpload {
  readonly name: string;
  readonly upload: NewUpload;
}

/**
 * The name of an upload: that which its rows have, else the one that was given, else its file's with a number behind it
 * where that is taken.
 * @returns what is to be told of it too. @throws UsageError for a name that another upload has.
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
  const wanted = given === undefined ? shardName(nameOfFile(file), shard) : checkUploadName(given);
  if (!hasUploads(context)) return { name: wanted, facts: [] };
  const { name, isKnown } = (await context.uploads()).nameFor(await uploadOwner(context), wanted, identity);
  if (name === wanted) return { name, facts: [] };
  if (isKnown) return { name, facts: [`these rows were uploaded before, as ${name}`] };
  if (given === undefined)
    return { name, facts: [`this upload is called ${name}: ${wanted} has other rows`] };
  throw new UsageError(`--name ${wanted}: that upload has other rows; ${name} is free`);
}

/** Writes an upload down before anything of it is sent. @throws StorageError. */
export const beginUpload = (context: Context, { name, upload }: BeginningUpload): Promise<KeptUpload> =>
  tellingEarlier(context, upload.file, async () =>
    (await context.uploads()).begin(await uploadOwner(context), name, upload),
  );

const longest = 60;
const allowed = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u;

/** Whether a text can be the name of an upload: it is typed as one word, and is never taken for an id, a flag or a row's number. */
const isUploadName = (text: string): boolean =>
  text.length <= longest && allowed.test(text) && !uuidPattern.test(text);

/** The name that an upload of a file has unless it is given one: `december` of `december.csv`. */
export function nameOfFile(file: string): string {
  const stem = file.replace(/\.[A-Za-z\d]{1,8}$/, '');
  const name = stem
    .normalize('NFC')
    .slice(0, longest)
    .replaceAll(/[^\p{L}\p{M}\p{N}._-]/gu, '-')
    .replace(/^[^\p{L}\p{N}]*/u, '');
  return isUploadName(name) ? name : 'upload';
}

/** @throws UsageError for a `--name` that cannot be one. */
export function checkUploadName(name: string): string {
  if (isUploadName(name)) return name;
  throw new UsageError(
    `--name ${JSON.stringify(name)} cannot be typed as one word: use up to ${longest} letters, digits, ".", "_" and "-", beginning with a letter or a digit; an id is no name`,
  );
}
