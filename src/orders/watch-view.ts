import type { Context } from '../context.ts';
import { errorTypeHint } from '../contract/error-codes.ts';
import { valueAt } from '../contract/received.ts';
import { formatMoney } from '../output/money.ts';
import { plainText } from '../output/path.ts';
import { safeText } from '../output/safe-text.ts';
import { stopwatch } from '../wait/deadline.ts';
import { cameToNothing, deliveryOf } from './columns.ts';
import type { Order, OrderRecord } from './order-record.ts';
import type { WatchEvent } from './watch.ts';

interface WatchView {
  show(event: WatchEvent, orders: ReadonlyMap<string, OrderRecord>): Promise<void>;
  /** `settled` when the orders are printed next; else what was last seen of them stays. */
  done(outcome: 'settled' | 'broken off'): void;
}

const spinner = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const refreshMs = 120;
const header = ['ORDER', 'STATUS', 'DELIVERY', 'AGE', 'TOTAL'] as const;
const gap = 2;
/** What most orders go through has room from the start, so that the columns seldom move. */
const room = ['', 'order_placed', 'in_transit', '10 s', '$10.00'] as const;

/** A live table on a terminal, redrawn between polls; elsewhere one line for each change on stderr. */
export async function watchView(context: Context, ids: readonly string[]): Promise<WatchView> {
  const { canDrawLive, createLive } = await import('../output/live.ts');
  if (context.output.format !== 'table' || !canDrawLive(context.io)) return lineView(context);
  const live = await createLive(context.io);
  const elapsedMs = stopwatch(context.clock);
  let latest: ReadonlyMap<string, OrderRecord> = new Map();
  let trouble = '';
  let frame = 0;
  const draw = (): void => {
    frame += 1;
    live.draw(
      liveLines(ids, latest, context.serviceClock.now(), context.io.stdout.columns()),
      footer(frame, ids, latest, elapsedMs(), trouble),
    );
  };
  const timer = setInterval(draw, refreshMs);
  let over = false;
  return {
    async show(event, orders) {
      latest = orders;
      if (event.type === 'gap') trouble = ` (no response: ${safeText(event.message)})`;
      if (event.type === 'reconnected') trouble = '';
      draw();
    },
    done(outcome) {
      if (over) return;
      over = true;
      clearInterval(timer);
      // The orders as they stand are printed next; the live lines would only say it twice. Nothing follows an interruption.
      live.draw(
        outcome === 'settled'
          ? []
          : liveLines(ids, latest, context.serviceClock.now(), context.io.stdout.columns()),
      );
      live.done();
    },
  };
}

function lineView(context: Context): WatchView {
  return {
    async show(event) {
      if (event.type === 'change') context.note(changeLine(event, context.clock.now()));
      if (event.type === 'gap') context.note(`the service does not respond, still trying: ${event.message}`);
    },
    done() {},
  };
}

/** One change as a line: time, order, status, delivery, and why it failed. */
export function changeLine(event: Extract<WatchEvent, { type: 'change' }>, now: number): string {
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

/**
 * The header and one line for each order, in columns as wide as what stands in them. Where `width` columns do not hold
 * id, status and delivery, the id stands behind them: what is cut then is what never changes.
 */
export function liveLines(
  ids: readonly string[],
  orders: ReadonlyMap<string, OrderRecord>,
  now: number,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const rows: readonly (readonly string[])[] = [
    header,
    ...ids.map((id) => liveCells(id, orders.get(id), now)),
  ];
  const widths = room.map((least, column) =>
    rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), least.length),
  );
  const needed = widths.slice(0, 3).reduce((sum, one) => sum + gap + one, -gap);
  const places = needed <= width ? [0, 1, 2, 3, 4, 5] : [1, 2, 0, 3, 4, 5];
  return rows.map((row) =>
    places
      .map((column) => (row[column] ?? '').padEnd(widths[column] ?? 0))
      .join(' '.repeat(gap))
      .trimEnd(),
  );
}

function liveCells(id: string, order: OrderRecord | undefined, now: number): string[] {
  if (!order) return [id, '…'];
  const age = Math.max(0, Math.round((now - Date.parse(plainText(order.created_at))) / 1000));
  const cells = [
    id,
    plainText(order.status),
    deliveryOf(order) ?? '',
    Number.isNaN(age) ? '' : `${age} s`,
    totalOf(order),
    failureOf(order) ?? '',
  ];
  return cells.map((cell) => safeText(cell));
}

function footer(
  frame: number,
  ids: readonly string[],
  latest: ReadonlyMap<string, OrderRecord>,
  elapsedMs: number,
  trouble: string,
): string {
  const sign = spinner[frame % spinner.length];
  return `${sign} watching ${ids.length} ${ids.length === 1 ? 'order' : 'orders'}, ${latest.size} seen, ${Math.round(elapsedMs / 1000)} s${trouble}`;
}

function totalOf(order: OrderRecord): string {
  if (cameToNothing(order)) return '';
  const total = valueAt<Order>(order, 'job_result.price_components.total');
  const currency = valueAt<Order>(order, 'job_result.price_components.currency');
  return typeof total === 'number' ? formatMoney(total, String(currency ?? 'USD')) : '';
}

/** The failure of an order, with what can be done about it. */
export function failureOf(order: OrderRecord): string | undefined {
  const type = valueAt<Order>(order, 'job_result.error_type');
  if (typeof type !== 'string') return undefined;
  const hint = errorTypeHint(type, order.retailer_credentials_id !== null);
  return hint ? `${type}: ${hint}` : type;
}
