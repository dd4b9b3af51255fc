import { numberIn } from '../api/json.ts';
import type { NextStep } from '../platform/errors.ts';
import { untilStopped } from '../platform/poll.ts';
import { shellWord } from '../platform/shell.ts';
import { progressText, type Things, type WatchProgress } from '../platform/wait/standing.ts';
import type { Context } from '../run/context.ts';
import { typedIds, waitFlags } from '../run/context-flags.ts';
import { type Batch, rowsOf } from './batch.ts';
import { isMadeHere } from './csv/headings.ts';
import { type FollowEvent, followBatches, isDone } from './follow.ts';
import type { NamedBatches } from './named.ts';
import { tallyOf } from './row-state.ts';

/** Follows batches; where that is interrupted, what ends it says how the rows stood, and how to follow on. */
export const stoppable = (
  context: Context,
  named: NamedBatches,
  latest: Map<string, Batch>,
  goOn: () => NextStep,
): AsyncGenerator<FollowEvent> =>
  untilStopped(followBatches(context, named, latest), context.signal, () => {
    const rows = rowsStanding(named.counted(latest.values()));
    const said = rows.total > 0 ? progressText(rows, rowsWatched) : batchesGoOn(named.ids.length);
    return { message: `stopped watching; ${said}`, next: goOn() };
  });

/** "one batch goes on", "3 batches go on". */
export const batchesGoOn = (count: number): string =>
  count === 1 ? 'one batch goes on' : `${count} batches go on`;

const rowsWatched: Things = { one: 'row', several: 'rows', badly: 'failed' };

/** How the rows stand, those included that the service has not written down yet. */
export function rowsStanding(batches: readonly Batch[]): WatchProgress {
  const { rows, waiting, under_way: underWay, refused, failed } = tallyOf(batches);
  let total = 0;
  for (const batch of batches) total += Math.max(rowsOf(batch).length, numberIn(batch, 'row_count') ?? 0);
  return { total, ended: rows - waiting - underWay, failed: refused + failed };
}

/**
 * The command that goes on with what is not done: an upload by its name; a beginning stands for an id only where it is taken
 * back.
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
