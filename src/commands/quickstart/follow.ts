import { valueAt } from '../../api/received.ts';
import { formatMoney } from '../../format/money.ts';
import type { Column, NoResult, RecordResult } from '../../format/result.ts';
import { type Order, type OrderRecord, stateOfOrder } from '../../orders/order-record.ts';
import { orderView } from '../../orders/screen.ts';
import { watchOrders } from '../../orders/watch.ts';
import { defaultPace } from '../../orders/watch-policy.ts';
import { exitCodes } from '../../platform/errors.ts';
import { exitCodeOf, interruptionText } from '../../platform/poll.ts';
import { shellLine } from '../../platform/shell.ts';
import { typedId } from '../../run/context-flags.ts';
import { isOnScreen } from '../../run/on-screen.ts';
import { begin, labels, type Run } from './steps.ts';

const usualWaitMs = 60_000;

const columns: readonly Column<Order>[] = [
  { name: 'id', path: 'id', kind: 'id' },
  { name: 'status', path: 'status', kind: 'status' },
  { name: 'delivery', path: 'tracking_numbers.0.status', kind: 'status' },
  { name: 'total', path: 'job_result.price_components.total', kind: 'money' },
  { name: 'carrier', path: 'tracking_numbers.0.carrier' },
  { name: 'tracking number', path: 'tracking_numbers.0.tracking_number' },
];

/** Follows the order to the door, and says what to type next. */
export async function follow(run: Run, order: OrderRecord): Promise<RecordResult | NoResult> {
  const { context, view } = run;
  const id = String(order.id);
  const again = shellLine`errand order watch ${typedId(context, id)}`;
  begin(run, 'watch', 'until delivered');
  let record = order;
  let exitCode = 0;
  const options = {
    until: 'delivered',
    timeoutMs: context.waitMs() ?? usualWaitMs,
    pace: defaultPace,
    allowMissing: false,
  } as const;
  for await (const event of watchOrders(context, [id], options)) {
    if (event.type === 'change') {
      record = event.order;
      run.state = stateOf(record);
      view.working(labels.watch, run.state);
    }
    if (event.type === 'gap') view.working(labels.watch, interruptionText(event));
    if (event.type === 'reconnected') view.working(labels.watch, run.state);
    if (event.type === 'summary') exitCode = exitCodeOf(event);
  }
  if (exitCode === 0) view.done(labels.watch, { text: outcomeOf(record) }, again);
  else if (exitCode === exitCodes.ended_badly) view.ended('failed', labels.watch, outcomeOf(record));
  else view.ended('open', labels.watch, `${stateOf(record)}; the time is up, and the order goes on`);
  const next =
    exitCode === exitCodes.deadline
      ? [{ command: again, note: 'goes on watching' }]
      : nextAfter(typedId(context, id));
  if (view.isLive && isOnScreen(context)) {
    view.next(next);
    return { kind: 'none', exitCode };
  }
  const hints = ['Next:', ...next.map(({ command }) => `     $ ${command}`)];
  return { kind: 'record', record, columns, screen: orderView.screen, exitCode, hints };
}

const nextAfter = (id: string) => [
  { command: 'errand order list', note: 'your orders' },
  { command: shellLine`errand order timeline ${id}`, note: 'how it went' },
  { command: 'errand search tea', note: 'something else' },
  { command: 'errand sandbox serve', note: 'a console in the browser' },
];

const stateOf = (order: OrderRecord): string => stateOfOrder(order).text;

/** The end of an order: what came, what it cost, and by whom; or why nothing did. */
function outcomeOf(order: OrderRecord): string {
  const total = valueAt<Order>(order, 'job_result.price_components.total');
  const carrier = valueAt<Order>(order, 'tracking_numbers.0.carrier');
  const why = valueAt<Order>(order, 'job_result.error');
  const facts =
    typeof why === 'string'
      ? [why]
      : [
          ...(typeof total === 'number' ? [formatMoney(total)] : []),
          ...(typeof carrier === 'string' ? [`by ${carrier}`] : []),
        ];
  return [stateOf(order), ...facts].join(', ');
}
