import { canonicalJson } from '../../format/canonical.ts';
import type { Attempt } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { attemptKey } from '../../orders/needs/reference.ts';
import { firstKeyOf, nextRowKey } from '../../orders/needs/row-key.ts';
import type { Context } from '../../run/context.ts';
import type { UploadRow } from '../rows.ts';
import { type Batch, type BatchRow, type LaterAttempt, withdrawalOf } from '../upload/batch.ts';
import { batchesAgain, type Batch as NewBatch } from '../upload/batches.ts';
import type { NamedBatches } from '../upload/named.ts';
import type { RetriedRows } from '../upload/retried.ts';
import { attemptStore } from './batch-outcome.ts';
import { type DecidedRows, decideRows, type RowSource } from './decide-rows.ts';
import { keyOfBatch, togetherIn, uploadWith } from './later-attempts.ts';
import { ownKeyNamespace, referenceOfRow } from './row-need.ts';

/** The rows of batches that are to be ordered again: the failed rows and, if the user says so, the withdrawn rows. */
export interface RowsToRetry extends RetriedRows {
  readonly failed: readonly { readonly batch: Batch; readonly row: BatchRow }[];
  readonly named: Pick<NamedBatches, 'uploads'>;
  /** Later attempts at other rows of the same batches. */
  readonly later: readonly LaterAttempt[];
  /** Maximum number of rows in a batch. */
  readonly size: number;
  /** The occasion of the rows. An occasion that their attempts name takes precedence. */
  readonly run: string;
  readonly again: boolean;
}

/**
 * Decides which failed rows are ordered again. Each becomes the next attempt at the row's need. @throws ErrandError if
 * the outcome of an earlier attempt cannot be read.
 */
export async function decideRetry(context: Context, retried: RowsToRetry): Promise<DecidedRows> {
  const known = await recordedOf(context, retried);
  const run = [...known.own.values()].map((one) => one.run).find((one) => one !== undefined) ?? retried.run;
  const batch = batchOf(retried, known.own);
  async function* whole() {
    yield batch;
  }
  const taken = new Set<number | undefined>(retried.later.map(({ serial }) => serial));
  const source: RowSource = {
    batches: () => batchesAgain(whole(), retried.size),
    isOfFile: ({ key, serial }) => taken.has(serial) || known.rowKeys.has(firstKeyOf(key)),
    unrecorded: (number) => {
      const at = batch.numbers.indexOf(number);
      return known.own.has(at) ? [] : unrecordedOf(context, retried, batch, at);
    },
  };
  return decideRows(context, source, { door: 'retry', run, again: retried.again });
}

/**
 * Failed rows for a file that the user corrects. Each row has the key of its next attempt, so errand recognizes the row
 * whatever the user corrects.
 */
export async function rowsForFile(context: Context, retried: RowsToRetry): Promise<UploadRow[]> {
  const { own } = await recordedOf(context, retried);
  return retried.rows.map((cells, at) => {
    const { idempotency_key: key } = cells;
    if (key === undefined || retried.failed[at]?.row.orderId === undefined) return cells;
    const { reference, number = 1 } = own.get(at) ?? {};
    const isGiven = reference?.namespace === ownKeyNamespace;
    return { ...cells, idempotency_key: isGiven ? attemptKey(reference, number + 1) : nextRowKey(key) };
  });
}

interface Recorded {
  /** The rows' own attempts, by row index. */
  readonly own: ReadonlyMap<number, Attempt>;
  /** Keys of the first attempts, for all rows that were uploaded together. */
  readonly rowKeys: ReadonlySet<string>;
}

async function recordedOf(context: Context, { failed, named, rows }: RowsToRetry): Promise<Recorded> {
  const own = new Map<number, Attempt>();
  const rowKeys = new Set(rows.map(({ idempotency_key: key = '' }) => firstKeyOf(key)));
  if (!journalExists(context.settings)) return { own, rowKeys };
  const store = await attemptStore(context);
  for (const batch of new Set(failed.map((one) => one.batch))) {
    const key = keyOfBatch(store, named.uploads, batch.id);
    if (key === undefined) continue;
    const upload = await uploadWith(context, named.uploads, { id: batch.id, key });
    for (const one of (await togetherIn(store, key, upload)).rowKeys) rowKeys.add(one);
    const attempts = (await store.attempts.ofUpload(store.scope, key)).filter(
      ({ state }) => state !== 'unsent',
    );
    const latest = attempts.slice(-Math.max(1, Number(batch.row_count) || 0));
    for (const [at, one] of failed.entries()) {
      const attempt = one.batch === batch ? latest[one.row.index] : undefined;
      if (attempt) own.set(at, attempt);
    }
  }
  return { own, rowKeys };
}

/** All rows as one batch, with the keys that the file gave. Row numbers are those of the file if they are known. */
function batchOf({ rows, layout }: RetriedRows, own: ReadonlyMap<number, Attempt>): NewBatch {
  const { headings, fileHeadings } = layout;
  const numbers = isNumbered({ rows, layout }) ? layout.numbers : rows.map((_, at) => at + 1);
  const ownKeys: number[] = [];
  const given = rows.map((cells, at) => {
    const { reference } = own.get(at) ?? {};
    if (reference?.namespace !== ownKeyNamespace) return sorted(cells);
    ownKeys.push(numbers[at] ?? 0);
    return sorted({ ...cells, idempotency_key: reference.text });
  });
  const all = [...new Set([...headings, ...given.flatMap((cells) => Object.keys(cells))])];
  return {
    key: '',
    rows: given,
    numbers,
    headings: all,
    fileHeadings,
    ...(ownKeys.length > 0 && { ownKeys }),
  };
}

/** Sorts the cells of a row, so that equal rows make the same batch wherever they come from. */
const sorted = (cells: UploadRow): UploadRow =>
  Object.fromEntries(Object.entries(cells).sort(([one], [other]) => (one < other ? -1 : 1)));

export const isNumbered = ({ rows, layout }: RetriedRows): boolean => layout.numbers.length === rows.length;

/** The attempt at a row that was sent from another machine, derived from the row's order. */
function unrecordedOf(
  context: Context,
  { failed, run }: RowsToRetry,
  batch: NewBatch,
  at: number,
): readonly Attempt[] {
  const [one, cells] = [failed[at], batch.rows[at]];
  const orderId = one?.row.orderId;
  if (!one || !cells || orderId === undefined) return [];
  const now = context.serviceClock.now();
  return [
    {
      ...{ serial: -1 - at, key: cells.idempotency_key ?? '', operation: 'bulk.create', upload: undefined },
      ...{
        run: run === '' ? undefined : run,
        number: 1,
        likeness: 'alike',
        reference: referenceOfRow(cells),
      },
      ...{ orderId, state: withdrawalOf(one.row) ?? 'failed', seenAt: now },
      madeAt: Date.parse(String(one.batch.created_at)) || now,
    },
  ];
}

/** The keys of the batches in doubt whose rows are all among `rows`, unchanged. */
export function settledBy(
  settling: readonly Pick<NewBatch, 'key' | 'rows'>[],
  rows: readonly UploadRow[],
): ReadonlySet<string> {
  const content = ({ idempotency_key: _, ...cells }: UploadRow): string => canonicalJson(cells);
  const own = new Set(rows.map(content));
  return new Set(
    settling.flatMap((batch) => (batch.rows.every((cells) => own.has(content(cells))) ? batch.key : [])),
  );
}
