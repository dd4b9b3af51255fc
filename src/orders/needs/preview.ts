import type { Attempt } from '../../journal/attempts.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { ErrandError, stopOf } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { JournaledOperation } from '../order-record.ts';
import type { Body, Placing } from '../submit/intent.ts';
import { decide } from './decide.ts';
import { withOrdersSeen } from './decide-with-service.ts';
import { needOf } from './need.ts';
import { doorOf } from './place-once.ts';
import { attemptText } from './refused.ts';
import { knownScopeOf } from './scope.ts';
import { type SeenOrder, seeOrder } from './service-orders.ts';
import { windowsOf } from './windows.ts';

/**
 * Notes the earlier orders that would keep a request from being sent, for a request that is only shown. Reads these
 * orders, unless reads are only shown as well, and persists nothing. A journal or an order that cannot be read does not
 * block the preview.
 */
export async function noteAlike(
  context: OrderContext,
  order: Body,
  placing: Placing,
  operation: JournaledOperation = 'order.create',
): Promise<void> {
  if (!journalExists(context.settings)) return;
  try {
    const attempts = await (await context.journal()).attempts();
    const need = needOf(order);
    const [related = []] = await attempts.related(await knownScopeOf(context, attempts, operation), [need]);
    const now = context.serviceClock.now();
    const { again = false } = placing;
    const seen = await ordersSeen(context, related);
    const decision = decide(
      {
        ...{ need, door: doorOf(context, placing), statement: { again }, windows: windowsOf(context), now },
        read: new Set(related.map(({ serial }) => serial)),
      },
      withOrdersSeen(related, seen),
    );
    if (decision.do !== 'ask' && decision.do !== 'refuse') return;
    const earlier = decision.attempts.map((one) => attemptText(one, seen, now)).join(', ');
    const then = decision.do === 'ask' ? 'sent, it is asked about' : 'it is not sent again without --new';
    context.note(`an order like this one is there: ${earlier}; ${then}`);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    context.note(`the journal cannot say whether an order like this one is there: ${error.message}`);
  }
}

/** Orders of attempts that may be live, by id in lower case. One that cannot be read is left out. */
async function ordersSeen(
  context: OrderContext,
  attempts: readonly Attempt[],
): Promise<ReadonlyMap<string, SeenOrder>> {
  const seen = new Map<string, SeenOrder>();
  if (context.previewsReads) return seen;
  const ids = attempts.flatMap(({ state, orderId }) => (state === 'placed' ? (orderId ?? []) : []));
  for (const id of new Set(ids.slice(-maxRead))) {
    try {
      const found = await seeOrder(await context.client(), id);
      if (found) seen.set(id.toLowerCase(), found);
    } catch (error) {
      if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    }
  }
  return seen;
}

/** Maximum number of orders that a preview reads. */
const maxRead = 10;
