import type { ErrorType } from '../../api/error-types.ts';
import type { AllHandlers } from '../server/handler.ts';
import { Refusal } from '../server/refusal.ts';
import { prepareOrder } from './create.ts';
import { findOrder, retriedAs } from './records.ts';

/** Failures that lie in the order itself: no later try of the same order can go better. */
const permanent: ReadonlySet<string> = new Set<ErrorType>([
  'invalid_variant',
  'invalid_product_url',
  'product_not_found',
  'product_variant_required',
  'gift_option_unavailable',
  'quantity_limit_exceeded',
  'shipping_address_invalid',
]);

export const retryHandlers = {
  'legacy.retry': async (service, { caller, path, now }) => {
    const { store } = service;
    const id = path.request_id;
    const failed = findOrder(store, id, caller.userId);
    if (!failed) throw new Refusal('not_found', `There is no order ${id}.`, { resource: 'order' });
    const before = retriedAs(store, id);
    if (before !== null) return { value: { request_id: before } };
    const { status, job_result: result } = failed.record;
    if (status !== 'order_failed') {
      const message = `The order is ${status}: only a failed order can be retried.`;
      throw new Refusal('bad_request', message, { status });
    }
    const errorType = result?.error_type ?? '';
    if (permanent.has(errorType)) {
      const message = `The order failed with ${errorType}, which a retry cannot mend; place a corrected order.`;
      throw new Refusal('bad_request', message, { error_type: errorType });
    }
    const { idempotency_key: _, ...body } = failed.body;
    const keep = await prepareOrder(service, caller, body);
    return store.transaction(() => {
      // Two retries at once are one: the second finds what the first has made.
      const meanwhile = retriedAs(store, id);
      if (meanwhile !== null) return { value: { request_id: meanwhile } };
      const made = keep(now);
      store.run('UPDATE orders SET retried_as = ? WHERE id = ?', made.id, id);
      return { value: { request_id: made.id } };
    });
  },
} satisfies Partial<AllHandlers>;
