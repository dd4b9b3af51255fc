import type { Printed } from '../../api/outputs/printed.ts';
import { eventRecords } from '../../format/event-records.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import type { ListResult, RecordResult, StreamResult } from '../../format/result.ts';
import { Following } from '../../orders/following.ts';
import type { OrderRecord } from '../../orders/order-record.ts';
import { orderList, orderView } from '../../orders/screen.ts';
import { type WatchEvent, type WatchOptions, watchOrders } from '../../orders/watch.ts';
import { defaultPace, type Until } from '../../orders/watch-policy.ts';
import type { Things } from '../../platform/wait/standing.ts';
import { exitCodeOf, interruptionText } from '../../platform/wait/verdicts.ts';
import type { Context } from '../../run/context.ts';
import { changeLine, watchView } from './watch-view.ts';

/** What a command prints that follows orders. */
export const watchedOutput = [
  { record: 'order.get', when: 'for one id' },
  { list: 'order.get', when: 'for several' },
  { events: 'OrderWatchEvent' },
  { nothing: true, when: 'where there is none to follow' },
] as const satisfies readonly Printed[];

interface ResultOptions {
  readonly until: Until;
  readonly intervalMs?: number;
  readonly allowMissing?: boolean;
  /** Whether the ids are those of every open order; there may be none. */
  readonly isOpen?: boolean;
}

/** Follows orders and shows them as the output asks for; the exit code is 0, 7 or 8. */
export async function watchResult(
  context: Context,
  ids: readonly string[],
  options: ResultOptions,
): Promise<ResultOf<typeof watchedOutput>> {
  const { intervalMs, isOpen = false } = options;
  const isStream = context.output.format === 'ndjson';
  // A program that follows all that is open is owed the first and the last record, however many orders there are.
  if (ids.length === 0 && !(isOpen && isStream))
    return {
      kind: 'none',
      hints: [isOpen ? 'no order is open' : 'no order to watch; --open watches every open one'],
    };
  const following = followingOf(context, ids, {
    until: options.until,
    allowMissing: options.allowMissing ?? false,
    timeoutMs: context.waitMs(),
    pace: intervalMs === undefined ? defaultPace : { shortestMs: intervalMs, longestMs: intervalMs },
  });
  if (isStream) return eventRecords(following.events(), context.clock.now, exitCodeOf);
  if (context.output.format === 'table' && !context.io.stdout.isTerminal)
    return changeLines(context, following);
  return finalState(context, ids, following);
}

/** Orders, in the words of a watch. */
const watched: Things = { one: 'order', several: 'orders', badly: 'failed' };

function followingOf(context: Context, ids: readonly string[], options: WatchOptions): Following<WatchEvent> {
  const { until, allowMissing } = options;
  return new Following(context, {
    ids,
    things: watched,
    command: 'errand order watch',
    flags: `${until === 'delivered' ? '' : ` --until ${until}`}${allowMissing ? ' --allow-missing' : ''}`,
    mayBeMissing: allowMissing,
    events: watchOrders(context, ids, options),
    verdictIn: (event) => (event.type === 'change' ? [event.order.id, event.verdict] : undefined),
  });
}

/** One plain line for each change, for a pipe. */
function changeLines(context: Context, following: Following<WatchEvent>): StreamResult {
  let code = 0;
  async function* chunks(): AsyncGenerator<string> {
    for await (const event of following.events()) {
      if (event.type === 'change') yield `${changeLine(event, context.clock.now())}\n`;
      else if (event.type === 'summary') code = following.conclude(event);
      else if (event.type !== 'ready') context.note(interruptionText(event));
    }
  }
  return { kind: 'stream', chunks: chunks(), exitCode: () => code };
}

/** The orders as they stand at the end; on a terminal a live table until then. */
async function finalState(
  context: Context,
  ids: readonly string[],
  following: Following<WatchEvent>,
): Promise<RecordResult | ListResult> {
  const orders = new Map<string, OrderRecord>();
  const view = await watchView(context, ids, following);
  let exitCode = 0;
  try {
    for await (const event of following.events()) {
      if (event.type === 'change') orders.set(event.order.id, event.order);
      await view.show(event, orders);
      if (event.type !== 'summary' || context.signal.aborted) continue;
      await view.done('settled');
      exitCode = following.conclude(event);
    }
  } finally {
    await view.done('broken off');
  }
  // In the order in which they were given, as the live table had them.
  const rows = [...new Set(ids)].flatMap((id) => orders.get(id) ?? []);
  const [only] = rows;
  if (ids.length === 1 && only !== undefined) return { kind: 'record', record: only, ...orderView, exitCode };
  return {
    kind: 'list',
    rows,
    ...orderList,
    exitCode: () => exitCode,
    isByName: true,
  };
}
