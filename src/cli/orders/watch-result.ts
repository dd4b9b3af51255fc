import { errorTypeHint } from '../../api/error-codes.ts';
import { namesAccount } from '../../api/order-fields.ts';
import type { Printed } from '../../api/outputs/printed.ts';
import { valueAt } from '../../api/received.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import { plainText } from '../../format/path.ts';
import type { Column, ListResult, RecordResult, Row, StreamResult, TitleOf } from '../../format/result.ts';
import { eventRecords } from '../../format/result.ts';
import { deliveryOf } from '../../orders/columns.ts';
import { type Order, type OrderRecord, stateOfOrder } from '../../orders/order-record.ts';
import { orderList, orderView } from '../../orders/screen.ts';
import { tryAgainLine } from '../../orders/try-again.ts';
import { Following, type WatchEvent, type WatchOptions, watchOrders } from '../../orders/watch.ts';
import { paceFor, type Until } from '../../orders/watch-policy.ts';
import { stopwatch } from '../../platform/clock.ts';
import { exitCodeOf, interruptionText } from '../../platform/poll.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { WatchLabels } from '../../platform/watch-progress.ts';
import type { Context } from '../../run/context.ts';
import { isOnScreen } from '../../run/on-screen.ts';
import { spinnerEveryMs, spinnerFrame } from '../output/paint.ts';

/** Output of commands that follow orders. */
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
  /** Whether the ids are those of all open orders. In that case the list may be empty. */
  readonly isOpen?: boolean;
}

/** Follows orders and presents them in the requested output; the exit code is 0, 7 or 8. */
export async function watchResult(
  context: Context,
  ids: readonly string[],
  options: ResultOptions,
): Promise<ResultOf<typeof watchedOutput>> {
  const { intervalMs, isOpen = false } = options;
  const isStream = context.output.format === 'ndjson';
  // If a program reads the stream of all open orders, it always gets the first and the last record, even if there are
  // no orders.
  if (ids.length === 0 && !(isOpen && isStream))
    return {
      kind: 'none',
      hints: [isOpen ? 'no order is open' : 'no order to watch; --open watches every open one'],
    };
  const timeoutMs = context.waitMs();
  const following = followingOf(context, ids, {
    until: options.until,
    allowMissing: options.allowMissing ?? false,
    timeoutMs,
    pace:
      intervalMs === undefined
        ? paceFor(context.isRehearsal(), timeoutMs)
        : { minMs: intervalMs, maxMs: intervalMs },
  });
  if (isStream) return eventRecords(following.events(), context.clock.now, exitCodeOf);
  if (context.output.format === 'table' && !context.io.stdout.isTerminal)
    return changeLines(context, following);
  return finalState(context, ids, following);
}

/** Wording of a watch that follows orders. */
const watched: WatchLabels = { one: 'order', several: 'orders', badly: 'failed' };

function followingOf(context: Context, ids: readonly string[], options: WatchOptions): Following<WatchEvent> {
  const { until, allowMissing } = options;
  return new Following(context, {
    ids,
    labels: watched,
    command: 'errand order watch',
    flags: `${until === 'delivered' ? '' : ` --until ${until}`}${allowMissing ? ' --allow-missing' : ''}`,
    mayBeMissing: allowMissing,
    events: watchOrders(context, ids, options),
    verdictIn: (event) => (event.type === 'change' ? [event.order.id, event.verdict] : undefined),
  });
}

/** One plain line per change, for pipes. */
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

/** Returns the final state of the orders, showing a live table on a TTY until then. */
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
  // Keep the sequence of the input, as the live table does.
  const rows = [...new Set(ids)].flatMap((id) => orders.get(id) ?? []);
  const [only] = rows;
  if (ids.length === 1 && only !== undefined) {
    const again = isOnScreen(context) ? tryAgainLine(context, only) : undefined;
    return {
      ...{ kind: 'record', record: only, ...orderView, exitCode },
      hints: again === undefined ? [] : [again],
    };
  }
  return {
    kind: 'list',
    rows,
    ...orderList,
    exitCode: () => exitCode,
    isByName: true,
  };
}

interface WatchView {
  show(event: WatchEvent, orders: ReadonlyMap<string, OrderRecord>): Promise<void>;
  /** Ends the view. Pass `settled` if the orders are printed next. Otherwise the last view stays on screen. */
  done(outcome: 'settled' | 'broken off'): Promise<void>;
}

/** Refresh interval for ages, in ms. */
const tableEveryMs = 1000;

/** Live table on a TTY, redrawn between polls; elsewhere one line per change on stderr. */
async function watchView(
  context: Context,
  ids: readonly string[],
  following: Following<WatchEvent>,
): Promise<WatchView> {
  const { canDrawLive, createLive } = await import('../output/live.ts');
  if (context.output.format !== 'table' || !canDrawLive(context.io)) return lineView(context, following);
  const live = await createLive(context.io);
  const { knownTitles } = await import('../../orders/products/pick.ts');
  const table = await LiveTable.open(context, ids, await knownTitles(context));
  const elapsedMs = stopwatch(context.clock);
  let latest: ReadonlyMap<string, OrderRecord> = new Map();
  let lines: readonly string[] = [];
  let drawnAt = Number.NEGATIVE_INFINITY;
  let problem = '';
  let frame = 0;
  let over = false;
  const draw = (): void => {
    if (over) return;
    frame += 1;
    const room = (context.io.stdout.columns() || 100) - 2 - problem.length;
    live.draw(lines, `${spinnerFrame(frame)} ${following.line(elapsedMs(), room)}${problem}`);
  };
  const redraw = async (): Promise<void> => {
    drawnAt = elapsedMs();
    lines = await table.lines(latest);
    draw();
  };
  const timer = setInterval(() => {
    if (elapsedMs() - drawnAt >= tableEveryMs) void redraw();
    else draw();
  }, spinnerEveryMs);
  return {
    async show(event, orders) {
      latest = orders;
      if (event.type === 'gap') problem = ` (no response: ${safeText(event.message)})`;
      if (event.type === 'reconnected') problem = '';
      await redraw();
    },
    async done(outcome) {
      if (over) return;
      over = true;
      clearInterval(timer);
      // When settled, clear the live lines, since the final orders are printed next. After an interruption nothing
      // follows, so keep them.
      live.draw(outcome === 'settled' ? [] : await table.lines(latest));
      live.done();
    },
  };
}

