import { UsageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { refuseOverwriting } from './output/overwriting.ts';

/** What a command takes that writes a page beside its rows. @param about what the page is, as the help goes on. */
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

/** Before anything is read. @throws UsageError where a page cannot be written so. */
export function checkPage(html: string | undefined, force: boolean): void {
  if (html === undefined) {
    if (force) throw new UsageError('--force goes with --html');
    return;
  }
  if (html === '-') throw new UsageError('--html takes the name of a file, such as page.html, not -');
  if (!force) refuseOverwriting([html]);
}

/** Writes a page that `checkPage` has let through. @param mode of a new file. @throws UsageError, StorageError naming it. */
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
