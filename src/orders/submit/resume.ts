import { canonicalJson } from '../../format/canonical.ts';
import type { Client } from '../../http/client.ts';
import { InDoubtError } from '../../http/errors.ts';
import { readGrant } from '../../http/payment-credential.ts';
import { proofOf, type Unproven } from '../../journal/intent-proof.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import {
  damagedRecord,
  reportedMeanwhile,
  sentWithOtherKey,
  wasSentWithOtherKey,
} from '../../journal/take-over.ts';
import { ErrandError, StorageError, stopOf } from '../../platform/errors.ts';
import { flagsTo, unnamedService, whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { isReserved } from '../../spending/policy-gate.ts';
import { scopeOf } from '../needs/scope.ts';
import type { JournaledOperation, MadeBy, MadeRecord } from '../order-record.ts';
import { sendBatch } from '../send-batch.ts';
import { sendReturn } from '../send-return.ts';
import { searchService } from './alike.ts';
import { adoptOrder } from './existing.ts';
import {
  asBatch,
  asOrder,
  asReturn,
  type Body,
  isPaid,
  type KeyedBody,
  labelsOf,
  type Made,
  type Placed,
  paidOperation,
  senderOf,
} from './intent.ts';
import { checkNotThere, isAhead, isKeyOld, tooOld } from './key-life.ts';
import { type Create, endUnsent, send } from './send.ts';

interface ResumeOptions {
  /**
   * Whether to resend even if the service may have forgotten the key. Even then, nothing is sent if an order looks like
   * the record.
   */
  readonly resend?: boolean;
  /** Whether to throw ErrandError conflict if another process has reported the result since the record was read. */
  readonly onlyUnreported?: boolean;
}

/**
 * Settles an intent in doubt: resends the same body with the same key to the same service. If the result is already
 * known, only fetches the result.
 * @throws ErrandError conflict if the record was refused, forgotten or damaged, if a live process owns it, if it was
 * sent to another service or with another API key, or if the service may have forgotten its key.
 */
export async function resumeIntent(
  context: OrderContext,
  found: JournalRecord,
  { resend = false, onlyUnreported = false }: ResumeOptions = {},
): Promise<Made> {
  const client = await context.client();
  if (found.state === 'damaged') throw damagedRecord(found);
  await checkService(context, found);
  if (found.state === 'intended') await proven(context, client, found);
  const record = await claim(context, found);
  if (record.state === 'damaged') throw damagedRecord(record);
  if (onlyUnreported && record.state === 'reported') throw reportedMeanwhile(record);
  if (record.order_id !== null)
    return { order: await readMade(context, client, record, record.order_id), existed: true };
  if (record.state !== 'intended') {
    const why = record.message ? ` (${record.message})` : '';
    throw new ErrandError('conflict', `${record.key} is not in doubt: it was ${record.state}${why}`);
  }
  const settle = (Object.hasOwn(settling, record.operation) && settling[record.operation]) || settleOrder;
  // The record may have changed since it was read. Verify it again.
  return settle({ context, client, record: await proven(context, client, record), resend });
}

/** Whether a record is about an order and was sent with a key of the same user. */
async function isOfSameUser(context: OrderContext, { operation, account }: JournalRecord): Promise<boolean> {
  if (operation !== 'order.create') return false;
  const scope = await scopeOf(context, await (await context.journal()).attempts());
  return scope.accounts.includes(account);
}

/** Same as `resumeIntent`, for a record of a known operation. */
export const resumeKnown = async <N extends JournaledOperation>(
  context: OrderContext,
  _operation: N,
  record: JournalRecord,
  options?: ResumeOptions,
): Promise<Made<MadeBy[N]>> =>
  // The cast is safe because the operation determines the result type.
  (await resumeIntent(context, record, options)) as Made<MadeBy[N]>;

interface Settling {
  readonly context: OrderContext;
  readonly client: Client;
  readonly record: JournalRecord;
  readonly resend: boolean;
}

async function settleOrder({ context, client, record, resend }: Settling): Promise<Made> {
  const now = context.clock.now();
  const isOld = isKeyOld(record, now);
  if (isOld && !resend) throw await tooOld(context, client, record);
  if (isOld || isAhead(record, now)) await checkNotThere(context, client, record);
  const body = { ...(await asOrder(record)), idempotency_key: record.key };
  return send(context, client, { intent: intentIn(record), body, sending: 'again' });
}

/**
 * Functions that settle operations other than `order.create`. If an operation looks up its result before it resends
 * anything, the age of its key does not matter.
 */
const settling: Readonly<Record<string, (settling: Settling) => Promise<Made>>> = {
  'agent.order.create': ({ context, client, record, resend }: Settling) =>
    resumePaid(context, client, record, resend),
  'bulk.create': async ({ context, client, record }: Settling) => {
    const { filename, rows, notify_on_complete: notifies } = await asBatch(record);
    const batch = { key: record.key, filename: filename ?? '', rows, notifies: notifies === true };
    const { id, existed } = await sendBatch(context, intentIn(record), batch, record.created_at);
    return { order: await readMade(context, client, record, id), existed };
  },
  'return.create': async ({ context, client, record }: Settling) =>
    sendReturn(context, client, intentIn(record), await asReturn(record), record.created_at),
  'legacy.retry': async ({ context, record }: Settling) => {
    throw retryInDoubt(context, record);
  },
} as const;

const intentIn = ({ key, base_url: baseUrl, operation, key_origin: keyOrigin }: JournalRecord) => ({
  key,
  baseUrl,
  operation,
  keyOrigin,
});

/**
 * Takes over the record.
 * @throws ErrandError conflict. If the journal is not writable, the error says that the record stays in doubt.
 */
async function claim(context: OrderContext, found: JournalRecord): Promise<JournalRecord> {
  try {
    return await (await context.journal()).claim(found);
  } catch (error) {
    if (!(error instanceof StorageError) || found.state !== 'intended') throw error;
    throw new ErrandError(error.category, `${error.message}; ${found.key} stays in doubt`, {
      ...error.facts,
      outcome: 'unknown',
      idempotencyKey: found.key,
      cause: error,
    });
  }
}

/** Fetches a record's result: an order, a batch or a return. */
async function readMade(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
  id: string,
): Promise<MadeRecord> {
  switch (record.operation) {
    case 'bulk.create':
      return (await client.call('bulk.get', { path: { batch_id: id } })).body;
    case 'return.create':
      return (await client.call('return.get', { path: { return_request_id: id } })).body;
    case 'legacy.retry':
      return { order_id: String(record.body.order_id), request_id: id };
    default: {
      const body = { ...(await asOrder(record)), idempotency_key: record.key };
      return (await adoptOrder(context, client, body, id)).order;
    }
  }
}

async function checkService(context: OrderContext, record: JournalRecord): Promise<void> {
  const { profile, baseUrl, legacyBaseUrl } = context.settings;
  const { value: address } = record.operation === 'legacy.retry' ? legacyBaseUrl : baseUrl;
  if (record.base_url === address) return;
  const where = await flagsTo(context, record.profile, record.base_url);
  if (where === undefined)
    throw new ErrandError('conflict', `the record ${record.key} names ${unnamedService}; nothing was sent`, {
      code: 'another_service',
      idempotencyKey: record.key,
      outcome: 'unknown',
      hint: 'Where you know that service, run this with its --base-url or profile. Where you do not, somebody else wrote the record: forget it.',
      next: [
        { command: 'errand order journal list', when: 'to see the record' },
        { command: journalCommand('forget', record.key), when: 'where it is not yours' },
      ],
    });
  throw new ErrandError(
    'conflict',
    `${record.key} was sent to ${record.base_url}, and this profile is ${address}`,
    {
      outcome: 'unknown',
      next: [
        {
          command: journalCommand('resume', record.key, where),
          when: `to settle it where it was sent (now: ${profile.value})`,
        },
      ],
    },
  );
}

/**
 * Checks that an in-doubt record may be resent, so that nothing is ever sent because of a forged row. The audit chain
 * must match the record. If a policy applied, the record's money must be reserved.
 * @returns the record, with the earliest time at which its key may have been sent as its time.
 * @throws ErrandError conflict. The error says what the service has for the record.
 */
async function proven(context: OrderContext, client: Client, record: JournalRecord): Promise<JournalRecord> {
  const sender = await senderOf(context, record.operation);
  const proof = proofOf((await context.journal()).audit, record, sender);
  if (proof === 'unsigned' && wasSentWithOtherKey(record, sender)) {
    if (!(await isOfSameUser(context, record))) throw sentWithOtherKey(record);
    throw await unproven(context, client, record, 'of another key');
  }
  if (proof === 'unsigned' && isPaid(record.operation))
    throw await unproven(context, client, record, 'of another machine');
  if (typeof proof === 'string') throw await unproven(context, client, record, proof);
  if (!(await isReserved(context, record, proof)))
    throw await unproven(context, client, record, 'unreserved');
  return { ...record, created_at: proof.since };
}

const reasons: Readonly<Record<Unproven | 'of another key' | 'of another machine', (key: string) => string>> =
  {
    absent: (key) =>
      `the audit chain does not have ${key}: an early version of errand wrote the record, a repair lost its entry, or somebody else wrote it`,
    ended: (key) => `the audit chain says that ${key} has ended, and its record says that it is in doubt`,
    changed: (key) => `the record of ${key} was changed: the audit chain has it otherwise`,
    unsigned: (key) =>
      `${key} is not signed under the API key in use: an earlier version of errand recorded it, or somebody else wrote it`,
    cut: (key) =>
      `the audit chain was changed after ${key}, so that it does not prove that ${key} is still in doubt`,
    'of another machine': (key) =>
      `${key} is not signed by this machine, and only the machine that paid for it settles it`,
    'of another key': (key) => `${key} is in doubt and was sent with another key of this user`,
    unreserved: (key) => `a policy held when ${key} was recorded, and nothing is reserved for it`,
  };

/** The error for a record that is not resent. A person has to check the service and order again what is missing. */
async function unproven(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
  why: keyof typeof reasons,
): Promise<ErrandError> {
  const { key, operation } = record;
  const { one, list } = labelsOf(operation);
  const { text, alike, next } = await searchService(context, client, record, { countsOthers: true });
  const where = whereFlags(context);
  return new ErrandError('conflict', `${reasons[why](key)}; it is not sent. ${text}`, {
    code: 'not_proven',
    idempotencyKey: key,
    outcome: 'unknown',
    retryable: false,
    details: { [`${labelsOf(operation).many}_alike`]: alike },
    hint: `Look whether the ${one} was made. Forget the record then, and make anew what is missing: the policy decides on it as on any other.`,
    next: [
      ...next,
      ...(next.length === 0 ? [{ command: `${list}${where}`, when: 'to look for it' }] : []),
      { command: journalCommand('forget', key, where), when: 'once you have looked' },
    ],
  });
}

/** Sends an order together with its payment credential. */
export const paidOrder =
  (payment: string): Create =>
  async (client, body, options) => {
    const { body: order, headers } = await client.call(paidOperation, { body }, { ...options, payment });
    return { order, grant: readGrant(headers) };
  };

/** Adds the key to an order and sorts the fields, because a payment may be bound to the exact bytes. */
export function keyedBody(order: Body, key: string): KeyedBody {
  const body: KeyedBody = JSON.parse(canonicalJson({ ...order, idempotency_key: key }));
  return body;
}

/**
 * Settles an order that may have been paid for. Resends the same body with the same payment, and pays nothing again. If
 * neither a credential nor a payment is recorded, nothing can have been ordered, so closes the record.
 * @param record must be owned by this process.
 * @throws ErrandError payment if no payment is recorded; in_doubt, also if the credential of a recorded payment is
 * lost; conflict if the record is too old.
 */
async function resumePaid(
  context: OrderContext,
  client: Client,
  record: JournalRecord,
  resend: boolean,
): Promise<Placed> {
  const { key, base_url: baseUrl, operation, key_origin: keyOrigin } = record;
  const intent = { key, baseUrl, operation, keyOrigin };
  const payment = (await context.journal()).credentialOf(key, baseUrl);
  if (payment !== undefined) {
    if (!resend && isKeyOld(record, context.clock.now())) throw await tooOld(context, client, record);
    const body = keyedBody(await asOrder(record), key);
    return send(context, client, { intent, body, sending: 'again', create: paidOrder(payment) });
  }
  const wasPaid = (await context.journal()).audit.ofKey(key, baseUrl).some(({ kind }) => kind === 'paid');
  if (wasPaid)
    throw new InDoubtError(`in doubt: ${key} was paid for, and the journal no longer has its payment`, {
      idempotencyKey: key,
      outcome: 'unknown',
      retryable: false,
      hint: 'Look into the wallet, and ask the service, before you order again.',
      next: [{ command: journalCommand('forget', key, whereFlags(context)), when: 'once you have looked' }],
    });
  const nothing = new ErrandError(
    'payment',
    `errand ended while ${key} was being paid for; nothing was ordered`,
    {
      code: 'payment_failed',
      idempotencyKey: key,
      outcome: 'not_sent',
      retryable: false,
      hint: 'The wallet may have paid all the same: look there before you order again.',
    },
  );
  await endUnsent(context, intent, nothing);
  throw nothing;
}

/** The error for a retry in doubt. Resending cannot settle the retry. The user has to check the newest orders. */
export function retryInDoubt(
  context: OrderContext,
  { key, body }: Pick<JournalRecord, 'key' | 'body'>,
  error?: ErrandError,
): ErrandError {
  const why = error ? `was sent, and what became of it is unknown (${error.message})` : 'may have been sent';
  return new InDoubtError(
    `in doubt: the retry of ${String(body.order_id)} ${why}`,
    {
      ...error?.facts,
      retryable: false,
      idempotencyKey: key,
      cause: error,
      hint: 'Look whether a new order is there before you retry again: v1 has no key that would keep it from being made twice.',
      next: [
        { command: `errand order list --limit 5${whereFlags(context)}`, when: 'to see the newest orders' },
        {
          command: journalCommand('forget', key, whereFlags(context)),
          when: 'once you have looked, whatever you found',
        },
      ],
    },
    stopOf(error),
  );
}
