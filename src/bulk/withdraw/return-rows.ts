import type { Output } from '../../api/outputs/index.ts';
import { countText } from '../../format/counts.ts';
import { plainText } from '../../format/path.ts';
import type { Client } from '../../http/client.ts';
import { type BoughtItem, boughtItems } from '../../orders/bought-items.ts';
import { metadataOf } from '../../orders/needs/reference.ts';
import { listedByReference, ordersOf } from '../../orders/needs/service-orders.ts';
import { requestReturn } from '../../orders/place-return.ts';
import { type ReturnBody, sameReturns } from '../../orders/send-return.ts';
import { readOrder } from '../../orders/submit/existing.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { RequestPreview } from '../../run/request-preview.ts';
import { inFlight } from '../upload/concurrency-limiter.ts';
import { partialError } from './partial.ts';
import type { ReturnRow, RowProblem } from './return-file.ts';

export type ReturnedRow = Output<'BulkReturnRow'>;
type Outcome = ReturnedRow['outcome'];

/** Maximum number of orders read, or returns requested, at the same time. */
const maxInFlight = 4;

/** A return that a row asks for. */
export interface PlannedReturn {
  readonly row: ReturnRow;
  readonly body: ReturnBody;
}

/** Problems that are the row's own: the others end the command. */
const ownProblems: ReadonlySet<string> = new Set(['not_found', 'conflict', 'ended_badly']);

/** Reads the orders of rows and decides what each returns. Requests nothing. @throws ErrandError. */
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
  for await (const one of read) found.set(numberOf(one), one);
  const results = rows.flatMap(({ number }) => found.get(number) ?? []);
  return {
    planned: results.flatMap((one) => ('body' in one ? one : [])),
    problems: results.flatMap((one) => ('text' in one ? one : [])),
  };
}

const numberOf = (one: PlannedReturn | RowProblem): number => ('body' in one ? one.row.number : one.row);

async function planRow(client: Client, row: ReturnRow): Promise<PlannedReturn | RowProblem> {
  try {
    const id = 'id' in row.order ? row.order.id : await orderNamed(client, row);
    if (typeof id !== 'string') return id;
    const order = await readOrder(client, id);
    const items = itemsOf(row, boughtItems(order), id);
    if ('text' in items) return items;
    const { reason, notes } = row;
    return { row, body: { order_id: id, items, reason, ...(notes !== undefined && { notes }) } };
  } catch (error) {
    if (!(error instanceof ErrandError) || !ownProblems.has(error.category)) throw error;
    return { row: row.number, text: error.message };
  }
}

/** The order of a reference that can be returned. An order that failed or was cancelled is none. */
async function orderNamed(client: Client, { number: row, order }: ReturnRow): Promise<string | RowProblem> {
  if ('id' in order) return order.id;
  const name = metadataOf(order.reference);
  const seen = await ordersOf(client, listedByReference(client), order.reference);
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
      : `no order has the reference ${name}`,
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
 * Requests the returns of rows, several orders at once, and yields each row with what became of it, in the order of the
 * rows. Each return is looked for at the service before it is requested, so the same rows may be given again.
 * @throws ErrandError after all rows were yielded, if it is unknown what became of one or the service could not be
 * asked; no further return is requested then.
 */
export async function* requestReturns(
  context: Context,
  planned: readonly PlannedReturn[],
): AsyncGenerator<ReturnedRow> {
  const client = await context.client();
  const previews: RequestPreview[] = [];
  const ended = new Map<number, ReturnedRow>();
  let failure: ErrandError | undefined;
  let next = 0;
  let doneRows = 0;
  async function* byOrder() {
    const orders = new Map<string, (readonly [number, PlannedReturn])[]>();
    for (const entry of planned.entries()) {
      const { order_id: id } = entry[1].body;
      const some = orders.get(id);
      if (some) some.push(entry);
      else orders.set(id, [entry]);
    }
    for (const some of orders.values()) {
      if (failure || context.signal.aborted) return;
      yield some;
    }
  }
  const work = async (some: readonly (readonly [number, PlannedReturn])[]): Promise<void> => {
    for (const [at, one] of some) {
      if (failure || context.signal.aborted) return;
      try {
        ended.set(at, await requestOnce(context, client, one));
        doneRows += 1;
      } catch (error) {
        if (error instanceof RequestPreview) previews.push(error);
        else if (!(error instanceof ErrandError)) throw error;
        else {
          const outcome = outcomeOf(error);
          if (outcome !== 'refused') failure ??= error;
          ended.set(at, recordOf(one, outcome, { message: error.message }));
        }
      }
    }
  };
  const done = inFlight(byOrder(), work, { limit: maxInFlight, now: context.clock.monotonic });
  for await (const _ of done)
    for (let row = ended.get(next); row; row = ended.get(next)) {
      yield row;
      ended.delete(next);
      next += 1;
    }
  if (previews.length > 0) throw new RequestPreview(previews.map(({ text }) => text).join(''));
  for (const [at, one] of planned.entries())
    if (at >= next) yield ended.get(at) ?? recordOf(one, 'not_tried', {});
  if (failure) throw partialError(failure, doneRows);
  context.signal.throwIfAborted();
}

async function requestOnce(context: Context, client: Client, one: PlannedReturn): Promise<ReturnedRow> {
  const earlier = context.previewsReads ? undefined : (await sameReturns(client, one.body)).at(-1);
  if (earlier)
    return recordOf(one, earlier.status === 'denied' ? 'denied' : 'was_requested', { record: earlier });
  const { order: record, existed } = await requestReturn(context, one.body, { isNew: false });
  return recordOf(one, existed ? 'was_requested' : 'requested', { record });
}

function outcomeOf({ category, facts }: ErrandError): Outcome {
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

/** Counts rows by their outcomes, and says how the command ends. */
export class ReturnTally {
  readonly #counts = new Map<string, number>();

  add({ outcome }: ReturnedRow): void {
    this.#counts.set(outcome, this.of(outcome) + 1);
  }

  of(...outcomes: readonly Outcome[]): number {
    return outcomes.reduce((sum, outcome) => sum + (this.#counts.get(outcome) ?? 0), 0);
  }

  /** Formats `12 requested, 1 refused`. */
  get text(): string {
    const counted = [...returnTexts].flatMap(([outcome, text]) => {
      const count = this.#counts.get(outcome) ?? 0;
      return count === 0 ? [] : [`${countText(count)} ${text}`];
    });
    return counted.join(', ') || 'no row';
  }

  get exitCode(): number {
    if (this.of('in_doubt') > 0) return exitCodes.in_doubt;
    const left = this.of('denied', 'refused', 'not_tried');
    if (left === 0) return 0;
    return this.of('requested', 'was_requested') > 0 ? exitCodes.ended_badly : exitCodes.conflict;
  }
}
