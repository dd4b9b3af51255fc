import { randomUUID } from 'node:crypto';
import { numberIn, objectsIn } from '../../api/json.ts';
import type { Output } from '../../api/outputs/index.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { plainText } from '../../format/path.ts';
import type { Client } from '../../http/client.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { isAtWork } from '../../journal/take-over.ts';
import { type BoughtItem, boughtItems } from '../../orders/bought-items.ts';
import { metadataOf, referenceIn, referenceKey } from '../../orders/needs/reference.ts';
import { listedByReference, ordersOf } from '../../orders/needs/service-orders.ts';
import { requestReturn } from '../../orders/place-return.ts';
import {
  isSameReturn,
  type ReturnBody,
  type ReturnRecord,
  returnsOfOrder,
} from '../../orders/send-return.ts';
import { readOrder } from '../../orders/submit/existing.ts';
import { intentOf } from '../../orders/submit/intent.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { chargeOf } from '../../spending/price-of-order.ts';
import { rowsText } from '../check/row-sample.ts';
import { inFlight } from '../upload/concurrency-limiter.ts';
import { eachInOrder, OutcomeTally } from './each-in-order.ts';
import type { ReturnRow, RowProblem } from './return-file.ts';

export type ReturnedRow = Output<'BulkReturnRow'>;
type Outcome = ReturnedRow['outcome'];

/** Maximum number of orders to read, or returns to request, at the same time. */
const maxInFlight = 4;

/** A return that a row requests. */
export interface PlannedReturn {
  readonly row: ReturnRow;
  readonly body: ReturnBody;
  /** Whether the service already has the return. */
  readonly isThere: boolean;
  /** The amount that was charged for the order; undefined if the service does not give it. */
  readonly charge: ReturnType<typeof chargeOf>;
}

/** Error categories that concern only the row. An error of any other category ends the command. */
const ownProblems: ReadonlySet<string> = new Set(['not_found', 'conflict', 'ended_badly']);

/** Reads the orders of rows and decides what each row returns. Requests nothing. @throws ErrandError. */
export async function planReturns(
  context: Context,
  rows: readonly ReturnRow[],
): Promise<{ readonly planned: readonly PlannedReturn[]; readonly problems: readonly RowProblem[] }> {
  const client = await context.client();
  async function* all() {
    yield* rows;
  }
  const found = new Map<number, PlannedReturn | RowProblem>();
  const read = inFlight(all(), (row) => planRow(client, row), {
    limit: maxInFlight,
    now: context.clock.monotonic,
  });
  for await (const one of read) found.set('body' in one ? one.row.number : one.row, one);
  const results = rows.flatMap(({ number }) => found.get(number) ?? []);
  const planned = results.flatMap((one) => ('body' in one ? one : []));
  return {
    planned,
    problems: [...results.flatMap((one) => ('text' in one ? one : [])), ...repeated(planned)],
  };
}

/**
 * Describes what is to be returned: `12 rows, 15 units to return, of orders charged $345.12; 2 requested before`.
 * Leaves out the amount if an order does not give it or was charged in another currency.
 */
export function returnsText(planned: readonly PlannedReturn[]): string {
  const units = planned.reduce(
    (sum, { body }) => sum + body.items.reduce((all, { quantity }) => all + quantity, 0),
    0,
  );
  const charges = [...new Map(planned.map(({ body, charge }) => [body.order_id, charge])).values()];
  const cents = charges.reduce<number | undefined>(
    (sum, charge) => (charge?.currency === 'USD' && sum !== undefined ? sum + charge.cents : undefined),
    0,
  );
  const there = planned.filter(({ isThere }) => isThere).length;
  const [amount, before] = [
    cents === undefined ? '' : `, of orders charged ${formatMoney(cents)}`,
    there === 0 ? '' : `; ${countText(there)} requested before`,
  ];
  return `${rowsText(planned.length)}, ${units === 1 ? '1 unit' : `${countText(units)} units`} to return${amount}${before}`;
}

/**
 * Problems of rows that return the same line. The rows may stand for one return or for two, and only the user knows
 * which.
 */
function repeated(planned: readonly PlannedReturn[]): RowProblem[] {
  const known = new Map<string, number>();
  return planned.flatMap(({ row: { number: row }, body }) => {
    const lines = body.items.map((item) => `${body.order_id} ${item.order_item_id}`);
    const first = lines.map((line) => known.get(line)).find((before) => before !== undefined);
    if (first !== undefined)
      return [
        { row, text: `it returns what row ${first} returns, too; write one row with the quantity of both` },
      ];
    for (const line of lines) known.set(line, row);
    return [];
  });
}

