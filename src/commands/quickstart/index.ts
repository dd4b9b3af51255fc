import { valueAt } from '../../api/received.ts';
import { defineRootCommand } from '../../cli/define.ts';
import { formatMoney } from '../../format/money.ts';
import type { Column, NoResult, RecordResult } from '../../format/result.ts';
import { type Order, type OrderRecord, stateOfOrder } from '../../orders/order-record.ts';
import { orderView } from '../../orders/screen.ts';
import { watchOrders } from '../../orders/watch.ts';
import { defaultPace } from '../../orders/watch-policy.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';
import { exitCodeOf, interruptionText } from '../../platform/poll.ts';
import { shellLine } from '../../platform/shell.ts';
import { typedId } from '../../run/context-flags.ts';
import { isOnScreen } from '../../run/on-screen.ts';
import { begin, check, find, labels, mint, place, type Run } from './steps.ts';
import { quickstartView } from './view.ts';

export const command = defineRootCommand({
  description:
    'Search, check, order, watch to delivery. Each step shows the command that repeats it. Nothing is bought: only a test key is used.',
  examples: [
    { command: 'errand quickstart', note: 'about ten seconds, no account and no network' },
    { command: 'errand quickstart -o json --query id', note: 'the id of the delivered order, for a script' },
  ],
  output: { record: 'order.get' },
  operations: ['search', 'retailer.check', 'order.create', 'order.list'],
  exitCodes: { 7: 'the order failed', 8: 'it was not delivered in time' },
  related: ['search', 'order create', 'order watch', 'sandbox serve'],
  async run(context) {
    const view = await quickstartView(context);
    const run: Run = { context, view, steps: [], state: '' };
    try {
      await mint(run);
      const listing = await find(run);
      await check(run, listing);
      const order = await place(run, listing);
      return await follow(run, order);
    } catch (error) {
      return stopped(run, error);
    } finally {
      view.close();
    }
  },
});

/**
 * Reports at which step an interrupted run stopped, and what the run had done by then. Ctrl-C is not a failure unless
 * something is in doubt.
 */
function stopped({ context, view, steps, state }: Run, error: unknown): NoResult {
  const step = steps.at(-1);
  const { reason }: { reason: unknown } = context.signal;
  const made = context.unreported();
  if (step === undefined) throw error;
  // Only the order can be in doubt. The earlier requests cost nothing, and it does no harm if one of them minted a
  // sandbox key.
  const isInDoubt =
    made.some(({ madeId }) => madeId === undefined) ||
    (step === 'order' && error instanceof ErrandError && error.facts.outcome === 'unknown');
  if (reason instanceof ErrandError && !isInDoubt && context.output.format === 'table') {
    view.ended('open', labels[step], state === '' ? 'stopped here' : state);
    const id = made[0]?.madeId;
    const hint = id
      ? `The order goes on: ${shellLine`errand order watch ${typedId(context, id)}`}`
      : 'Nothing was ordered. From the start: errand quickstart';
    return { kind: 'none', hints: [hint], exitCode: reason.exitCode };
  }
  if (view.isLive) view.ended('failed', labels[step], 'stopped here');
  const before = steps.slice(0, -1).map((name) => labels[name]);
  if (!(error instanceof ErrandError) || reason !== undefined || before.length === 0) throw error;
  const mayBeOrdered = made.length > 0 || error.facts.outcome === 'unknown';
  const done = mayBeOrdered ? [] : [`Done before: ${before.join(', ')}. Nothing was ordered.`];
  throw new ErrandError(error.category, `${labels[step]}: ${error.message}`, {
    ...error.facts,
    cause: error,
    hint: [...(error.facts.hint ? [error.facts.hint] : []), ...done].join(' ') || undefined,
  });
}

const defaultWaitMs = 60_000;

const columns: readonly Column<Order>[] = [
  { name: 'id', path: 'id', kind: 'id' },
  { name: 'status', path: 'status', kind: 'status' },
  { name: 'delivery', path: 'tracking_numbers.0.status', kind: 'status' },
  { name: 'total', path: 'job_result.price_components.total', kind: 'money' },
  { name: 'carrier', path: 'tracking_numbers.0.carrier' },
  { name: 'tracking number', path: 'tracking_numbers.0.tracking_number' },
];

/** Follows the order until it is delivered, and then suggests what to type next. */
async function follow(run: Run, order: OrderRecord): Promise<RecordResult | NoResult> {
  const { context, view } = run;
  const id = String(order.id);
  const again = shellLine`errand order watch ${typedId(context, id)}`;
  begin(run, 'watch', 'until delivered');
  let record = order;
  let exitCode = 0;
  const options = {
    until: 'delivered',
    timeoutMs: context.waitMs() ?? defaultWaitMs,
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

/** Summarizes a finished order: its state, cost and carrier, or why the order failed. */
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
