import type { JournalRecord } from '../journal/journal-record.ts';
import type { TableLayout } from '../journal/uploads.ts';
import { StorageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';

/** How the rows of a batch stood in the file that they came from; undefined where that is not known on this machine. */
export const layoutOf = (context: Context, batchId: string): Promise<TableLayout | undefined> =>
  ifReadable(async () => {
    const made = await madeHere(context, batchId);
    return made && (await (await context.uploads()).layoutOf(made.key));
  });

/** Whether the journal of this machine knows a batch. */
export const isMadeHere = async (context: Context, batchId: string): Promise<boolean> =>
  (await ifReadable(() => madeHere(context, batchId))) !== undefined;

const madeHere = async (context: Context, batchId: string): Promise<JournalRecord | undefined> =>
  (await context.journal()).madeBy(batchId, context.settings.baseUrl.value);

/** What the service says of a batch stands without what this machine knows of it. */
async function ifReadable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}
