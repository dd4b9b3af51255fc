import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { isAbsolute, relative } from 'node:path';
import { objectsIn, textIn } from '../../api/json.ts';
import type { Plan } from '../../api/schemas/plan-file.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { mayHaveMade } from '../../journal/take-over.ts';
import { batchIntent } from '../../orders/place-batch.ts';
import { ErrandError, type ErrorFacts } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { flagsTo, whereFlags } from '../../run/context-flags.ts';
import { rowKeysOf } from '../../spending/policy/facts.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import { referenceFlags, tableFlags } from '../csv/table-options.ts';
import { keyOfRows, type UploadRow } from '../rows.ts';
import { type Batch, defaultBatchRows } from '../upload/batches.ts';
import { rangesText } from './file.ts';

/** A row of a plan, as sent. */
export interface SendableRow {
  readonly number: number;
  readonly key: string;
  readonly cells: UploadRow;
}

/** Which parts of a plan were sent before, and which remain. */
export interface Work {
  /** All batches that contain a selected row. */
  readonly earlier: readonly EarlierBatch[];
  /** Resulted in a batch. */
  readonly done: readonly EarlierBatch[];
  /** Batches that may have been sent; they are resent unchanged to find out. */
  readonly inDoubt: readonly (EarlierBatch & { readonly batch: SentBatch })[];
  /** Never sent. */
  readonly rest: readonly Batch[];
}

/** Columns of the planned file. */
type Columns = Pick<Batch, 'headings' | 'fileHeadings'>;

type SentBatch = Batch & { readonly filename: string; readonly notifies: boolean };

/**
 * Splits the selected rows of a plan into what was sent before and what remains. A row in an earlier batch is never
 * sent in a new batch. @param all holds every row of the plan; the rows in `selected` are to be placed. @throws
 * ErrandError (conflict) if a batch in doubt also contains unselected rows.
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
    done: latestOf(concerned.filter(({ record }) => record.order_id !== null)),
    inDoubt: inDoubt.map((one) => ({ ...one, batch: asSent(one, numbers, columns) })),
    rest: chunksOf(left, batchSize).map((rows) => batchOf(rows, columns)),
  };
}

/** A row may be in several batches but is ordered once; the newest batch tells its outcome. */
function latestOf(batches: readonly EarlierBatch[]): EarlierBatch[] {
  const reported = new Set<string>();
  const latest = batches.toReversed().filter(({ keys }) => {
    const isNew = keys.some((key) => !reported.has(key));
    for (const key of keys) reported.add(key);
    return isNew;
  });
  return latest.reverse();
}

/** Builds a batch exactly as `bulk upload` does for the same rows. */
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
    // Uploads from this machine are journaled as rows of cells.
    rows: objectsIn(body, 'rows') as readonly UploadRow[],
    numbers: keys.map((one) => numbers.get(one) ?? 0),
    ...columns,
    filename: textIn(body, 'filename') ?? '',
    notifies: body.notify_on_complete === true,
  };
}

/** Error for a batch in doubt that also contains unselected rows, because resending the batch would place them too. */
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

/** Numbers of rows that were, or may have been, sent before, selected or not. */
export function sentRows(
  { rows }: { readonly rows: readonly SendableRow[] },
  { earlier }: Pick<Work, 'earlier'>,
): number[] {
  const keys = new Set(earlier.flatMap((batch) => batch.keys));
  return rows.filter(({ key }) => keys.has(key)).map(({ number }) => number);
}

/** Batches to send. Batches in doubt come first, unchanged. */
export async function* toSend(
  { inDoubt, rest }: Work,
  notifies: boolean,
): AsyncGenerator<Batch & { readonly notifies: boolean }> {
  for (const { batch } of inDoubt) yield batch;
  for (const batch of rest) yield { ...batch, notifies };
}

/** Total number of rows in batches. */
export const countOf = (batches: readonly Pick<Batch, 'rows'>[]): number =>
  batches.reduce((sum, { rows }) => sum + rows.length, 0);

/** Everything a plan orders, for policy checks; rows sent before count toward the upload's total. */
export async function proposedByPlan(
  context: Context,
  { earlier, rest }: Work,
  {
    name,
    notifies,
    rows,
  }: { readonly name: string; readonly notifies: boolean; readonly rows: readonly SendableRow[] },
): Promise<ProposedOrder[]> {
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const proposed: ProposedOrder[] = [];
  for (const { record, keys } of earlier) {
    const own = keys.flatMap((key) => byKey.get(key) ?? []);
    const intent = await batchIntent(context, {
      key: record.key,
      filename: name,
      rows: own.map(({ cells }) => cells),
    });
    proposed.push({ intent, numbers: own.map(({ number }) => number), isDone: true });
  }
  for (const { key, rows: cells, numbers } of rest)
    proposed.push({
      intent: await batchIntent(context, { key, filename: name, rows: cells, notifies }),
      numbers,
    });
  return proposed;
}

/** A journaled batch that ordered, or may have ordered, rows of a plan. */
interface EarlierBatch {
  readonly record: JournalRecord;
  /** Keys of all its rows, in order. */
  readonly keys: readonly string[];
}

/** This machine's journal records for the current service; empty if there is no journal yet. @throws StorageError. */
export async function journaled(context: Context): Promise<readonly JournalRecord[]> {
  const { baseUrl } = context.settings;
  if (!journalExists(context.settings)) return [];
  return (await context.journal()).list(true).filter(({ base_url: at }) => at === baseUrl.value);
}

