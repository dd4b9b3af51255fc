import { runDueTransitions } from '../control/due-transitions.ts';
import { findOrder, type StoredOrder } from '../orders/records.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { recordIntervention } from '../store/interventions.ts';
import { circumstancesOf } from './credit.ts';
import type { ReturnRecord } from './lifecycle.ts';
import { type Circumstances, type ForcedReturn, forcedReturns, forceReturnState } from './lifecycle.ts';
import { findReturn, returnsOf, type StoredReturn } from './records.ts';
import { loadSettleReturn } from './settle.ts';

/** Everything that determines the outcome of a return. */
function factsOf(service: Service, found: StoredReturn, order: StoredOrder): Circumstances {
  const others = returnsOf(service.store, order.seq).map(({ record }) => record);
  return circumstancesOf(
    service,
    order.record,
    found.record,
    others.filter((other) => other.id !== found.record.id),
  );
}

/** The outcomes that can be forced on a return at `now` (ms). */
export const possibleOutcomes = (
  service: Service,
  found: StoredReturn,
  order: StoredOrder,
  now: number,
): ForcedReturn[] =>
  forcedReturns.filter(
    (kind) => !('refused' in forceReturnState(found, kind, now, factsOf(service, found, order))),
  );

/**
 * Forces the outcome of a return at `now` (ms). If `userId` is null, the return may belong to any user, otherwise only
 * to that user.
 * @throws Refusal not_found; bad_request if the return's state does not allow the outcome.
 */
export async function forceReturn(
  service: Service,
  { id, userId }: { readonly id: string; readonly userId: string | null },
  kind: ForcedReturn,
  now: number,
): Promise<ReturnRecord> {
  await runDueTransitions(service, now);
  const settle = await loadSettleReturn(service);
  const { store } = service;
  return store.transaction(() => {
    const found = findReturn(store, id, userId);
    const order = found && findOrder(store, found.record.order_id, userId);
    if (!order)
      throw new ErrorResponse('not_found', `There is no return ${id}.`, { resource: 'return_request' });
    const reached = forceReturnState(found, kind, now, factsOf(service, found, order));
    if ('refused' in reached)
      throw new ErrorResponse('bad_request', reached.refused, { event: `return-${kind}` });
    settle(found, reached);
    recordIntervention(store, found.record.id, { at: now, event: kind, errorType: null });
    return reached.record;
  });
}
