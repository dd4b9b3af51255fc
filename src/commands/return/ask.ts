import { returnReasons } from '../../api/enums.ts';
import { objectsIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import { plainText } from '../../format/path.ts';
import type { Column } from '../../format/result.ts';
import type { Order } from '../../orders/order-record.ts';
import { knownTitles } from '../../orders/products/titles.ts';
import { lineNames } from '../../orders/products-of.ts';
import { productLine } from '../../orders/screen.ts';
import { ErrandError, refusedBy, UsageError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell-word.ts';
import type { Context } from '../../run/context.ts';
import { parseInteger } from '../../run/parse-option.ts';
import { RequestPreview } from '../../run/request-preview.ts';
import { boughtItems, type ReturnItem } from './items.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How many placed orders are offered. */
const offered = 20;

const needed = [
  { field: 'order_id', flag: '--order', sample: '--order ID' },
  { field: 'reason', flag: '--reason', sample: '--reason damaged' },
] as const;

/**
 * Fills in what a return cannot do without: by asking where someone can answer, and then once more before it is sent;
 * elsewhere, without --item, everything of the order that was bought.
 * @throws UsageError naming the missing flags, why there is no prompt, and the command to run again; ErrandError when
 * the answer is no.
 */
export async function completeReturn(context: Context, payload: Fields): Promise<Fields> {
  const missing = needed.filter(({ field }) => payload[field] === undefined);
  if (missing.length > 0 && !context.interactive.yes)
    throw refusal(missing, context.interactive.why, context.argv);
  const order_id = payload.order_id ?? (await askOrder(context));
  const chosen = payload.items === undefined ? await chooseItems(context, String(order_id)) : undefined;
  const reason =
    payload.reason ?? (await (await context.prompt()).askChoice(context, 'Reason', returnReasons));
  const items = chosen?.map(({ order_item_id, quantity }) => ({ order_item_id, quantity })) ?? payload.items;
  const whole = { ...payload, order_id, items, reason };
  const isAsked = context.interactive.yes && (chosen !== undefined || missing.length > 0);
  if (isAsked && !context.previewsRequests) await confirmReturn(context, whole, chosen);
  return whole;
}

async function confirmReturn(
  context: Context,
  { items, ...whole }: Fields,
  chosen: readonly ChosenItem[] | undefined,
): Promise<void> {
  context.note(`return of order ${plainText(whole.order_id)}, ${plainText(whole.reason)}:`);
  const lines =
    chosen?.map(({ quantity, bought, name }) => `${quantity} of ${bought} x ${name}`) ??
    objectsIn({ items }, 'items').map((it) => `${plainText(it.quantity)} x ${plainText(it.order_item_id)}`);
  for (const line of lines) context.note(`  ${line}`);
  if (await context.confirm('Request this return?')) return;
  throw new ErrandError('interrupted', 'no return was requested', { outcome: 'not_sent' });
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

/** A line of an order, and how many of its units go back. */
type ChosenItem = ReturnItem & { readonly name: string; readonly bought: number };

async function chooseItems(context: Context, orderId: string): Promise<ChosenItem[]> {
  const all = await readBought(context, orderId);
  if (!context.interactive.yes) return all;
  const prompt = await context.prompt();
  const chosen = all.length > 1 ? await prompt.askRows(context, 'Items', all, itemColumns) : all;
  const items: ChosenItem[] = [];
  for (const item of chosen) items.push({ ...item, quantity: await askQuantity(context, item) });
  return items;
}

/** As many as --item takes where it says no number, unless more are typed. */
async function askQuantity(context: Context, { name, bought }: ChosenItem): Promise<number> {
  const { min } = limits.quantity;
  if (bought === min) return min;
  const parse = (text: string) => parseInteger('the quantity', text, { min, max: bought });
  const question = `How many of ${name}, ${min} to ${bought}`;
  const check = refusedBy(parse);
  return parse(await (await context.prompt()).askText(context, question, { default: String(min), check }));
}

const itemColumns: readonly Column[] = [
  { name: 'quantity', path: 'bought', kind: 'count', weight: 9 },
  { name: 'product', path: 'name', kind: 'url', weight: 10 },
  { name: 'item', path: 'order_item_id', value: (it) => plainText(it.order_item_id).slice(0, 8), weight: 8 },
];

/** Everything that was bought, to be chosen from. */
async function readBought(context: Context, orderId: string): Promise<ChosenItem[]> {
  const client = await context.client();
  try {
    const { body: order } = await client.call('order.get', { path: { order_id: orderId } });
    const bought = boughtItems(order);
    if (bought.length === 0)
      throw new ErrandError('conflict', `order ${orderId} is ${order.status}; nothing of it was bought`, {
        outcome: 'not_sent',
      });
    const nameOf = lineNames(order, context.interactive.yes ? await knownTitles(context) : undefined);
    return bought.map(({ url, ...item }) => ({ ...item, bought: item.quantity, name: nameOf({ url }) }));
  } catch (error) {
    if (!(error instanceof RequestPreview)) throw error;
    throw new UsageError('--item is missing: with --curl nothing is read, so the items must be named');
  }
}
