import type { Grant } from '../http/payment-credential.ts';
import type { Booked } from '../journal/booked.ts';
import { MadeTwiceError } from '../journal/booked.ts';
import { journalCommand } from '../journal/journal-command.ts';
import type { Intent } from '../journal/journal-record.ts';
import { ErrandError } from '../platform/errors.ts';
import { whereFlags } from '../run/context-flags.ts';
import type { OrderContext } from '../run/order-context.ts';
import { thingOf } from './things.ts';

type Settled = Pick<Intent, 'key' | 'baseUrl' | 'operation'>;

/**
 * Writes down what the service made of an intent, with what a paid order came with. Where that fails what was made exists
 * all the same: its id is reported, and the record stays in doubt, or follows where the journal is shared.
 * @throws MadeTwiceError where the journal knows another order of the same intent.
 */
export async function settleIntent(
  context: OrderContext,
  { key, baseUrl, operation }: Settled,
  madeId: string,
  grant?: Grant,
): Promise<void> {
  const { one, made } = thingOf(operation);
  try {
    const booked = await (await context.journal()).respond(key, baseUrl, madeId, grant);
    if (booked === 'follows')
      context.note(
        `the ${one} ${madeId} was ${made}; the database did not take the record of it, which follows with the next command here that reaches it`,
      );
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    context.note(
      `the ${one} ${madeId} was ${made}, with the key ${key}; the journal could not record that (${error.message})`,
    );
  }
}

/**
 * Writes down that nothing came of an intent. Where a journal of this machine does not take that, the refusal is what
 * matters, and the record stays in doubt.
 * @returns what is to be thrown: the refusal, or in_doubt where another machine may still send what is recorded.
 */
export async function refuseIntent(
  context: OrderContext,
  intent: Settled,
  refusal: ErrandError,
): Promise<ErrandError> {
  const booked = await bookRefusal(context, intent, refusal);
  return booked === 'booked' ? refusal : stillOpen(context, intent, refusal, booked);
}

/** The same where no machine can send what is recorded any more: it ends with the next command that looks at it. */
export async function endUnsent(context: OrderContext, intent: Settled, reason: ErrandError): Promise<void> {
  await bookRefusal(context, intent, reason);
}

async function bookRefusal(
  context: OrderContext,
  { key, baseUrl, operation }: Settled,
  { category, message, facts }: ErrandError,
): Promise<Booked> {
  let isShared = false;
  try {
    const journal = await context.journal();
    isShared = journal.isShared;
    return await journal.refuse(key, baseUrl, { code: facts.code ?? category, message });
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const { one, made } = thingOf(operation);
    context.note(
      `no ${one} was ${made} with the key ${key}; the journal could not record that (${error.message})`,
    );
    // Written down nowhere, it ends no record that another machine may send.
    return isShared ? 'follows' : 'booked';
  }
}

/** Nothing came of this attempt, and the record is open all the same. */
function stillOpen(
  context: OrderContext,
  { key, operation }: Settled,
  refusal: ErrandError,
  booked: Exclude<Booked, 'booked'>,
): ErrandError {
  const { one } = thingOf(operation);
  const why =
    booked === 'taken'
      ? 'another machine had taken it over by then'
      : 'the database could not record that, so that another machine may still send it';
  return new ErrandError(
    'in_doubt',
    `in doubt: nothing came of the ${one} here (${refusal.message}), and ${why}`,
    {
      ...refusal.facts,
      outcome: 'unknown',
      retryable: true,
      idempotencyKey: key,
      cause: refusal,
      hint:
        booked === 'taken'
          ? 'The journal says what became of it there.'
          : 'The next command here that reaches the database ends the record, unless another machine is at work on it by then.',
      next: [{ command: journalCommand('resume', key, whereFlags(context)), when: 'to find out, safely' }],
    },
  );
}
