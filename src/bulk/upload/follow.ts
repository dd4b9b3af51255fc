import { type JsonObject, numberIn } from '../../api/json.ts';
import { countText } from '../../format/counts.ts';
import type { TableLayout } from '../../journal/uploads.ts';
import { Deadline, stopwatch } from '../../platform/clock.ts';
import { exitCodes, type NextStep } from '../../platform/errors.ts';
import { type Interruption, isTransient, untilStopped, watchWithSummary } from '../../platform/poll.ts';
import { shellWord } from '../../platform/shell.ts';
import { progressText, type WatchLabels, type WatchProgress } from '../../platform/watch-progress.ts';
import type { Context } from '../../run/context.ts';
import { typedIds, waitFlags, whereFlags } from '../../run/context-flags.ts';
import { rowsText } from '../check/row-sample.ts';
import { isMadeHere, layoutOf } from '../csv/headings.ts';
import { type Outcomes, readOutcomes, withOutcomes } from '../needs/later-attempts.ts';
import {
  type Batch,
  type BatchRow,
  isMet,
  type LaterAttempt,
  onceEach,
  type RowState,
  type RowTally,
  rowsOf,
  stateOf,
  tallyOf,
  type Withdrawal,
  withdrawalOf,
} from './batch.ts';
import { countedReasons, type Reasons, reasonOf } from './columns.ts';
import { withMetOrders } from './met-orders.ts';
import { type NamedBatches, unsentIn, uploadNames } from './named.ts';

/** Events emitted while following batches. */
type FollowEvent =
  | { readonly type: 'ready'; readonly batches: number }
  | ({ readonly type: 'row'; readonly batch_id: string; readonly row?: number } & JsonObject)
  | Interruption
  | ({ readonly type: 'summary' } & FollowSummary);

export interface FollowSummary extends RowTally {
  /** Number of batches that are still running or have not been read yet. */
  readonly open: number;
  /** Number of rows in the uploads that have not been sent yet. */
  readonly unsent: number;
  readonly elapsed_ms: number;
}

/** Polling interval in ms. The interval grows while nothing changes. */
const pace = { minMs: 500, maxMs: 5000 };

const openStates: ReadonlySet<RowState> = new Set(['waiting', 'under_way']);

/** Whether every row of a batch is settled. Rows that the service has not recorded yet are not settled. */
function isDone(batch: Batch): boolean {
  const rows = rowsOf(batch);
  const count = numberIn(batch, 'row_count') ?? Number.POSITIVE_INFINITY;
  const isOver = batch.status === 'completed' || batch.status === 'failed';
  const isWhole = rows.length >= count || isOver;
  const isOpen = (state: RowState): boolean => openStates.has(state) || (state === 'unknown' && !isOver);
  return isWhole && rows.every((row) => !isOpen(stateOf(row, batch)));
}

/**
 * Polls batches until each row's order is placed or has failed. Yields an event for each change of a row. If
 * interrupted, yields the `summary` before it throws. @param latest receives each batch as last read. @throws
 * ErrandError if polling cannot recover.
 */
