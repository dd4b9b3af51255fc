import { textIn } from '../../api/json.ts';
import type { AttemptClaim, NewAttempt } from '../../journal/attempts.ts';
import type { Intent } from '../../journal/journal-record.ts';
import { ErrandError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { JournaledOperation, MadeBy } from '../order-record.ts';
import { type Body, isPaid, type Made, type Placing } from '../submit/intent.ts';
import { withEarlier } from '../submit/record.ts';
import type { Decision, Door } from './decide.ts';
import { claimOf, type DecidedOrder, decideWithService, orderSeen } from './decide-with-service.ts';
import { needOf } from './need.ts';
import type { Purchase } from './purchase.ts';
import { afterText, refusedOrder } from './refused.ts';
import { knownScopeOf } from './scope.ts';
import { readAges, reportUnreported, type Settled, sourcesFor } from './settle.ts';
import { windowsOf } from './windows.ts';

/** The entry point. Defaults to `terminal` or `script`, depending on whether the user can be prompted. */
export const doorOf = ({ interactive }: OrderContext, { door }: Placing): Door =>
  door ?? (interactive.yes ? 'terminal' : 'script');

/**
 * Places an order unless its need is met already. First settles what an earlier run of the same command left in doubt.
 * Also reports an order that such a run placed but did not report.
 * @throws ErrandError conflict if the need is met, or if an attempt at it is in doubt; interrupted if the user declines
 * another order; unavailable if the state of earlier orders cannot be read. Nothing is sent then.
 */
export async function placeOnce<N extends JournaledOperation>(
  context: OrderContext,
  purchase: Purchase<N>,
): Promise<Made<MadeBy[N]>> {
  const { order, intent, placing } = purchase;
  const { reference, isNew = false, again = false } = placing;
  const agreed = new Set<string>(placing.agreed);
  const request = {
    door: doorOf(context, placing),
    statement: { isNew, again, agreed },
    windows: windowsOf(context),
    isUnlisted: isPaid(intent.operation),
  };
  for (;;) {
    const found = await withEarlier(context, intent, !isNew, async () => {
      const settled: Settled<N> = {};
      const sources = await sourcesFor(context, purchase, settled);
      if (!isNew && !reference) {
        const made = await reportUnreported(context, sources, purchase);
        if (made) return made;
        await readAges(context, sources, purchase, request.windows);
      }
      const decided = await decideWithService(sources, request, order, reference);
      return madeNow(settled, decided) ?? { sources, decided };
    });
    if (!('decided' in found)) return found;
    const { sources, decided } = found;
    const { decision, seen } = decided;
    const shown = { seen, now: decided.request.now };
    switch (decision.do) {
      case 'adopt':
        return adopted(context, purchase, decision, decided);
      case 'refuse':
      case 'ask': {
        const existing = await purchase.existing?.();
        if (existing) return existing;
        const refusal = await refusedOrder(context, purchase, decision, shown);
        if (decision.do === 'refuse' || isRefusedByPolicy(refusal)) throw refusal;
        await askForAnother(context, refusal);
        for (const { key } of decision.attempts) agreed.add(key);
        continue;
      }
      case 'send': {
        const { number, after } = decision;
        const made = await purchase.send({
          number,
          earlier: async () =>
            after ? ((await sources.attempts.related(sources.scope, [decided.request.need]))[0] ?? []) : [],
          claim: (key) =>
            claimOf(sources, decided, () => newAttempt(intent, { key, number, madeAt: sources.now() })),
          noteEarlier: () => {
            if (after?.orderId !== undefined && !isNew)
              context.note(afterText(number, after, seen, sources.now()));
          },
        });
        if (made) return made;
      }
    }
  }
}

/**
 * The result if this command's own request was in doubt and is now settled. Undefined if the decision has to answer
 * instead, because the order has since ended, or is one of several orders for a reference.
 */
function madeNow<N extends JournaledOperation>(
  { made }: Settled<N>,
  { decision, seen, request }: DecidedOrder,
): Made<MadeBy[N]> | undefined {
  if (!made) return undefined;
  if (request.need.reference) return made.existed || decision.do !== 'adopt' ? undefined : made;
  const state = orderSeen(seen, { orderId: textIn(made.order, 'id') })?.state;
  return made.existed && state !== undefined && state !== 'placed' ? undefined : made;
}

const newAttempt = (
  { operation }: Pick<Intent, 'operation'>,
  at: Pick<NewAttempt, 'key' | 'number' | 'madeAt'>,
): NewAttempt => ({
  ...at,
  ...{ operation, run: undefined, upload: undefined, orderId: undefined, seenAt: undefined },
  state: 'intended',
});

/**
 * The attempt to persist if the caller chose the order's key. The order is not compared with earlier orders, but later
 * orders are compared with it.
 */
export async function keyedClaim(
  context: OrderContext,
  order: Body,
  intent: Pick<Intent, 'key' | 'operation'>,
): Promise<AttemptClaim> {
  // This call also imports older records. They are imported only once, so call it before the first attempt is stored.
  const attempts = await (await context.journal()).attempts();
  const { newestAccount: _, ...scope } = await knownScopeOf(context, attempts, intent.operation);
  const at = { key: intent.key, number: 1, madeAt: context.serviceClock.now() };
  return { scope, needs: [needOf(order)], decide: () => newAttempt(intent, at), isUnconditional: true };
}

/**
 * Returns the live order. If an interrupted command placed the order, adds that command's record to what this run
 * reports.
 */
async function adopted<N extends JournaledOperation>(
  context: OrderContext,
  purchase: Purchase<N>,
  { attempts }: Extract<Decision, { readonly do: 'adopt' }>,
  { seen }: DecidedOrder,
): Promise<Made<MadeBy[N]>> {
  const [live] = attempts;
  const found = live && orderSeen(seen, live);
  if (!found) throw new Error('an order that was decided on was not read');
  const journal = await context.journal();
  const record = journal.madeBy(found.order.id, context.settings.baseUrl.value);
  if (record) journal.recall(record);
  return { order: purchase.adopt(found), existed: true };
}

/** Whether the policy refuses another order. If so, there is no need to ask the user. */
const isRefusedByPolicy = ({ facts }: ErrandError): boolean =>
  textIn(facts.details, 'policy_outcome') === 'refused';

/** @throws ErrandError interrupted if the user declines. */
async function askForAnother(context: OrderContext, refusal: ErrandError): Promise<void> {
  context.note(refusal.message.replace(/; (?:nothing was ordered|no second one was placed)$/, ''));
  if (await context.confirm('Order another one?')) return;
  const { facts } = refusal;
  const next = facts.next ?? [{ command: typedCommand(context.argv ?? []), when: 'to be asked again' }];
  throw new ErrandError('interrupted', 'no second order was placed', { outcome: 'not_sent', next });
}
