import { isDeepStrictEqual } from 'node:util';
import { loadRecordText } from '../orders/record-text.ts';
import { findOrder, type StoredOrder, updateOrder } from '../orders/records.ts';
import type { Caller } from '../server/caller.ts';
import { Refusal, usedForm } from '../server/refusal.ts';
import type { Service } from '../service.ts';
import { refuseReturn } from './check.ts';
import { circumstancesOf } from './circumstances.ts';
import { planReturn } from './lifecycle.ts';
import { withoutStopped, withReturn } from './on-order.ts';
import { findReturn, insertReturn, returnsOf } from './records.ts';
import type { ReturnBody, ReturnRecord, ReturnState } from './types.ts';

/**
 * Accepts a return: held against the order and its other returns, and kept, in one transaction.
 * @param newId its id; who gives the same twice requests one. @throws Refusal.
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
  const { store, identity } = service;
  return store.transaction(() => {
    const made = newId === undefined ? undefined : findReturn(store, newId, userId);
    if (made && !isAskedAgain(made.record, body)) throw usedForm('requested a return');
    if (made) return made;
    const order = findOrder(store, body.order_id, userId);
    if (!order) throw new Refusal('not_found', `There is no order ${body.order_id}.`, { resource: 'order' });
    const earlier = returnsOf(store, order.seq);
    refuseReturn(order.record, body, earlier);
    const record = newRecord(newId ?? identity.uuid('return'), body, now);
    const others = earlier.map((other) => other.record);
    const facts = circumstancesOf(service, order.record, record, others);
    const state = { record, plan: planReturn(body.reason, now, facts), labels: 0 };
    insertReturn(store, { state, userId, orderSeq: order.seq, createdAt: now, speed: service.config.speed });
    const shown = withReturn(order.record, record);
    const isStopped = body.reason === 'forced_cancellation' && !facts.hasShipped;
    const plan = isStopped ? withoutStopped(shown, order.plan, body.items) : order.plan;
    keepOrder(order, { record: shown, plan });
    return state;
  });

  function keepOrder({ seq, reserved }: StoredOrder, state: Pick<StoredOrder, 'record' | 'plan'>): void {
    updateOrder(store, seq, state, { text: recordText(state.record, 'kept'), reserved });
  }
}

const isAskedAgain = ({ order_id, items, reason }: ReturnRecord, body: ReturnBody): boolean =>
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
