import { defineCommand } from '../../cli/define.ts';
import { eventRecords } from '../../format/event-records.ts';
import { plainText } from '../../format/path.ts';
import type { Result } from '../../format/result.ts';
import type { Following } from '../../orders/following.ts';
import { UsageError } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { exitCodeOf, interruptionText } from '../../platform/wait/verdicts.ts';
import type { Context } from '../../run/context.ts';
import { readIds } from '../../run/ids.ts';
import { returnColumns, returnDetailColumns } from './columns.ts';
import { type FollowEvent, followingOf, type ReturnRecord, untilValues } from './follow.ts';
import { followView } from './follow-view.ts';

export const watch = defineCommand({
  name: 'watch',
  summary: 'Follow returns until they are decided, or the money is back',
  description:
    'A live table on a terminal; one line for each change in a pipe or with -o ndjson. Once a return is approved, `return labels` has its labels. The money may take as long as the parcel: --until credited waits for it.',
  arguments: [
    {
      name: 'ids',
      names: 'returns',
      description: 'ids of returns; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  options: {
    until: { kind: 'choice', values: untilValues, description: 'what to wait for (default approved)' },
    interval: { kind: 'duration', description: 'pause between polls; by default it follows what happens' },
  },
  examples: [
    { command: 'errand return watch $RETURN', note: 'until it is decided' },
    {
      command: 'errand return watch $RETURN --until credited -o ndjson',
      note: 'until the money is back; each change as a record',
    },
  ],
  output: [
    { record: 'return.get', when: 'for one id' },
    { list: 'return.get', when: 'for several' },
    { events: 'ReturnWatchEvent' },
    { nothing: true, when: 'where there is none' },
  ],
  operations: ['return.get'],
  exitCodes: { 7: 'a return was denied', 8: '--timeout passed; the returns go on' },
  related: ['return get', 'return labels', 'order watch'],
  async run(context, { ids, until = 'approved', interval }) {
    if (interval === 0)
      throw new UsageError('--interval 0s would ask the service without a pause; 500ms is short enough');
    const wanted = await readIds(context, 'return id', ids);
    if (wanted.length === 0) return { kind: 'none', hints: ['no return to watch'] };
    const pace = interval === undefined ? usualPace : { shortestMs: interval, longestMs: interval };
    const following = followingOf(context, wanted, { until, pace });
    if (context.output.format === 'ndjson')
      return eventRecords(following.events(), context.clock.now, exitCodeOf);
    if (context.output.format === 'table' && !context.io.stdout.isTerminal)
      return changeLines(context, following);
    return finalState(context, wanted, following);
  },
});

/** A return takes longer than an order. */
const usualPace = { shortestMs: 1_000, longestMs: 60_000 };

/** One plain line for each change: time, return, status, what was credited. */
function changeLines(context: Context, following: Following<FollowEvent>): Result {
  let code = 0;
  return { kind: 'stream', chunks: chunks(), exitCode: () => code };

  async function* chunks(): AsyncGenerator<string> {
    for await (const event of following.events()) {
      if (event.type === 'change') yield `${changeLine(context, event.return)}\n`;
      else if (event.type === 'summary') code = following.conclude(event);
      else if (event.type !== 'ready') context.note(interruptionText(event));
    }
  }
}

const changeLine = ({ clock }: Context, { id, status, order_id }: ReturnRecord): string =>
  safeText(
    [new Date(clock.now()).toISOString(), id, plainText(status), `order ${plainText(order_id)}`].join('  '),
  );

/** The returns as they stand at the end; on a terminal a live table until then. */
async function finalState(
  context: Context,
  ids: readonly string[],
  following: Following<FollowEvent>,
): Promise<Result> {
  const returns = new Map<string, ReturnRecord>();
  const view = await followView(context, following);
  let exitCode = 0;
  try {
    for await (const event of following.events()) {
      if (event.type === 'change') {
        returns.set(event.return.id, event.return);
        if (!view.isLive) context.note(changeLine(context, event.return));
      }
      if (event.type === 'gap' || event.type === 'reconnected') context.note(interruptionText(event));
      await view.show(returns);
      if (event.type !== 'summary' || context.signal.aborted) continue;
      view.done('settled');
      exitCode = following.conclude(event);
    }
  } finally {
    view.done('broken off');
  }
  const [only] = [...returns.values()];
  if (ids.length === 1 && only !== undefined)
    return { kind: 'record', record: only, columns: returnDetailColumns, exitCode };
  return {
    kind: 'list',
    rows: [...returns.values()],
    columns: returnColumns,
    exitCode: () => exitCode,
    isByName: true,
  };
}
