import type { AttemptClaim } from '../../journal/attempts.ts';
import { contentHash } from '../../journal/content.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { Intent, JournalRecord } from '../../journal/journal-record.ts';
import { DamagedError, ErrandError, StorageError } from '../../platform/errors.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Consent } from '../../spending/options.ts';
import type { Gate } from '../../spending/policy/gate.ts';
import { gateFor, withPolicy } from '../../spending/policy-gate.ts';
import type { JournaledOperation, MadeBy } from '../order-record.ts';
import { keyOfAnother } from './existing.ts';
import { type IntentOf, labelsOf, type Made } from './intent.ts';
import { checkKeyAge } from './key-life.ts';
import { resumeKnown } from './resume.ts';

export type Recorded<N extends JournaledOperation> =
  /** The result that a key chosen by the user has already produced. */
  | { readonly placed: Made<MadeBy[N]>; readonly isOvertaken?: never }
  /** `isOvertaken`: another process has decided about the same need in the meantime; nothing was recorded. */
  | { readonly placed?: never; readonly mayBeSent: boolean; readonly isOvertaken: boolean };

/**
 * Records an intent together with the attempt that `claim` returns, and reserves the intent's money.
 * @throws ErrandError policy if the policy refuses the intent; conflict if the intent's key is in use. Nothing is
 * written then.
 */
export async function recordIntent<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  { claim, ...consent }: Consent & { readonly claim?: AttemptClaim | undefined } = {},
): Promise<Recorded<N>> {
  const gate = await gateOf(context, intent, false, consent);
  const recorded = await withEarlier(context, intent, false, async () => {
    const journal = await context.journal();
    return withPolicy(gate, () => journal.record(intent, undefined, gate?.reserving, claim));
  });
  if (recorded.duplicate) return { placed: await madeByKey(context, intent, recorded.duplicate.record) };
  if (recorded.isOvertaken) return { mayBeSent: false, isOvertaken: true };
  if (intent.operation === 'order.create') await checkKeyAge(context, intent, recorded.mayBeSent);
  return { mayBeSent: recorded.mayBeSent, isOvertaken: false };
}

/**
 * Builds the policy gate. If the policy cannot decide, nothing is sent, and the error mentions any earlier record of
 * the same intent.
 * @param withDuplicates tells whether records that have the same content under other keys count.
 */
export async function gateOf(
  context: OrderContext,
  intent: Intent,
  withDuplicates: boolean,
  consent: Consent,
): Promise<Gate | undefined> {
  try {
    return await gateFor(context, [{ intent }], consent);
  } catch (error) {
    const earlier =
      error instanceof ErrandError ? await earlierOf(context, intent, withDuplicates) : undefined;
    if (!earlier || earlier === 'unknown' || !(error instanceof ErrandError)) throw error;
    const { key, order_id: id } = earlier;
    throw new ErrandError(id === null ? 'in_doubt' : error.category, error.message, {
      ...error.facts,
      idempotencyKey: key,
      outcome: id === null ? 'unknown' : 'applied',
      next: [{ command: journalCommand('resume', key, whereFlags(context)), when: 'to find out, safely' }],
      cause: error,
    });
  }
}

/**
 * Runs `work`. If it throws a storage error, adds to the error what the journal knows about the intent. `work` must not
 * send anything.
 */
export async function withEarlier<T>(
  context: OrderContext,
  intent: Intent,
  withDuplicates: boolean,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw notRecorded(error, intent, await earlierOf(context, intent, withDuplicates));
  }
}

/** The earlier record of the same intent, or `unknown` if the journal is unreadable. */
async function earlierOf(
  context: OrderContext,
  intent: Intent,
  withDuplicates: boolean,
): Promise<JournalRecord | 'unknown' | undefined> {
  try {
    return (await context.journal()).earlier(intent, withDuplicates);
  } catch (error) {
    if (error instanceof StorageError) return 'unknown';
    throw error;
  }
}

/**
 * Returns the result that the intent's key has already produced, if the content is the same. @throws ErrandError
 * conflict if the content differs.
 */
export async function madeByKey<N extends JournaledOperation>(
  context: OrderContext,
  { operation, body }: IntentOf<N>,
  record: JournalRecord,
): Promise<Made<MadeBy[N]>> {
  const isSame = record.operation === operation && record.body_hash === contentHash(operation, body);
  if (!isSame) throw keyOfAnother(context, record, body);
  return resumeKnown(context, operation, record);
}

/** The error if the journal could not be read before orders were sent. @returns any other error unchanged. */
export const beforeSend = (error: unknown): unknown =>
  error instanceof StorageError ? notRecorded(error, { operation: 'order.create' }, undefined) : error;

/**
 * The error for an intent that was not recorded. Nothing was sent now, but an earlier command may have sent the same
 * intent.
 */
function notRecorded(
  error: StorageError,
  { operation }: Pick<Intent, 'operation'>,
  earlier: JournalRecord | 'unknown' | undefined,
): ErrandError {
  const { one } = labelsOf(operation);
  if (!earlier || earlier === 'unknown') {
    const isUnsure = earlier === 'unknown' || error instanceof DamagedError;
    const sent = isUnsure
      ? 'nothing was sent now, and an earlier command may have ordered'
      : 'nothing was sent';
    const outcome = isUnsure ? 'unknown' : 'not_sent';
    const facts = { ...error.facts, outcome, cause: error } as const;
    return new StorageError(`${error.message}; ${sent}`, facts, error.category);
  }
  const { key, order_id: id, created_at: since } = earlier;
  const what = id === null ? `is in doubt since ${since}, as ${key}` : `exists already: ${id}`;
  const facts = {
    ...error.facts,
    idempotencyKey: key,
    outcome: error instanceof DamagedError || id === null ? 'unknown' : 'applied',
    cause: error,
  } as const;
  const message = `${error.message}; nothing was sent now, and the same ${one} ${what}`;
  return new StorageError(message, facts, error.category);
}
