import { ErrandError } from '../errors.ts';
import type { Grant } from '../http/payment-credential.ts';
import type { OrderContext } from '../order-context.ts';
import type { Intent } from '../state/journal-record.ts';
import { thingOf } from './things.ts';

type Settled = Pick<Intent, 'key' | 'baseUrl' | 'operation'>;

/**
 * Writes down what the service made of an intent, with what a paid order came with. Where that fails what was made exists
 * all the same: its id is reported, and the record stays in doubt.
 */
export async function settleIntent(
  context: OrderContext,
  { key, baseUrl, operation }: Settled,
  madeId: string,
  grant?: Grant,
): Promise<void> {
  try {
    await (await context.journal()).respond(key, baseUrl, madeId, grant);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const { one, made } = thingOf(operation);
    context.note(
      `the ${one} ${madeId} was ${made}, with the key ${key}; the journal could not record that (${error.message})`,
    );
  }
}

/** Writes down that nothing came of an intent. Where that fails the refusal is what matters; the record stays in doubt. */
export async function refuseIntent(
  context: OrderContext,
  { key, baseUrl, operation }: Settled,
  { category, message, facts }: ErrandError,
): Promise<void> {
  try {
    await (await context.journal()).refuse(key, baseUrl, { code: facts.code ?? category, message });
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const { one, made } = thingOf(operation);
    context.note(
      `no ${one} was ${made} with the key ${key}; the journal could not record that (${error.message})`,
    );
  }
}
