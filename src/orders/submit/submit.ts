import { randomUUID } from 'node:crypto';
import type { Client } from '../../http/client.ts';
import { contentHash } from '../../journal/content.ts';
import { isMade } from '../../journal/journal-record.ts';
import { wasSentWithOtherKey } from '../../journal/take-over.ts';
import { StorageError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import { approvedKey, notePolicy } from '../../spending/policy-gate.ts';
import { adoptOrder, keyOfAnother } from './existing.ts';
import type { Body, KeyedBody, Placed, Placing } from './intent.ts';
import { type IntentOf, intentOf } from './intent.ts';
import { previewKey } from './preview.ts';
import { recordOnce, settleOwed } from './repeats.ts';
import { resumeKnown } from './resume.ts';
import { send } from './send.ts';

/**
 * Places one order per intent. The order is journaled before it is sent, and settled when the response arrives. Placing
 * the same order again settles the first order, or counts as a repeated command, unless `isNew` or a key is given.
 * @throws ErrandError: in_doubt if no response settles the outcome; conflict for a repeated command, naming the order.
 */
export async function placeOrder(
  context: OrderContext,
  body: Body,
  { isNew, ...placing }: Placing,
): Promise<Placed> {
  await readyToSend(context);
  const client = await context.client();
  const given = body.idempotency_key ?? undefined;
  const isOpen = given === undefined && !context.previewsRequests;
  const earlierOnes = { ended: new Map<string, string>() };
  if (isOpen && !isNew) {
    const unfinished = await settleOwed(context, await unsentIntent(context, body), earlierOnes);
    if (unfinished) return unfinished;
  }
  const approved = isOpen
    ? await approvedKey(context, (await proposedOrder(context, body)).intent, placing)
    : undefined;
  const chosen = given ?? (approved?.isSent && !isNew ? approved.key : undefined);
  const made = approved && !approved.isSent ? approved.key : randomUUID();
  const keyed: KeyedBody = { ...body, idempotency_key: chosen ?? made };
  const intent = await intentOf(context, 'order.create', {
    key: keyed.idempotency_key,
    keyOrigin: chosen === undefined ? 'made' : 'chosen',
    body: keyed,
  });
  const rule = isNew || chosen !== undefined ? 'none' : 'repeats';
  if (context.previewsRequests) {
    await notePolicy(context, [await proposedOrder(context, body)]);
    const key = await previewKey(context, intent, rule);
    const shown = key === undefined ? body : { ...body, idempotency_key: key };
    return { order: (await client.call('order.create', { body: shown })).body, existed: false };
  }
  const earlier = await earlierOrder(context, client, intent, keyed);
  if (earlier) return earlier;
  const recorded = await recordOnce(context, intent, rule, { ...placing, ...earlierOnes });
  if (recorded.placed) return recorded.placed;
  return send(context, client, { intent, body: keyed, sending: recorded.mayBeSent ? 'again' : 'first' });
}

/**
 * Settles and returns what a key chosen by the user has already produced, or may have produced.
 * @throws ErrandError conflict if the content differs, or if the record has been in doubt longer than a service keeps a
 * key.
 */
export async function earlierOrder(
  context: OrderContext,
  client: Client,
  intent: IntentOf<'order.create' | 'agent.order.create'>,
  body: KeyedBody,
): Promise<Placed | undefined> {
  if (intent.keyOrigin === 'made') return undefined;
  const record = (await context.journal()).find(intent.key, intent.baseUrl);
  if (!record || wasSentWithOtherKey(record, intent)) return undefined;
  const isSame = record.body_hash === contentHash(intent.operation, body);
  if (record.state === 'intended')
    return isSame && record.operation === intent.operation
      ? resumeKnown(context, intent.operation, record)
      : undefined;
  if (record.order_id === null || !isMade(record)) return undefined;
  if (!isSame) throw keyOfAnother(record, body);
  return adoptOrder(context, client, body, record.order_id);
}

/** An order in the form that a policy check needs, before its intent exists. */
export const proposedOrder = async (context: OrderContext, body: Body): Promise<ProposedOrder> => ({
  intent: await unsentIntent(context, body),
});

const unsentIntent = (context: OrderContext, body: Body): Promise<IntentOf<'order.create'>> =>
  intentOf(context, 'order.create', {
    key: body.idempotency_key ?? '',
    keyOrigin: 'made',
    body: { ...body },
  });

/**
 * Before the service is contacted, checks that a shared journal is reachable and that this machine's own journal has no
 * open records. A local journal is opened when first needed.
 * @throws StorageError if the shared journal is unreachable; ErrandError conflict if this machine's own journal has
 * open records. Nothing was sent.
 */
export async function readyToSend(context: OrderContext): Promise<void> {
  if (context.settings.database === undefined || context.previewsRequests) return;
  try {
    await (await context.journal()).ready();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const { message, facts, category } = error;
    throw new StorageError(`${message}; nothing was sent`, { ...facts, cause: error }, category);
  }
}