export async function* followBatches(
  context: Context,
  { ids, uploads, counted }: Pick<NamedBatches, 'ids' | 'uploads' | 'counted'>,
  latest: Map<string, Batch>,
): AsyncGenerator<FollowEvent> {
  const { clock, signal } = context;
  const client = await context.client();
  const elapsedMs = stopwatch(clock);
  const deadline = new Deadline(clock, context.waitMs());
  const states = new Map<string, string>();
  const layouts = new Map<string, Promise<TableLayout | undefined>>();
  const open = new Set(ids);
  let outcomes: Outcomes | undefined;
  yield* watchWithSummary<FollowEvent>(
    { type: 'ready', batches: ids.length },
    {
      check: changes,
      isOver: () => open.size === 0,
      hasResponded: () => latest.size > 0,
      pace,
      deadline,
      clock,
      signal,
    },
    summary,
  );

  /** Polls every open batch once. Yields an event for each changed row. */
  async function* changes(): AsyncGenerator<FollowEvent> {
    for (const id of open) {
      const { body } = await client.call('bulk.get', { path: { batch_id: id } });
      latest.set(id, body);
      const head = { type: 'row', batch_id: id } as const;
      for (const row of rowsOf(body)) {
        const state = `${row.status} ${row.orderStatus}`;
        const name = `${id} ${row.index}`;
        if (states.get(name) === state) continue;
        states.set(name, state);
        const number = (await layout(id))?.numbers[row.index];
        yield { ...head, ...(number !== undefined && { row: number }), ...row.record, ...head };
      }
      if (!isDone(body)) continue;
      // The batch does not tell whether an order that already existed has failed.
      const [whole = body] = await withMetOrders(context, [body]);
      latest.set(id, whole);
      open.delete(id);
    }
    // Read outcomes only once at the start and once at the end. An order that ends in between is not returned or
    // ordered again that quickly.
    if (open.size === 0 || !outcomes) outcomes = (await look()) ?? outcomes;
  }

  async function look(): Promise<Outcomes | undefined> {
    try {
      return await readOutcomes(context, { uploads, counted }, [...latest.values()]);
    } catch (error) {
      if (!isTransient(error, true)) throw error;
      if (open.size === 0)
        context.note(`${error.message}; whether rows were returned or ordered since is not known`);
      return undefined;
    }
  }

  function layout(id: string): Promise<TableLayout | undefined> {
    const known = layouts.get(id) ?? layoutOf(context, id);
    layouts.set(id, known);
    return known;
  }

  function summary(): FollowEvent {
    if (outcomes)
      for (const batch of withOutcomes([...latest.values()], outcomes)) latest.set(batch.id, batch);
    const unsent = uploads.reduce((sum, upload) => sum + unsentIn(upload), 0);
    const tally = tallyOf(onceEach(counted(latest.values())));
    return { type: 'summary', ...tally, open: open.size, unsent, elapsed_ms: elapsedMs() };
  }
}

/**
 * The exit code. Rows whose keys already had an order are not failures. @param batches contain only the rows that
 * count.
 */
export function exitCodeOf(
  { open, failed, refused, withdrawn, unsent }: FollowSummary,
  batches: readonly Batch[],
): number {
  if (open > 0) return exitCodes.deadline;
  if (failed + refused + withdrawn + unsent > 0) return exitCodes.ended_badly;
  return inDoubtSince(laterOf(batches)) > 0 ? exitCodes.in_doubt : 0;
}

/** The later attempts at rows of the batches. */
export const laterOf = (batches: readonly Batch[]): LaterAttempt[] =>
  batches.flatMap((batch) => rowsOf(batch).flatMap(({ later }) => later ?? []));

/** Number of later attempts whose outcome is unknown. */
export const inDoubtSince = (later: readonly LaterAttempt[]): number =>
  later.filter(({ state }) => state === 'unknown').length;

/** A batch as it is listed, without its rows. */
export const withoutRows = ({ rows: _, ...batch }: Batch): Omit<Batch, 'rows'> => batch;

/** Follows batches. If interrupted, throws an error with the progress of the rows and the command to resume. */
export const stoppable = (
  context: Context,
  named: NamedBatches,
  latest: Map<string, Batch>,
  goOn: () => NextStep,
): AsyncGenerator<FollowEvent> =>
  untilStopped(followBatches(context, named, latest), context.signal, () => {
    const rows = rowsProgress(named.counted(latest.values()));
    const detail = rows.total > 0 ? progressText(rows, rowsWatched) : batchesGoOn(named.ids.length);
    return { message: `stopped watching; ${detail}`, next: goOn() };
  });

/** Formats "one batch goes on" or "3 batches go on". */
export const batchesGoOn = (count: number): string =>
  count === 1 ? 'one batch goes on' : `${count} batches go on`;

const rowsWatched: WatchLabels = { one: 'row', several: 'rows', badly: 'failed' };

