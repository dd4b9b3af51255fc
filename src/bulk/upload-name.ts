import { uuidPattern } from '../api/limits.ts';
import { UsageError } from '../platform/errors.ts';

const longest = 60;
const allowed = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*$/u;

/** Whether a text can be the name of an upload: it is typed as one word, and is never taken for an id, a flag or a row's number. */
export const isUploadName = (text: string): boolean =>
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
