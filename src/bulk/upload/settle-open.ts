import type { JournalRecord } from '../../journal/journal-record.ts';
import { isAtWork, workerOf } from '../../journal/take-over.ts';
import { resumeIntent } from '../../orders/submit/resume.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { knownUpload } from './named.ts';

/** What became of batches that the journal had open. */
interface Settled {
  /** What is to be told of it; nothing where none was open. */
  readonly facts: readonly string[];
  /** Whether one of them was ordered only now. */
  readonly hasOrdered: boolean;
}

/**
 * Ends what the journal has open of an upload that was sent, whoever has sent it: what became of a batch in doubt is found
 * out, and what was made and never told counts as told, since whoever calls tells of it.
 * @param told ids of the batches that the user is shown; undefined where all are told of. @throws ErrandError: in_doubt where
 * the service does not say.
 */
export async function settleOpen(
  context: Context,
  name: string,
  told?: ReadonlySet<string>,
): Promise<Settled> {
  const journal = await context.journal();
  await journal.refresh('now');
  await (await context.uploads()).refresh('now');
  const upload = await knownUpload(context, name);
  const keys = new Set(upload?.batches.map(({ key }) => key));
  const { value: baseUrl } = context.settings.baseUrl;
  const open = journal.list().filter((record) => record.base_url === baseUrl && keys.has(record.key));
  for (const record of open) if (told?.has(record.order_id ?? '') ?? true) journal.recall(record);
  const left: string[] = [];
  const settled: boolean[] = [];
  for (const record of open.filter(({ state }) => state === 'intended'))
    try {
      settled.push((await resumeIntent(context, record)).existed);
    } catch (error) {
      if (!isAtWork(error)) throw error;
      left.push(leftLine(name, record));
    }
  return { facts: [...settledLines(name, settled.length), ...left], hasOrdered: settled.includes(false) };
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
