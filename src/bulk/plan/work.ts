import { objectsIn, textIn } from '../../api/json.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { batchIntent } from '../../orders/place-batch.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { Meant } from '../../spending/policy/gate.ts';
import type { Batch } from '../batches.ts';
import { keyOfRows, type UploadRow } from '../rows.ts';
import { type EarlierBatch, placedText } from './earlier.ts';
import { rangesText } from './file.ts';

/** A row of a plan as it is sent. */
export interface SendableRow {
  readonly number: number;
  readonly key: string;
  readonly cells: UploadRow;
}

/** What of a plan has been sent before, and what is left. */
export interface Work {
  /** Every batch that holds a row of the plan, chosen or not. */
  readonly earlier: readonly EarlierBatch[];
  /** Has led to a batch, or was given up. */
  readonly done: readonly EarlierBatch[];
  /** May have been sent, so is sent again as it was, to find out. */
  readonly inDoubt: readonly (EarlierBatch & { readonly batch: SentBatch })[];
  /** Never sent. */
  readonly rest: readonly Batch[];
}

/** The columns of the file that was planned. */
type Columns = Pick<Batch, 'headings' | 'fileHeadings'>;

type SentBatch = Batch & { readonly filename: string; readonly notifies: boolean };

/**
 * What is left to do of some rows of a plan: those that an earlier batch holds are not sent in another one. @param all rows of the
 * plan, of which `selected` are to be placed. @throws ErrandError conflict where a batch in doubt holds other rows too.
 */
export function workOf(
  context: Context,
  {
    all,
    selected,
    earlier,
    batchSize,
    ...columns
  }: Columns & {
    readonly all: readonly SendableRow[];
    readonly selected: readonly SendableRow[];
    readonly earlier: readonly EarlierBatch[];
    readonly batchSize: number;
  },
): Work {
  const numbers = new Map(all.map(({ key, number }) => [key, number]));
  const chosen = new Set(selected.map(({ key }) => key));
  const concerned = earlier.filter(({ keys }) => keys.some((key) => chosen.has(key)));
  const covered = new Set(concerned.flatMap(({ keys }) => keys));
  const inDoubt = concerned.filter(({ record }) => record.order_id === null);
  for (const batch of inDoubt)
    if (!batch.keys.every((key) => chosen.has(key))) throw otherRows(context, batch, numbers);
  const left = selected.filter(({ key }) => !covered.has(key));
  return {
    earlier,
    done: newestOf(concerned.filter(({ record }) => record.order_id !== null)),
    inDoubt: inDoubt.map((one) => ({ ...one, batch: asSent(one, numbers, columns) })),
    rest: chunksOf(left, batchSize).map((rows) => batchOf(rows, columns)),
  };
}

/** A row may have been sent in several batches, which order it once: the newest of them tells what became of it. */
function newestOf(batches: readonly EarlierBatch[]): EarlierBatch[] {
  const told = new Set<string>();
  const newest = batches.toReversed().filter(({ keys }) => {
    const isNew = keys.some((key) => !told.has(key));
    for (const key of keys) told.add(key);
    return isNew;
  });
  return newest.reverse();
}

/** All rows of a batch, as `bulk upload` makes one of the same rows. */
function batchOf(rows: readonly SendableRow[], columns: Columns): Batch {
  const cells = rows.map((row) => row.cells);
  return { key: keyOfRows(cells), rows: cells, numbers: rows.map(({ number }) => number), ...columns };
}

const chunksOf = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));

function asSent(
  { record: { key, body }, keys }: EarlierBatch,
  numbers: ReadonlyMap<string, number>,
  columns: Columns,
): SentBatch {
  return {
    key,
    // What was uploaded from here was journaled as rows of cells.
    rows: objectsIn(body, 'rows') as readonly UploadRow[],
    numbers: keys.map((one) => numbers.get(one) ?? 0),
    ...columns,
    filename: textIn(body, 'filename') ?? '',
    notifies: body.notify_on_complete === true,
  };
}

/** Settling the batch would place rows that are not meant now. */
function otherRows(context: Context, batch: EarlierBatch, numbers: ReadonlyMap<string, number>): ErrandError {
  const rows = batch.keys.flatMap((key) => numbers.get(key) ?? []);
  return new ErrandError(
    'conflict',
    `rows ${rangesText(rows)} were sent together, as ${placedText(batch)}, and not all of them are chosen now`,
    {
      idempotencyKey: batch.record.key,
      outcome: 'unknown',
      hint: 'Settle that batch first: it may have placed its rows, chosen or not. Nothing was sent now.',
      next: [
        {
          command: journalCommand('resume', batch.record.key, whereFlags(context)),
          when: 'to see what became of it',
        },
      ],
    },
  );
}

/** The numbers of the rows that were sent before, or may have been, chosen or not. */
export function sentRows(
  { rows }: { readonly rows: readonly SendableRow[] },
  { earlier }: Pick<Work, 'earlier'>,
): number[] {
  const keys = new Set(earlier.flatMap((batch) => batch.keys));
  return rows.filter(({ key }) => keys.has(key)).map(({ number }) => number);
}

/** What is sent: first what is in doubt, as it was. */
export async function* toSend(
  { inDoubt, rest }: Work,
  notifies: boolean,
): AsyncGenerator<Batch & { readonly notifies: boolean }> {
  for (const { batch } of inDoubt) yield batch;
  for (const batch of rest) yield { ...batch, notifies };
}

/** The rows of batches. */
export const countOf = (batches: readonly Pick<Batch, 'rows'>[]): number =>
  batches.reduce((sum, { rows }) => sum + rows.length, 0);

/** All that a plan orders, as a policy looks at it: what was sent before counts in the sum of the upload. */
export async function meantByPlan(
  context: Context,
  { earlier, rest }: Work,
  {
    name,
    notifies,
    rows,
  }: { readonly name: string; readonly notifies: boolean; readonly rows: readonly SendableRow[] },
): Promise<Meant[]> {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const meant: Meant[] = [];
  for (const { record, keys } of earlier) {
    const own = keys.flatMap((key) => byKey.get(key) ?? []);
    const intent = await batchIntent(context, {
      key: record.key,
      filename: name,
      rows: own.map(({ cells }) => cells),
    });
    meant.push({ intent, numbers: own.map(({ number }) => number), isDone: true });
  }
  for (const { key, rows: cells, numbers } of rest)
    meant.push({
      intent: await batchIntent(context, { key, filename: name, rows: cells, notifies }),
      numbers,
    });
  return meant;
}
