import { lstatSync } from 'node:fs';
import { UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';

/**
 * Options of commands that also write an HTML page.
 * @param about describes the page, as the end of a sentence in the help.
 */
export const pageOptions = (about: string) =>
  ({
    html: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: `write one page with charts there too, ${about}`,
    },
    force: { kind: 'flag', description: 'with --html: write over a file' },
  }) as const;

/**
 * Must be called before any input is read.
 * @throws UsageError if a page cannot be written with these options.
 */
export function checkPage(html: string | undefined, force: boolean): void {
  if (html === undefined) {
    if (force) throw new UsageError('--force goes with --html');
    return;
  }
  if (html === '-') throw new UsageError('--html takes the name of a file, such as page.html, not -');
  if (!force) refuseOverwriting([html]);
}

/**
 * Writes a page accepted by `checkPage`. @param mode is the file mode of a new file. @throws UsageError or StorageError
 * naming the file.
 */
export async function savePage(
  context: Context,
  html: string,
  text: string,
  options: { readonly force: boolean; readonly mode?: number },
): Promise<void> {
  const { saveFile } = await import('../format/save-file.ts');
  await saveFile(html, [text], options);
  context.note(`wrote ${html}`);
}

/**
 * Must be called before work starts that would be wasted if a file may not be overwritten.
 * @throws UsageError naming the files that would be overwritten.
 */
export function refuseOverwriting(paths: readonly string[]): void {
  const there = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }));
  if (there.length === 0) return;
  const [exist, them] = there.length > 1 ? ['exist', 'them'] : ['exists', 'it'];
  throw new UsageError(`${there.join(', ')} already ${exist}; use --force to overwrite ${them}`);
}

/**
 * Checks output files whose names the user did not type.
 * @throws UsageError naming every path that is not a regular file, because not even --force replaces such a path.
 */
export function refuseNonFiles(paths: readonly string[]): void {
  const others = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === false);
  if (others.length === 0) return;
  const [are, them] =
    others.length > 1
      ? ['are there, and are no plain files', 'them']
      : ['is there, and is no plain file', 'it'];
  throw new UsageError(`${others.join(', ')} ${are}; move ${them} away`);
}
