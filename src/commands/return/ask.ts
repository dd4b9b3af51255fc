import type { Context } from '../../context.ts';
import { returnReasons } from '../../contract/enums.ts';
import { objectsIn } from '../../contract/json.ts';
import { ErrandError, UsageError } from '../../errors.ts';
import type { Order } from '../../orders/order-record.ts';
import { productLine } from '../../orders/screen.ts';
import { plainText } from '../../output/path.ts';
import type { Column } from '../../output/result.ts';
import { RequestPreview } from '../../request-preview.ts';
import { typedCommand } from '../../shell-word.ts';
import { boughtItems, type ReturnItem } from './items.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How many placed orders are offered. */
const offered = 20;

const needed = [
  { field: 'order_id', flag: '--order', sample: '--order ID' },
  { field: 'reason', flag: '--reason', sample: '--reason damaged' },
] as const;

/**
 * Fills in what a return cannot do without: by asking where someone can answer; without --item everything of the
 * order that was bought. @throws UsageError naming the missing flags, why there is no prompt, and the command to run again.
 */
export async function completeReturn(context: Context, payload: Fields): Promise<Fields> {
  const missing = needed.filter(({ field }) => payload[field] === undefined);
  if (missing.length > 0 && !context.interactive.yes)
    throw refusal(missing, context.interactive.why, context.argv);
  const order_id = payload.order_id ?? (await askOrder(context));
  const items = payload.items ?? (await itemsOf(context, String(order_id)));
  const reason =
    payload.reason ?? (await (await context.prompt()).askChoice(context, 'Reason', returnReasons));
  return { ...payload, order_id, items, reason };
}

function refusal(
  missing: readonly (typeof needed)[number][],
  why: string,
  argv: readonly string[],
): UsageError {
  const flags = missing.map(({ flag }) => flag);
  const command = [typedCommand(argv), ...missing.map(({ sample }) => sample)].join(' ');
  return new UsageError(
    `${flags.join(' and ')} ${flags.length > 1 ? 'are' : 'is'} missing; cannot prompt, as ${why}`,
    { next: [{ command, when: 'with the missing values filled in' }] },
  );
}

async function askOrder(context: Context): Promise<string> {
  const client = await context.client();
  const { body } = await client.call('order.list', {
    query: { status_filter: 'order_placed', limit: offered },
  });
  const orders = objectsIn(body, 'orders');
  if (orders.length === 0)
    throw new UsageError('there is no placed order to return anything of; `errand order list` shows all');
  const chosen = await (await context.prompt()).askRow(context, 'Order', orders, placedColumns);
  return plainText(chosen.id);
}

const placedColumns: readonly Column<Order>[] = [
  { name: 'created', path: 'created_at', kind: 'date', weight: 8 },
  { name: 'order', path: 'id', value: ({ id }) => plainText(id).slice(0, 8), weight: 9 },
  { name: 'product', path: 'product', kind: 'url', weight: 10, value: productLine },
];

async function itemsOf(context: Context, orderId: string): Promise<ReturnItem[]> {
  const bought = await readBought(context, orderId);
  const asks = context.interactive.yes && bought.length > 1;
  const chosen = asks
    ? await (await context.prompt()).askRows(context, 'Items', bought, itemColumns)
    : bought;
  return chosen.map(({ order_item_id, quantity }) => ({ order_item_id, quantity }));
}

const itemColumns: readonly Column[] = [
  { name: 'quantity', path: 'quantity', kind: 'count', weight: 9 },
  { name: 'product', path: 'url', kind: 'url', weight: 10 },
  { name: 'item', path: 'order_item_id', value: (it) => plainText(it.order_item_id).slice(0, 8), weight: 8 },
];

async function readBought(context: Context, orderId: string): Promise<ReturnType<typeof boughtItems>> {
  const client = await context.client();
  try {
    const { body: order } = await client.call('order.get', { path: { order_id: orderId } });
    const bought = boughtItems(order);
    if (bought.length > 0) return bought;
    throw new ErrandError('conflict', `order ${orderId} is ${order.status}; nothing of it was bought`, {
      outcome: 'not_sent',
    });
  } catch (error) {
    if (!(error instanceof RequestPreview)) throw error;
    throw new UsageError('--item is missing: with --curl nothing is read, so the items must be named');
  }
}
