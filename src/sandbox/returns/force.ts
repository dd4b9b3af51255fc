import { bringUpToDate } from '../control/bring-up-to-date.ts';
import { Refusal } from '../http/refusal.ts';
import { findOrder } from '../orders/records.ts';
import type { Service } from '../service.ts';
import { circumstancesOf } from './circumstances.ts';
import { type ForcedReturn, forceReturnState } from './lifecycle.ts';
import { findReturn, returnsOf } from './records.ts';
import { loadSettleReturn } from './settle.ts';
import type { ReturnRecord } from './types.ts';

/**
 * Makes the outcome of one of the user's returns happen now, at `now` (ms).
 * @throws Refusal not_found; bad_request where its state forbids it.
 */
export async function forceReturn(
  service: Service,
  { id, userId }: { readonly id: string; readonly userId: string },
  kind: ForcedReturn,
  now: number,
): Promise<ReturnRecord> {
  await bringUpToDate(service, now);
  const settle = await loadSettleReturn(service);
  const { store } = service;
  return store.transaction(() => {
    const found = findReturn(store, id, userId);
    const order = found && findOrder(store, found.record.order_id, userId);
    if (!order) throw new Refusal('not_found', `There is no return ${id}.`, { resource: 'return_request' });
    const others = returnsOf(store, order.seq).map(({ record }) => record);
    const facts = circumstancesOf(
      service,
      order.record,
      found.record,
      others.filter((other) => other.id !== found.record.id),
    );
    const reached = forceReturnState(found, kind, now, facts);
    if ('refused' in reached) throw new Refusal('bad_request', reached.refused, { event: `return-${kind}` });
    settle(found, reached);
    return reached.record;
  });
}
