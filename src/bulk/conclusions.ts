import { countText } from '../format/counts.ts';
import type { NextStep } from '../platform/errors.ts';
import { shellWord } from '../platform/shell.ts';
import type { Context } from '../run/context.ts';
import { whereFlags } from '../run/context-flags.ts';
import { type Batch, type BatchRow, rowsOf } from './batch.ts';
import type { FollowSummary } from './follow.ts';
import { isInDoubt, type NamedBatches, uploadNames } from './named.ts';
import { countedReasons, type Reasons, reasonOf } from './reasons.ts';
import { isCalledOff, isFailed, isMet, type RowState, stateOf } from './row-state.ts';
import { rowsText } from './spend.ts';
import { batchesGoOn } from './standing.ts';

interface Concluded {
  readonly named: NamedBatches;
  /** As far as their rows count. */
  readonly batches: readonly Batch[];
  readonly reasons: Reasons;
  readonly goOn: NextStep;
}

/** How it ended, in counts that add up: rows are ordered, refused or waiting; orders placed, failed or under way. */
export function conclusions(
  context: Context,
  { rows, ordered, open, elapsed_ms: ms, ...count }: FollowSummary,
  { batches, named, reasons, goOn }: Concluded,
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
    [count.under_way, 'under way'],
    [count.before, 'already ordered, not ordered again'],
    [count.unknown, 'of unknown status'],
  ]);
  return [
    `${rowsText(rows)}: ${ofRows || 'none read'} in ${seconds} s`,
    ...(ofOrders === ''
      ? []
      : [`${ordered === 1 ? '1 order' : `${countText(ordered)} orders`}: ${ofOrders}`]),
    ...why('refused', batches, reasons),
    ...why('failed', batches, reasons),
    ...(open > 0 ? [`--timeout passed; ${batchesGoOn(open)}`, `${goOn.when}: ${goOn.command}`] : []),
    ...commandsFor(context, 'the order of each row', 'get', { batches, named }, (row, batch) =>
      ['before', 'unknown'].includes(stateOf(row, batch)),
    ),
    ...retryLines(context, { batches, named }),
  ];
}

/** The command that tries failed rows again, for each upload or batch that has some. */
export const retryLines = (context: Context, of: Pick<Concluded, 'batches' | 'named'>): string[] =>
  // What is in doubt is settled first: it may be a retry of these rows.
  of.named.uploads.some(isInDoubt)
    ? []
    : commandsFor(
        context,
        'try again',
        'retry',
        of,
        (row, batch) => isFailed(row, batch) && !isCalledOff(row),
      );

/** `44 failed: 40 max_price_exceeded, 4 out_of_stock`. */
function why(state: RowState, batches: readonly Batch[], reasons: Reasons): string[] {
  const found = batches.flatMap((batch) =>
    rowsOf(batch)
      .filter((row) => stateOf(row, batch) === state)
      .map((row) => ({ reason: reasonOf(row.record, reasons), isOld: isMet(row, batch) })),
  );
  if (found.length === 0) return [];
  const old = found.filter(({ isOld }) => isOld).length;
  const said = old === 0 ? '' : `; ${countText(old)} of them ordered before, not ordered again`;
  return [`${countText(found.length)} ${state}: ${countedReasons(found.map(({ reason }) => reason))}${said}`];
}

/** The command for each upload or batch that has rows of a kind. */
function commandsFor(
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