/** Progress of the rows. Rows that the service has not recorded yet count as well. */
export function rowsProgress(batches: readonly Batch[]): WatchProgress {
  const { rows, waiting, under_way: underWay, refused, failed } = tallyOf(batches);
  let total = 0;
  for (const batch of batches) total += Math.max(rowsOf(batch).length, numberIn(batch, 'row_count') ?? 0);
  return { total, ended: rows - waiting - underWay, failed: refused + failed };
}

/**
 * The command that continues to follow unfinished batches. It names uploads by name, and uses short ids only if the
 * command will recognize them.
 */
export async function goingOn(
  context: Context,
  { ids, words, uploads }: NamedBatches,
  latest: ReadonlyMap<string, Batch>,
): Promise<() => NextStep> {
  const isKnown = (await Promise.all(ids.map((id) => isMadeHere(context, id)))).every((known) => known);
  const idsOf = new Map(uploads.map(({ name, batches }) => [name, batches.flatMap(({ id }) => id ?? [])]));
  const isOpen = (id: string): boolean => {
    const batch = latest.get(id);
    return batch === undefined || !isDone(batch);
  };
  return () => {
    const open = words.filter((word) => (idsOf.get(word) ?? [word]).some(isOpen));
    const short = isKnown
      ? typedIds(
          context,
          open.filter((word) => !idsOf.has(word)),
        )
      : [];
    const shown = isKnown ? [...open.filter((word) => idsOf.has(word)), ...short] : open;
    const command = `errand bulk watch ${shown.map(shellWord).join(' ')}${waitFlags(context)}`;
    return { command, when: 'to go on watching' };
  };
}

interface Concluded {
  readonly named: NamedBatches;
  /** Batches, with only the rows that count. */
  readonly batches: readonly Batch[];
  readonly reasons: Reasons;
  /** Lines that suggest retrying failed rows. */
  readonly retry: readonly string[];
  readonly goOn: NextStep;
}

/**
 * Summarizes the outcome in counts that add up: every row is ordered, refused or waiting, and every order is placed,
 * failed or under way.
 */
export function uploadSummary(
  context: Context,
  { rows, ordered, open, elapsed_ms: ms, ...count }: FollowSummary,
  { batches, named, reasons, retry, goOn }: Concluded,
): string[] {
  const seconds = Math.max(1, Math.round(ms / 1000));
  const counts = (parts: readonly (readonly [count: number, word: string])[]): string =>
    parts
      .filter(([number]) => number > 0)
      .map(([number, word]) => `${countText(number)} ${word}`)
      .join(', ');
  const ofRows = counts([
    [ordered, 'ordered'],
    [count.refused, 'refused'],
    [count.waiting, 'waiting'],
  ]);
  const ofOrders = counts([
    [count.placed, 'placed'],
    [count.failed, 'failed'],
    [count.withdrawn, 'withdrawn'],
    [count.under_way, 'under way'],
    [count.before, 'already ordered, not ordered again'],
    [count.since, 'ordered since'],
    [count.unknown, 'of unknown status'],
  ]);
  return [
    `${rowsText(rows)}: ${ofRows || 'none read'} in ${seconds} s`,
    ...(ofOrders === ''
      ? []
      : [`${ordered === 1 ? '1 order' : `${countText(ordered)} orders`}: ${ofOrders}`]),
    ...why('refused', batches, reasons),
    ...why('failed', batches, reasons),
    ...withdrawnLines(batches.flatMap((batch) => rowsOf(batch).flatMap((row) => withdrawalOf(row) ?? []))),
    ...laterLines(laterOf(batches)),
    ...(inDoubtSince(laterOf(batches)) > 0
      ? [`to find out, safely: errand order journal resume --all${whereFlags(context)}`]
      : []),
    ...(open > 0 ? [`--timeout passed; ${batchesGoOn(open)}`, `${goOn.when}: ${goOn.command}`] : []),
    ...commandsFor(context, 'the order of each row', 'report', { batches, named }, (row, batch) =>
      ['before', 'unknown'].includes(stateOf(row, batch)),
    ),
    ...retry,
  ];
}

