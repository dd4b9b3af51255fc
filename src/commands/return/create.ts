import { returnReasons } from '../../api/enums.ts';
import { objectsIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import { checkShape } from '../../api/schemas/check.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { issueText } from '../../api/validation.ts';
import { defineCommand } from '../../cli/define.ts';
import { plainText } from '../../format/path.ts';
import type { Column } from '../../format/result.ts';
import { boughtItems } from '../../orders/bought-items.ts';
import { lineNames } from '../../orders/columns.ts';
import type { Order, OrderRecord } from '../../orders/order-record.ts';
import { requestReturn } from '../../orders/place-return.ts';
import { knownTitles } from '../../orders/products/pick.ts';
import { amountOf, amountText } from '../../orders/return-amounts.ts';
import { productLine } from '../../orders/screen.ts';
import { ErrandError, refusedBy, UsageError } from '../../platform/errors.ts';
import { shellLine, typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { checkUuid } from '../../run/ids.ts';
import { parseInteger } from '../../run/parse-option.ts';
import { readDocument } from '../../run/read-document.ts';
import { RequestPreview } from '../../run/request-preview.ts';
import { returnDetailColumns, titledColumns } from './columns.ts';
import { orderOnScreen } from './get.ts';
import { labelUrls } from './labels.ts';

type Body = Shape<'ReturnRequestCreate'>;

export const create = defineCommand({
  name: 'create',
  summary: 'Ask to return items of a placed order',
  description:
    'From flags, a JSON or YAML file, stdin, or prompts. The same command again is safe: it shows the return that an interrupted or recent command requested. --new requests another.',
  options: {
    order: {
      kind: 'text',
      names: 'orders',
      completes: 'returnable',
      placeholder: 'id',
      description: 'the order, which must be placed',
    },
    item: {
      kind: 'texts',
      placeholder: 'id[=quantity]',
      description:
        'item to return, one unit unless more are said; repeats (default: all that was bought; a terminal asks)',
    },
    reason: {
      kind: 'choice',
      values: returnReasons,
      description: 'reason for the return; it decides the outcome',
    },
    notes: { kind: 'text', description: 'more for the retailer' },
    file: {
      kind: 'text',
      placeholder: 'file|-',
      completes: 'files',
      description: 'a whole payload as JSON or YAML; flags override it',
    },
    new: {
      kind: 'flag',
      description: 'request another return, even if the same one was just requested or is in doubt',
    },
  },
  positional: 'order',
  examples: [
    {
      command: "errand return create --order $ORDER --reason damaged --notes 'torn box'",
      note: 'all of it',
    },
    {
      command: 'errand return create --order $ORDER --item $ITEM=1 --reason wrong_size --dry-run',
      note: 'the request, not sent',
    },
    {
      command: 'errand return create --file return.json -o json --query status',
      note: 'from a file, for a script',
    },
  ],
  output: { record: 'return.create' },
  operations: ['return.create', 'order.get'],
  exitCodes: {
    5: 'not allowed as the order stands, or another return of these items is open',
    10: 'in doubt: sent, and no response came; the same command again is safe',
  },
  related: ['return get', 'return labels', 'order get'],
  async run(context, input) {
    await context.ready();
    const body = await assemble(context, input);
    const { order: record, existed } = await requestReturn(context, body, { isNew: input.new === true });
    const bought = await orderOnScreen(context, record);
    if (existed) context.note('a return of these items existed already; nothing was requested twice');
    return {
      kind: 'record',
      record,
      columns: returnDetailColumns,
      ...(bought && { screen: titledColumns(bought) }),
      hints: [
        `follow it: ${shellLine`errand return watch ${record.id}`}`,
        `${labelUrls(record).length > 0 ? 'its labels' : 'its labels, once it is approved'}: ${shellLine`errand return labels ${record.id}`}`,
      ],
    };
  },
});

interface Input {
  readonly order?: string;
  readonly item?: readonly string[];
  readonly reason?: Body['reason'];
  readonly notes?: string;
  readonly file?: string;
}

/**
 * Combines file, flags and prompts into one payload. A flag overrides the file, and prompts ask for what is still
 * missing.
 * @throws UsageError naming what is rejected.
 */
async function assemble(context: Context, { order, item, reason, notes, file }: Input): Promise<Body> {
  const given = file === undefined ? {} : (await readDocument(context, '--file', file)).value;
  const payload = await completeReturn(context, {
    ...given,
    ...(order !== undefined && { order_id: checkUuid('order id', order) }),
    ...(item && { items: parseItems(item) }),
    ...(reason && { reason }),
    ...(notes !== undefined && { notes }),
  });
  const checked = checkShape('ReturnRequestCreate', payload, 'body');
  if (checked.value) return checked.value;
  const lines = checked.issues.map((issue) => issueText(issue));
  const where = file === undefined ? '' : ` in ${file === '-' ? 'stdin' : file}`;
  throw new UsageError(`the return${where} is not valid: ${lines.join('; ')}`, {
    code: 'validation_error',
    details: { detail: checked.issues },
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** Number of placed orders to offer as a choice. */
const offered = 20;

const needed = [
  { field: 'order_id', flag: '--order', sample: '--order ID' },
  { field: 'reason', flag: '--reason', sample: '--reason damaged' },
] as const;

/**
 * Fills in the required fields of a return. In an interactive session, prompts for these fields and asks for
 * confirmation. Otherwise, if there is no --item, everything that was bought is returned.
 * @throws UsageError naming the missing flags, why there is no prompt, and the command to run again; ErrandError if the
 * user declines.
 */
async function completeReturn(context: Context, payload: Fields): Promise<Fields> {
  const missing = needed.filter(({ field }) => payload[field] === undefined);
  if (missing.length > 0 && !context.interactive.yes)
    throw missingFieldsError(missing, context.interactive.why, context.argv);
  const order_id = payload.order_id ?? (await askOrder(context));
  const chosen = payload.items === undefined ? await chooseItems(context, String(order_id)) : undefined;
  const reason =
    payload.reason ?? (await (await context.prompt()).askChoice(context, 'Reason', returnReasons));
  const items =
    chosen?.items.map(({ order_item_id, quantity }) => ({ order_item_id, quantity })) ?? payload.items;
  const whole = { ...payload, order_id, items, reason };
  const wasPrompted = context.interactive.yes && (chosen !== undefined || missing.length > 0);
  if (wasPrompted && !context.previewsRequests) await confirmReturn(context, whole, chosen);
  return whole;
}

async function confirmReturn(
  context: Context,
  { items, ...whole }: Fields,
  chosen: Chosen | undefined,
): Promise<void> {
  context.note(`return of order ${plainText(whole.order_id)}, ${plainText(whole.reason)}:`);
  const lines =
    chosen?.items.map(({ quantity, bought, name }) => `${quantity} of ${bought} x ${name}`) ??
    objectsIn({ items }, 'items').map((it) => `${plainText(it.quantity)} x ${plainText(it.order_item_id)}`);
  for (const line of lines) context.note(`  ${line}`);
  const amount = chosen && amountOf(chosen.order, chosen.items);
  if (amount) context.note(`  expected back: ${amountText(amount)}; the fee of the order stays paid`);
  if (await context.confirm('Request this return?')) return;
  throw new ErrandError('interrupted', 'no return was requested', { outcome: 'not_sent' });
}

function missingFieldsError(
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

/** A line of an order, and how many of its units to return. */
type ChosenItem = ReturnItem & { readonly name: string; readonly bought: number };

interface Chosen {
  readonly order: OrderRecord;
  readonly items: readonly ChosenItem[];
}

async function chooseItems(context: Context, orderId: string): Promise<Chosen> {
  const { order, items: all } = await readBought(context, orderId);
  if (!context.interactive.yes) return { order, items: all };
  const prompt = await context.prompt();
  const chosen = all.length > 1 ? await prompt.askRows(context, 'Items', all, itemColumns) : all;
  const items: ChosenItem[] = [];
  for (const item of chosen) items.push({ ...item, quantity: await askQuantity(context, item) });
  return { order, items };
}

/** Asks for the quantity. The default is the same as for an --item without a number. */
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

/** Reads everything that was bought with an order, so that the user can choose from it. */
async function readBought(context: Context, orderId: string): Promise<Chosen> {
  const client = await context.client();
  try {
    const { body: order } = await client.call('order.get', { path: { order_id: orderId } });
    const bought = boughtItems(order);
    if (bought.length === 0)
      throw new ErrandError('conflict', `order ${orderId} is ${order.status}; nothing of it was bought`, {
        outcome: 'not_sent',
      });
    const nameOf = lineNames(order, context.interactive.yes ? await knownTitles(context) : undefined);
    const items = bought.map(({ url, ...item }) => ({
      ...item,
      bought: item.quantity,
      name: nameOf({ url }),
    }));
    return { order, items };
  } catch (error) {
    if (!(error instanceof RequestPreview)) throw error;
    throw new UsageError('--item is missing: with --curl nothing is read, so the items must be named');
  }
}

type ReturnItem = Shape<'ReturnRequestCreate'>['items'][number];

/**
 * Parses `ID[=QUANTITY]` of each --item; the quantity defaults to one. @throws UsageError naming --item and the
 * problem.
 */
function parseItems(texts: readonly string[]): ReturnItem[] {
  const items = texts.map(parseItem);
  const ids = items.map(({ order_item_id }) => order_item_id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new UsageError(`--item ${twice} is given twice; write ${twice}=2 for two`);
  return items;
}

function parseItem(text: string): ReturnItem {
  const [id = '', ...rest] = text.split('=');
  const order_item_id = checkUuid('order item', id);
  if (rest.length === 0) return { order_item_id, quantity: limits.quantity.min };
  return { order_item_id, quantity: parseInteger('--item: the quantity', rest.join('='), limits.quantity) };
}
