import type { JournalRecord } from '../../journal/journal-record.ts';
import { isAtWork, workerOf } from '../../journal/take-over.ts';
import { resumeIntent } from '../../orders/submit/resume.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { recordOutcomes } from '../needs/batch-outcome.ts';
import { knownUpload, readBatches } from './named.ts';

/** Outcome of settling the batches that were left open in the journal. */
interface Settled {
  /** Facts to print; empty if no batch was open. */
  readonly facts: readonly string[];
  /** Whether settling has just placed any of these batches. */
  readonly hasOrdered: boolean;
}

/**
 * Closes the journal's open records of an upload, whoever sent it. Settles batches in doubt. Marks results as reported,
 * because the caller reports them. @param reported lists the ids of the batches that the user was shown; undefined if
 * all were shown. @throws ErrandError (in_doubt) if the service does not say what became of a batch.
 */
export async function settleOpen(
  context: Context,
  name: string,
  reported?: ReadonlySet<string>,
): Promise<Settled> {
  const journal = await context.journal();
  await journal.refresh('now');
  await (await context.uploads()).refresh('now');
  const upload = await knownUpload(context, name);
  const keys = new Set(upload?.batches.map(({ key }) => key));
  const { value: baseUrl } = context.settings.baseUrl;
  const open = journal.list().filter((record) => record.base_url === baseUrl && keys.has(record.key));
  for (const record of open) if (reported?.has(record.order_id ?? '') ?? true) journal.recall(record);
  const left: string[] = [];
  const settled: boolean[] = [];
  for (const record of open.filter(({ state }) => state === 'intended'))
    try {
      settled.push(await settle(context, record));
    } catch (error) {
      if (!isAtWork(error)) throw error;
      left.push(leftLine(name, record));
    }
  return { facts: [...settledLines(name, settled.length), ...left], hasOrdered: settled.includes(false) };
}

/** @returns whether the service already had the batch. */
async function settle(context: Context, record: JournalRecord): Promise<boolean> {
  const { existed } = await resumeIntent(context, record);
  const id = (await context.journal()).find(record.key, record.base_url)?.order_id;
  if (id != null) await recordOutcomes(context, await readBatches(context, [id]));
  return existed;
}

function settledLines(name: string, count: number): string[] {
  if (count === 0) return [];
  return [
    count === 1
      ? `a batch of ${name} that was in doubt is settled`
      : `${count} batches of ${name} that were in doubt are settled`,
  ];
}

function leftLine(name: string, record: JournalRecord): string {
  const { who, leaseS } = workerOf(record);
  const then =
    leaseS === undefined ? '' : `; should it be gone, in ${leaseS} s: errand bulk resume ${shellWord(name)}`;
  return `${who} is at work on a batch of ${name}${then}`;
}
