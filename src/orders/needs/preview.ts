import { journalExists } from '../../journal/journal-tables.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { JournaledOperation } from '../order-record.ts';
import type { Body, Placing } from '../submit/intent.ts';
import { decide } from './decide.ts';
import { needOf } from './need.ts';
import { doorOf } from './place-once.ts';
import { attemptText } from './refused.ts';
import { knownScopeOf } from './scope.ts';
import { windowsOf } from './windows.ts';

/**
 * Notes the earlier orders that would keep a request from being sent, for a request that is only shown. Reads the
 * journal alone, and writes nothing. A journal that cannot be read does not block the preview.
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
    const decision = decide(
      {
        ...{ need, door: doorOf(context, placing), statement: { again }, windows: windowsOf(context), now },
        read: new Set(related.map(({ serial }) => serial)),
      },
      related,
    );
    if (decision.do !== 'ask' && decision.do !== 'refuse') return;
    const earlier = decision.attempts.map((one) => attemptText(one, new Map(), now)).join(', ');
    const then = decision.do === 'ask' ? 'sent, it is asked about' : 'it is not sent again without --new';
    context.note(`an order like this one is there: ${earlier}; ${then}`);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    context.note(`the journal cannot say whether an order like this one is there: ${error.message}`);
  }
}
