import type { Context } from '../../context.ts';
import { returnReasons } from '../../contract/enums.ts';
import { objectsIn } from '../../contract/json.ts';
import { ErrandError, UsageError } from '../../errors.ts';
import { plainText } from '../../output/path.ts';
import { RequestPreview } from '../../request-preview.ts';
import { shellWord } from '../../shell-word.ts';
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
  const command = ['errand', ...argv.map(shellWord), ...missing.map(({ sample }) => sample)].join(' ');
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
  const labels = new Map(
    objectsIn(body, 'orders').map((order): [string, string] => {
      const items = objectsIn(order, 'items');
      const more = items.length > 1 ? ` and ${items.length - 1} more` : '';
      const id = plainText(order.id);
      return [`${plainText(order.created_at).slice(0, 10)}  ${id}  ${plainText(items[0]?.url)}${more}`, id];
    }),
  );
  if (labels.size === 0)
    throw new UsageError('there is no placed order to return anything of; `errand order list` shows all');
  const chosen = await (await context.prompt()).askChoice(context, 'Order', [...labels.keys()]);
  return labels.get(chosen) ?? '';
}

async function itemsOf(context: Context, orderId: string): Promise<ReturnItem[]> {
  const bought = await readBought(context, orderId);
  const labels = new Map(
    bought.map((item) => [`${item.quantity} x ${item.url}  ${item.order_item_id}`, item]),
  );
  const asks = context.interactive.yes && bought.length > 1;
  const chosen = asks
    ? await (await context.prompt()).askChoices(context, 'Items', [...labels.keys()])
    : [...labels.keys()];
  return chosen.flatMap((label) => {
    const item = labels.get(label);
    return item ? [{ order_item_id: item.order_item_id, quantity: item.quantity }] : [];
  });
}

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
