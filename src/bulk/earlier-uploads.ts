import { journalCommand } from '../journal/journal-command.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import { journalExists } from '../journal/journal-tables.ts';
import { labelsOf } from '../orders/submit/intent.ts';
import { ErrandError, type ErrorFacts, StorageError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { whereFlags } from '../run/context-flags.ts';

/**
 * Runs the part of an upload that needs the disk. If storage fails, nothing is sent now. The error mentions earlier
 * uploads, because their orders may have been placed. @param name the file's name. @throws StorageError; whatever
 * `work` throws.
 */
export async function tellingEarlier<T>(context: Context, name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageError) || !journalExists(context.settings)) throw error;
    throw await withEarlier(context, name, error);
  }
}

async function withEarlier(context: Context, name: string, error: StorageError): Promise<StorageError> {
  const failed = (what: string, facts: ErrorFacts): StorageError =>
    new StorageError(
      `${error.message}; nothing was sent now, ${what}`,
      { ...error.facts, outcome: 'unknown', cause: error, ...facts },
      error.category,
    );
  try {
    const found = earlierOf(context, name, (await context.journal()).list(true));
    if (!found) return error;
    const { key, operation, order_id: id, created_at: since } = found;
    const { one, made } = labelsOf(operation);
    const label = isOf(name)(found) ? `a ${one} of ${name}` : `the ${one} ${key}`;
    const what = id === null ? `is in doubt since ${since}` : `was ${made} before: ${id}`;
    return failed(`and ${label} ${what}`, {
      idempotencyKey: key,
      hint: `${wayOut(error)}, then run the same command again: nothing is placed twice.`,
      next: [
        { command: journalCommand('resume', key, whereFlags(context)), when: 'to see what became of it' },
      ],
    });
  } catch (cause) {
    if (!(cause instanceof ErrandError)) throw cause;
    return failed(`and whether an earlier upload is in doubt is not known (${cause.message})`, {});
  }
}

const wayOut = ({ category }: StorageError): string =>
  category === 'unavailable' ? 'Wait until the database responds' : 'Make room on the disk';

/**
 * Journal record that the error mentions. Prefers a record in doubt of this file, then any record in doubt at this
 * service, then the newest batch of this file.
 */
function earlierOf(
  { settings }: Context,
  name: string,
  all: readonly JournalRecord[],
): JournalRecord | undefined {
  const here = all.filter(({ base_url: at }) => at === settings.baseUrl.value);
  const open = here.filter(({ state }) => state === 'intended' || state === 'damaged');
  const ofFile = isOf(name);
  return (
    open.find(ofFile) ?? open[0] ?? here.findLast((record) => record.order_id !== null && ofFile(record))
  );
}

const isOf =
  (name: string) =>
  ({ operation, body }: JournalRecord): boolean =>
    operation === 'bulk.create' && body.filename === name;
