import { isDeepStrictEqual } from 'node:util';
import type { ItemStatus } from '../../api/enums.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';
import { findOrder, loadRecordText, type StoredOrder, updateOrder } from '../orders/records.ts';
import type { Caller } from '../server/caller.ts';
import { ErrorResponse, usedForm } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { boughtQuantity, circumstancesOf, withoutStopped, withReturn } from './credit.ts';
import type { ReturnBody, ReturnRecord, ReturnState } from './lifecycle.ts';
import { isClosed, planReturn } from './lifecycle.ts';
import { findReturn, insertReturn, returnsOf } from './records.ts';

/**
 * Accepts a return. In one transaction, validates the return against the order and the order's other returns, and
 * stores the return.
 * @param newId id of the return; passing the same id twice creates only one return. @throws Refusal.
 */
export async function acceptReturn(
  service: Service,
  { userId }: Pick<Caller, 'userId'>,
  given: ReturnBody,
  now: number,
  newId?: string,
): Promise<ReturnState> {
  const recordText = await loadRecordText();
  const body = withLowerCaseIds(given);
  const { store, idGenerator } = service;
  return store.transaction(() => {
    const made = newId === undefined ? undefined : findReturn(store, newId, userId);
    if (made && !isSameRequest(made.record, body)) throw usedForm('requested a return');
    if (made) return made;
    const order = findOrder(store, body.order_id, userId);
    if (!order)
      throw new ErrorResponse('not_found', `There is no order ${body.order_id}.`, { resource: 'order' });
    const earlier = returnsOf(store, order.seq);
    refuseReturn(order.record, body, earlier);
    const record = newRecord(newId ?? idGenerator.uuid('return'), body, now);
    const others = earlier.map((other) => other.record);
    const facts = circumstancesOf(service, order.record, record, others);
    const state = { record, plan: planReturn(body.reason, now, facts), labels: 0 };
    insertReturn(store, { state, userId, orderSeq: order.seq, createdAt: now, speed: service.config.speed });
    const shown = withReturn(order.record, record);
    const isStopped = body.reason === 'forced_cancellation' && !facts.hasShipped;
    const plan = isStopped ? withoutStopped(shown, order.plan, body.items) : order.plan;
    saveOrder(order, { record: shown, plan });
    return state;
  });

  function saveOrder({ seq, reserved }: StoredOrder, state: Pick<StoredOrder, 'record' | 'plan'>): void {
    updateOrder(store, seq, state, { text: recordText(state.record, 'kept'), reserved });
  }
}

const isSameRequest = ({ order_id, items, reason }: ReturnRecord, body: ReturnBody): boolean =>
  isDeepStrictEqual(
    { order_id, items, reason },
    { order_id: body.order_id, items: body.items, reason: body.reason },
  );

function newRecord(id: string, body: ReturnBody, now: number): ReturnRecord {
  const time = new Date(now).toISOString();
  return {
    id,
    order_id: body.order_id,
    status: 'open',
    reason: body.reason,
    notes: body.notes ?? null,
    resolution_notes: null,
    items: body.items,
    label_urls: [],
    merchant_return_id: null,
    credited_amount: 0,
    created_at: time,
    updated_at: time,
  };
}

const withLowerCaseIds = (body: ReturnBody): ReturnBody => ({
  ...body,
  order_id: body.order_id.toLowerCase(),
  items: body.items.map((line) => ({ ...line, order_item_id: line.order_item_id.toLowerCase() })),
});

type ReturnedItem = ReturnBody['items'][number];
type Item = OrderRecord['items'][number];

const neverBought: readonly ItemStatus[] = ['skipped', 'failed', 'cancelled'];

/**
 * Rejects an invalid return.
 * @param earlier the order's other returns.
 * @throws Refusal: bad_request for lines that do not match the order, already_exists while a return of one of the items
 * is open, return_not_allowed if the order's state does not allow it.
 */
function refuseReturn(order: OrderRecord, body: ReturnBody, earlier: readonly ReturnState[]): void {
  if (order.status !== 'order_placed') {
    throw notAllowed(`The order is ${order.status}; only a placed order can be returned.`, {
      status: order.status,
    });
  }
  const lines = body.items.map((line) => ({ line, item: itemOf(order, line) }));
  refuseTwice(body.items);
  refuseOpen(body.items, earlier);
  for (const { line, item } of lines) {
    refuseState(body, item);
    refuseQuantity(
      order,
      line,
      item,
      earlier.map(({ record }) => record),
    );
  }
}

function itemOf(order: OrderRecord, { order_item_id }: ReturnedItem): Item {
  const item = order.items.find(({ id }) => id === order_item_id);
  if (item) return item;
  throw new ErrorResponse('bad_request', `Order ${order.id} has no item ${order_item_id}.`, {
    order_item_id,
  });
}

function refuseTwice(lines: readonly ReturnedItem[]): void {
  const ids = lines.map(({ order_item_id }) => order_item_id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice === undefined) return;
  throw new ErrorResponse('bad_request', `Item ${twice} stands twice in the return; add the quantities up.`, {
    order_item_id: twice,
  });
}

function refuseOpen(lines: readonly ReturnedItem[], earlier: readonly ReturnState[]): void {
  const open = earlier.find(
    (state) =>
      !isClosed(state) &&
      state.record.items.some(({ order_item_id }) =>
        lines.some((line) => line.order_item_id === order_item_id),
      ),
  );
  if (!open) return;
  throw new ErrorResponse('already_exists', 'A return of these items is open already.', {
    resource: 'return_request',
    identifier: open.record.id,
  });
}

function refuseState({ reason }: ReturnBody, { id, status }: Item): void {
  const details = { order_item_id: id, status };
  if (neverBought.includes(status))
    throw notAllowed(`Item ${id} is ${status}: there is nothing to return.`, details);
  if (reason === 'forced_cancellation' && status === 'delivered')
    throw notAllowed(`Item ${id} is delivered: it can be returned, no longer cancelled.`, details);
}

function refuseQuantity(
  order: OrderRecord,
  { order_item_id, quantity }: ReturnedItem,
  item: Item,
  earlier: readonly ReturnRecord[],
): void {
  const bought = boughtQuantity(order, item);
  const returned = returnedUnits(earlier)
    .filter((unit) => unit.order_item_id === order_item_id)
    .reduce((sum, unit) => sum + unit.quantity, 0);
  if (quantity <= bought - returned) return;
  const why = returned > 0 ? `${returned} of ${bought} returned already` : `${bought} bought`;
  throw notAllowed(`Item ${order_item_id}: ${quantity} cannot be returned, ${why}.`, {
    order_item_id,
    bought,
    returned,
  });
}

/** Items that were returned, or are being returned, by returns that were not denied. */
const returnedUnits = (earlier: readonly ReturnRecord[]): ReturnRecord['items'] =>
  earlier.filter(({ status }) => status !== 'denied').flatMap(({ items }) => items);

const notAllowed = (message: string, details: Readonly<Record<string, unknown>>): ErrorResponse =>
  new ErrorResponse('return_not_allowed', message, details);