/**
 * Batches that ordered, or may have ordered, any of these rows, oldest first. @param keys lists the keys of the rows.
 */
export async function earlierBatches(
  context: Context,
  records: readonly JournalRecord[],
  keys: ReadonlySet<string>,
): Promise<EarlierBatch[]> {
  const sender = await context.sender();
  return records
    .filter((record) => record.operation === 'bulk.create' && mayHaveMade(record, sender))
    .map((record) => ({ record, keys: rowKeysOf(record.body) }))
    .filter((batch) => batch.keys.some((key) => keys.has(key)));
}

/** Formats `batch ID`, or `KEY, which is in doubt`. */
export const placedText = ({ record: { key, order_id: id, state } }: EarlierBatch): string =>
  id === null ? `${key}, which ${state === 'forgotten' ? 'was given up' : 'is in doubt'}` : `batch ${id}`;

/** How to recreate a plan without changing any row's key. Has no command if that cannot be guaranteed. */
export type Again = Pick<ErrorFacts, 'hint' | 'next'>;

/** Flags of an upload that determine its rows, keys and batches, each preceded by a space. */
export function uploadFlags({
  run = '',
  batchSize = defaultBatchRows,
  skipInvalid = false,
  notifies = false,
  prices = true,
  shard,
}: {
  readonly run?: string | undefined;
  readonly batchSize?: number | undefined;
  readonly skipInvalid?: boolean | undefined;
  readonly notifies?: boolean | undefined;
  readonly prices?: boolean | undefined;
  readonly shard?: string | undefined;
}): string {
  const flags = [
    run !== '' && `--run ${shellWord(run)}`,
    batchSize !== defaultBatchRows && `--batch-size ${batchSize}`,
    skipInvalid && '--skip-invalid',
    notifies && '--notify-on-complete',
    !prices && '--no-prices',
    shard !== undefined && `--shard ${shard}`,
  ];
  return flags.flatMap((flag) => (flag === false ? [] : ` ${flag}`)).join('');
}

/** @param path of the plan. */
export async function planAgain(
  context: Context,
  { path, plan }: { readonly path: string; readonly plan: Plan },
): Promise<Again> {
  const { made_from: from, file } = plan;
  const where = await whereOf(context, plan);
  if (where === undefined) return { hint: `Plan again with the key that it was made with: ${keysFollow}` };
  const source = from.path === null ? '-' : shown(from.path);
  const problem = from.path === null ? undefined : await changeOf(from.path, file.sha256, 'planned');
  if (problem !== undefined)
    return {
      hint: `${source} ${problem}. Plan again from the file as it was: a row that has changed would be a new order, though it was ordered before.`,
    };
  if (from.preset !== undefined && (await context.store()).map(from.preset))
    return {
      hint: `A saved map has the name of the preset ${from.preset}, with which this was planned: its rows would be other orders.`,
    };
  const { map, amounts, encoding, delimiter, locale, skip_invalid: skipInvalid } = from;
  const table = tableFlags({
    map,
    useMap: from.preset,
    ...referenceFlags(from.reference),
    amounts: amounts ?? undefined,
    encoding: encoding ?? undefined,
    delimiter: delimiter ?? undefined,
    locale: locale ?? undefined,
  });
  const upload = uploadFlags({
    ...{ run: plan.run, batchSize: plan.batch_size, skipInvalid },
    ...{ notifies: plan.notify_on_complete, prices: plan.priced_at !== null },
  });
  return {
    hint: 'Plan again in the same way: rows that were ordered keep their keys, and are not ordered twice.',
    next: [
      {
        command: `errand bulk plan ${shellWord(source)} --out ${shellWord(path)} --force${table}${upload}${where}`,
        when: from.path === null ? `to plan it again, with ${file.name} on stdin` : 'to plan it again',
      },
    ],
  };
}

const keysFollow = 'under another account each row would be a new order.';

/** Flags that select the account of a plan; undefined if no profile on this machine is known to have that account. */
export async function whereOf(context: Context, plan: Plan): Promise<string | undefined> {
  const { settings } = context;
  const { account } = await context.sender();
  const isHere = plan.service === settings.baseUrl.value && plan.account === account;
  if (plan.profile === settings.profile.value) return isHere ? whereFlags(context) : undefined;
  if ((await context.store()).profile(plan.profile) === undefined)
    return isHere ? whereFlags(context) : undefined;
  if (plan.service !== settings.baseUrl.value || settings.baseUrl.from === 'flag')
    return flagsTo(context, plan.profile, plan.service);
  return ` --profile ${shellWord(plan.profile)}`;
}

/** Shortens a path under the working directory to a relative one. */
function shown(path: string): string {
  const near = relative(process.cwd(), path);
  if (near === '' || near.startsWith('..') || isAbsolute(near)) return path;
  return near.startsWith('-') ? `./${near}` : near;
}

/** Why a file no longer yields the same rows; undefined if it does. */
export async function changeOf(
  path: string,
  sha256: string,
  since: 'planned' | 'uploaded',
): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return 'is no longer there';
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) hash.update(chunk);
  } catch {
    return 'cannot be read';
  }
  return hash.digest('hex') === sha256 ? undefined : `has changed since it was ${since}`;
}
