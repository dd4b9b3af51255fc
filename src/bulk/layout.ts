import type { Context } from '../context.ts';
import { StorageError } from '../errors.ts';
import type { TableLayout } from '../state/uploads.ts';

/** How the rows of a batch stood in the file that they came from; undefined where that is not known on this machine. */
export async function layoutOf(context: Context, batchId: string): Promise<TableLayout | undefined> {
  try {
    const made = (await context.journal()).madeBy(batchId, context.settings.baseUrl.value);
    return made && (await (await context.uploads()).layoutOf(made.key));
  } catch (error) {
    // What the service says of the batch stands without it.
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

/** Whether the journal of this machine knows a batch. */
export async function isMadeHere(context: Context, batchId: string): Promise<boolean> {
  try {
    return (await context.journal()).madeBy(batchId, context.settings.baseUrl.value) !== undefined;
  } catch (error) {
    if (error instanceof StorageError) return false;
    throw error;
  }
}