async function planRow(client: Client, row: ReturnRow): Promise<PlannedReturn | RowProblem> {
  const wrong = (text: string): RowProblem => ({ row: row.number, text });
  try {
    const id = 'id' in row.order ? row.order.id : await orderNamed(client, row);
    if (typeof id !== 'string') return id;
    const order = await readOrder(client, id);
    const reference = referenceIn(order.metadata);
    if (row.named && (!reference || metadataOf(reference) !== metadataOf(row.named)))
      return wrong(
        `order ${id} has ${reference ? `the reference ${metadataOf(reference)}` : 'no reference'}, not ${metadataOf(row.named)}`,
      );
    if (order.status !== 'order_placed')
      return wrong(`order ${id} is ${plainText(order.status)}; only a placed order can be returned`);
    const bought = boughtItems(order);
    const items = itemsOf(row, bought, id);
    if ('text' in items) return items;
    const { reason, notes } = row;
    const body = { order_id: id, items, reason, ...(notes !== undefined && { notes }) };
    const earlier = await returnsOfOrder(client, id);
    const isThere = earlier.some((one) => isSameReturn(body, one));
    const short = isThere ? undefined : shortOf(items, bought, earlier);
    if (short !== undefined) return wrong(short);
    const named = 'reference' in row.order && reference ? { ...row, order: { reference } } : row;
    return { row: named, body, isThere, charge: chargeOf(order) };
  } catch (error) {
    if (!(error instanceof ErrandError) || !ownProblems.has(error.category)) throw error;
    return wrong(error.message);
  }
}

/** Describes a line with fewer units left than the row returns; undefined if there is no such line. */
function shortOf(
  items: ReturnBody['items'],
  bought: readonly BoughtItem[],
  earlier: readonly ReturnRecord[],
): string | undefined {
  const lines = earlier.filter(({ status }) => status !== 'denied').flatMap((one) => objectsIn(one, 'items'));
  for (const { order_item_id: id, quantity } of items) {
    const all = bought.find((one) => one.order_item_id === id)?.quantity ?? quantity;
    const given = lines
      .filter((line) => plainText(line.order_item_id).toLowerCase() === id.toLowerCase())
      .reduce((sum, line) => sum + (numberIn(line, 'quantity') ?? 0), 0);
    if (given + quantity > all)
      return `quantity ${quantity} is more than is left: ${given} of ${all} are in other returns (item ${id})`;
  }
  return undefined;
}

/** Start of the message for a row whose reference no order has. */
export const unknownReference = 'no order has the reference';

/** Finds the order to return by its reference. Orders that failed or were cancelled do not count. */
async function orderNamed(client: Client, { number: row, order }: ReturnRow): Promise<string | RowProblem> {
  if ('id' in order) return order.id;
  const { reference } = order;
  const name = reference.namespace === '' ? reference.text : metadataOf(reference);
  const list = listedByReference(client);
  const exact = await ordersOf(client, list, reference);
  const shown = reference.namespace === '' ? referenceIn({ [referenceKey]: reference.text }) : undefined;
  // A file may give the reference together with its namespace, as errand shows it.
  const seen = exact.length > 0 || !shown?.namespace ? exact : await ordersOf(client, list, shown);
  const placed = seen.filter(({ state }) => state === 'placed' || state === 'returned');
  const [only, other] = placed;
  if (only && !other) return only.order.id.toLowerCase();
  if (other)
    return {
      row,
      text: `reference ${name} names ${placed.length} orders; give the id of one: ${placed.map((one) => one.order.id).join(', ')}`,
    };
  const [first] = seen;
  return {
    row,
    text: first
      ? `reference ${name} names order ${first.order.id}, which is ${plainText(first.order.status)}: there is nothing to return`
      : `${unknownReference} ${name}`,
  };
}

function itemsOf(
  { number: row, item, quantity }: ReturnRow,
  bought: readonly BoughtItem[],
  order: string,
): ReturnBody['items'] | RowProblem {
  const wrong = (text: string): RowProblem => ({ row, text });
  const lines = bought.map(({ order_item_id, quantity: units }) => ({ order_item_id, quantity: units }));
  if (lines.length === 0) return wrong(`nothing was bought with order ${order}`);
  const chosen =
    item === undefined ? lines : lines.filter((line) => line.order_item_id.toLowerCase() === item);
  const [only, other] = chosen;
  if (!only) return wrong(`order ${order} has no line ${item} that was bought`);
  if (quantity === undefined) return chosen;
  if (other)
    return wrong(`order ${order} has ${chosen.length} lines: name one under item to give a quantity`);
  if (quantity > only.quantity)
    return wrong(
      `quantity ${quantity} is more than the ${only.quantity} that were bought with order ${order}`,
    );
  return [{ ...only, quantity }];
}

