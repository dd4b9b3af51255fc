import type { Client } from '../http/client.ts';
import { proofOf, type Unproven } from '../journal/intent-proof.ts';
import { journalCommand } from '../journal/journal-command.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import { ErrandError } from '../platform/errors.ts';
import { whereFlags } from '../run/context-flags.ts';
import type { OrderContext } from '../run/order-context.ts';
import { isReserved } from '../spending/through-policy.ts';
import { searchService } from './alike.ts';
import { thingOf } from './things.ts';

/**
 * A record in doubt that may be sent again: the audit chain has it as it stands, and its money is reserved where a policy
 * held. A row that somebody wrote beside them sends nothing. @returns it with the time since which its key may have been sent.
 * @throws ErrandError conflict with what the service has of it.
 */
export async function proven(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
): Promise<JournalRecord> {
  const proof = proofOf((await context.journal()).audit, record);
  if (typeof proof === 'string') throw await unproven(context, client, record, proof);
  if (!(await isReserved(context, record, proof)))
    throw await unproven(context, client, record, 'unreserved');
  return { ...record, created_at: proof.since };
}

const reasons: Readonly<Record<Unproven, (key: string) => string>> = {
  absent: (key) =>
    `the audit chain does not have ${key}: an early version of errand wrote the record, a repair lost its entry, or somebody else wrote it`,
  ended: (key) => `the audit chain says that ${key} has ended, and its record says that it is in doubt`,
  changed: (key) => `the record of ${key} was changed: the audit chain has it otherwise`,
  unreserved: (key) => `a policy held when ${key} was recorded, and nothing is reserved for it`,
};

/** What nothing is sent for; a person looks, and orders anew what is missing. */
async function unproven(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
  why: Unproven,
): Promise<ErrandError> {
  const { key, operation } = record;
  const { one, list } = thingOf(operation);
  const { text, alike, next } = await searchService(context, client, record);
  const where = whereFlags(context);
  return new ErrandError('conflict', `${reasons[why](key)}; it is not sent. ${text}`, {
    code: 'not_proven',
    idempotencyKey: key,
    outcome: 'unknown',
    retryable: false,
    details: { [`${thingOf(operation).many}_alike`]: alike },
    hint: `Look whether the ${one} was made. Forget the record then, and make anew what is missing: the policy decides on it as on any other.`,
    next: [
      ...next,
      ...(next.length === 0 ? [{ command: `${list}${where}`, when: 'to look for it' }] : []),
      { command: journalCommand('forget', key, where), when: 'once you have looked' },
    ],
  });
}