function lineView(context: Context, following: Following<WatchEvent>): WatchView {
  const isSpoken = context.io.stderr.isAccessible === true;
  const spokenStates = new Map<string, string>();
  return {
    async show(event) {
      if (event.type === 'change' && isSpoken) {
        const { order } = event;
        const { text } = stateOfOrder(order);
        // What changed may be a part of the record that has no word, such as a parcel's number.
        if (spokenStates.get(order.id) !== text) context.note(spokenLine(order, text, following));
        spokenStates.set(order.id, text);
      } else if (event.type === 'change') context.note(changeLine(event, context.clock.now()));
      if (event.type === 'gap') context.note(interruptionText(event));
    },
    async done() {},
  };
}

/** Formats a change as a line: time, order, status, delivery and failure reason. */
function changeLine(event: Extract<WatchEvent, { type: 'change' }>, now: number): string {
  const { order } = event;
  const parts = [
    new Date(now).toISOString(),
    plainText(order.id),
    plainText(order.status),
    deliveryOf(order) ?? '-',
  ];
  const reason = failureOf(order);
  return safeText([...parts, ...(reason ? [reason] : [])].join('  '));
}

/** Formats a change for a screen reader: `order 2da1c85e: placed, 2 of 3`. */
function spokenLine(order: OrderRecord, state: string, following: Following<WatchEvent>): string {
  const count = following.countText();
  return safeText(`order ${plainText(order.id).slice(0, 8)}: ${state}${count === '' ? '' : `, ${count}`}`);
}

/** Initial column widths that fit common values, so that the columns do not move. */
const rooms: Readonly<Record<string, number>> = {
  state: '● in transit'.length,
  total: '$10.00'.length,
  age: 7,
};

/** The parts of the context a live table needs. */
type Drawing = Pick<Context, 'io' | 'serviceClock' | 'output'>;

/** Table of orders with the columns of a list; column widths never shrink. */
export class LiveTable {
  readonly #context: Drawing;
  readonly #ids: readonly string[];
  readonly #draw: typeof import('../output/table.ts').tableLines;
  readonly #paint: import('../output/paint.ts').Paint;
  readonly #titleOf: TitleOf | undefined;
  #columns: readonly Column[] = orderList.screen.map((column) => withRoom(column, rooms[column.name] ?? 0));

  private constructor(
    context: Drawing,
    ids: readonly string[],
    draw: typeof import('../output/table.ts').tableLines,
    paint: import('../output/paint.ts').Paint,
    titleOf: TitleOf | undefined,
  ) {
    this.#context = context;
    this.#ids = ids;
    this.#draw = draw;
    this.#paint = paint;
    this.#titleOf = titleOf;
  }

  static async open(context: Drawing, ids: readonly string[], titleOf?: TitleOf): Promise<LiveTable> {
    const { tableLines } = await import('../output/table.ts');
    const { paintFor } = await import('../output/paint.ts');
    return new LiveTable(context, ids, tableLines, await paintFor(context.io.stdout.color), titleOf);
  }

  /** Formats a header and one line per order. Orders that do not fit on the terminal are only counted. */
  async lines(orders: ReadonlyMap<string, OrderRecord>): Promise<string[]> {
    const { io, serviceClock, output } = this.#context;
    const room = Math.max(2, (io.stdout.rows?.() || 24) - 4);
    const shown = this.#ids.slice(0, room);
    const rows = shown.map((id): Row => orders.get(id) ?? { id });
    const { lines, shown: placed } = await this.#draw(rows, this.#columns, {
      now: () => serviceClock.now(),
      utc: output.utc === true,
      isScreen: true,
      isOneLine: true,
      width: io.stdout.columns() || 100,
      paint: this.#paint,
      titleOf: this.#titleOf,
    });
    for (const { index, width } of placed)
      this.#columns = this.#columns.map((column, at) => (at === index ? withRoom(column, width) : column));
    const more = this.#ids.length - shown.length;
    return more > 0 ? [...lines, `… and ${more} more`] : lines;
  }
}

const withRoom = (column: Column, width: number): Column =>
  width > (column.room ?? 0) && column.kind !== 'url' ? { ...column, room: width } : column;

/** Failure reason of an order, with a hint. */
function failureOf(order: OrderRecord): string | undefined {
  const type = valueAt<Order>(order, 'job_result.error_type');
  if (typeof type !== 'string') return undefined;
  const hint = errorTypeHint(type, namesAccount(order));
  return hint ? `${type}: ${hint}` : type;
}