/**
 * Requests the returns of rows, several orders at once. Yields the rows with their outcomes in the given order.
 * Searches the service for each return before requesting it, so the same rows may be given again. @param report is
 * called after all rows, if an outcome is unknown or the service could not be reached. No further return is requested
 * after such a failure.
 */
export async function* requestReturns(
  context: Context,
  planned: readonly PlannedReturn[],
  report: (error: ErrandError) => void,
): AsyncGenerator<ReturnedRow> {
  const client = await context.client();
  yield* eachInOrder(
    context,
    planned,
    {
      group: ({ body }) => body.order_id,
      act: (one) => requestOnce(context, client, one),
      failed: (one, error) => {
        const outcome = outcomeOf(error);
        return { row: recordOf(one, outcome, { message: error.message }), goesOn: outcome === 'refused' };
      },
      untried: (one) => recordOf(one, 'not_tried', {}),
      // An existing return counts, too. It may have been in doubt until now, and this command is the first to report
      // it.
      isDone: ({ outcome }) => outcome === 'requested' || outcome === 'was_requested',
    },
    report,
  );
}

/**
 * How long to wait for another process that requests the same return, and the interval between attempts, both in ms.
 */
const maxWaitMs = 30_000;
const pauseMs = 500;

async function requestOnce(context: Context, client: Client, one: PlannedReturn): Promise<ReturnedRow> {
  const deadline = new Deadline(context.clock, maxWaitMs);
  for (;;) {
    try {
      return await requestNow(context, client, one);
    } catch (error) {
      if (!isAtWork(error) || !(await deadline.pause(pauseMs, context.signal))) throw error;
    }
  }
}

async function requestNow(context: Context, client: Client, one: PlannedReturn): Promise<ReturnedRow> {
  const { body } = one;
  const known = await recordsOf(context, body);
  // If a return is in doubt on this machine, it is settled first. Settling also searches the service.
  const isOpen = known.some(({ state }) => state === 'intended');
  const there = isOpen || context.previewsReads ? [] : await returnsOfOrder(client, body.order_id);
  const earlier = there.filter((record) => isSameReturn(body, record)).at(-1);
  if (earlier) {
    const journal = known.length > 0 ? await context.journal() : undefined;
    for (const record of known) if (record.order_id === earlier.id) journal?.recall(record);
    return recordOf(one, earlier.status === 'denied' ? 'denied' : 'was_requested', { record: earlier });
  }
  const { order: record, existed } = await requestReturn(context, body, { isNew: false });
  return recordOf(one, existed ? 'was_requested' : 'requested', { record });
}

/** Journal records of the same return. */
async function recordsOf(context: Context, body: ReturnBody): Promise<readonly JournalRecord[]> {
  if (context.previewsRequests || !journalExists(context.settings)) return [];
  const intent = await intentOf(context, 'return.create', { key: randomUUID(), keyOrigin: 'made', body });
  return (await context.journal()).sameContent(intent);
}

function outcomeOf(error: ErrandError): Outcome {
  const { category, facts } = error;
  if (isAtWork(error)) return 'in_doubt';
  if (category === 'in_doubt' || facts.outcome === 'unknown') return 'in_doubt';
  return facts.outcome === 'rejected' || category === 'conflict' ? 'refused' : 'not_tried';
}

function recordOf(
  { row, body }: PlannedReturn,
  outcome: Outcome,
  {
    record,
    message,
  }: { readonly record?: { readonly id: string; readonly status?: unknown }; readonly message?: string },
): ReturnedRow {
  return {
    row: row.number,
    order_id: body.order_id,
    reference: 'reference' in row.order ? metadataOf(row.order.reference) : null,
    outcome,
    return_id: record?.id ?? null,
    status: record ? plainText(record.status) : null,
    reason: body.reason,
    quantity: body.items.reduce((sum, { quantity }) => sum + quantity, 0),
    message: message ?? null,
  };
}

export const returnTexts: ReadonlyMap<string, string> = new Map<Outcome, string>([
  ['requested', 'requested'],
  ['was_requested', 'requested before'],
  ['denied', 'denied before'],
  ['refused', 'refused'],
  ['in_doubt', 'in doubt'],
  ['not_tried', 'not tried'],
]);

export const returnTally = (): OutcomeTally<Outcome> =>
  new OutcomeTally<Outcome>(returnTexts, {
    done: ['requested', 'was_requested'],
    left: ['denied', 'refused', 'not_tried'],
  });