/** Formats `17 withdrawn: 12 returned, 5 cancelled`. Pure. */
export const withdrawnLines = (withdrawn: readonly Withdrawal[]): string[] =>
  withdrawn.length === 0 ? [] : [`${countText(withdrawn.length)} withdrawn: ${withdrawnCounts(withdrawn)}`];

/** Formats `12 returned, 5 cancelled`. Pure. */
export const withdrawnCounts = (withdrawn: readonly Withdrawal[]): string =>
  (['returned', 'cancelled'] as const)
    .map((how) => ({ how, count: withdrawn.filter((one) => one === how).length }))
    .filter(({ count }) => count > 0)
    .map(({ how, count }) => `${countText(count)} ${how}`)
    .join(', ');

/** Formats `4 failed rows were ordered since: 3 by corrected, 1 by the single order ID`. Pure. */
export function laterLines(later: readonly LaterAttempt[]): string[] {
  return (['failed', 'withdrawn'] as const).flatMap((after) => {
    const those = later.filter((attempt) => attempt.after === after);
    return [
      ...laterLine(those, 'since', [`${after} row was ordered since`, `${after} rows were ordered since`]),
      ...laterLine(those, 'unknown', [
        `${after} row may be ordered since, which is in doubt`,
        `${after} rows may be ordered since, which is in doubt`,
      ]),
    ];
  });
}

function laterLine(
  all: readonly LaterAttempt[],
  state: LaterAttempt['state'],
  [one, several]: readonly [string, string],
): string[] {
  const later = all.filter((attempt) => attempt.state === state);
  if (later.length === 0) return [];
  const by = new Map<string, LaterAttempt[]>();
  for (const attempt of later) {
    const name = attempt.upload ?? makerOf(attempt);
    const made = by.get(name);
    if (made) made.push(attempt);
    else by.set(name, [attempt]);
  }
  const names = [...by].map(([name, made]) => `${countText(made.length)} by ${nameOf(name, made)}`);
  return [`${countText(later.length)} ${later.length === 1 ? one : several}: ${names.join(', ')}`];
}

const makerOf = ({ row, isFromElsewhere }: LaterAttempt): string =>
  row ? 'another batch' : isFromElsewhere ? 'other orders' : 'single orders';

/** A single order is named by its id. */
function nameOf(name: string, [first, ...others]: readonly LaterAttempt[]): string {
  if (!first || first.upload !== undefined || first.row || first.orderId === undefined || others.length > 0)
    return name;
  return `${first.isFromElsewhere ? 'order' : 'the single order'} ${first.orderId}`;
}

/** Formats `44 failed: 40 max_price_exceeded, 4 out_of_stock`. */
function why(state: RowState, batches: readonly Batch[], reasons: Reasons): string[] {
  const found = batches.flatMap((batch) =>
    rowsOf(batch)
      .filter((row) => stateOf(row, batch) === state)
      .map((row) => ({ reason: reasonOf(row.record, reasons), isOld: isMet(row, batch) })),
  );
  if (found.length === 0) return [];
  const old = found.filter(({ isOld }) => isOld).length;
  const detail = old === 0 ? '' : `; ${countText(old)} of them ordered before, not ordered again`;
  return [
    `${countText(found.length)} ${state}: ${countedReasons(found.map(({ reason }) => reason))}${detail}`,
  ];
}

/** Commands for the matching rows, one command per upload or batch that has such rows. */
export function commandsFor(
  context: Context,
  what: string,
  verb: string,
  { batches, named: { uploads } }: Pick<Concluded, 'batches' | 'named'>,
  has: (row: BatchRow, batch: Batch) => boolean,
): string[] {
  const where = whereFlags(context);
  const names = uploadNames(uploads);
  const words = batches
    .filter((batch) => rowsOf(batch).some((row) => has(row, batch)))
    .map(({ id }) => names.get(id) ?? id);
  const commands = [...new Set(words)].map((word) => `errand bulk ${verb} ${shellWord(word)}${where}`);
  return commands.length === 0 ? [] : [`${what}: ${commands.join('; ')}`];
}
