import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../api/error-codes.ts';
import type { Client } from '../../http/client.ts';
import type { Attempt } from '../../journal/attempts.ts';
import { contentHash } from '../../journal/content.ts';
import { isMade } from '../../journal/journal-record.ts';
import { wasSentWithOtherKey } from '../../journal/take-over.ts';
import { ErrandError, StorageError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { previewedWith } from '../../run/request-preview.ts';
import type { ApprovedKey } from '../../spending/approval/key.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import { approvedKey, notePolicy } from '../../spending/policy-gate.ts';
import { keyedClaim, placeOnce } from '../needs/place-once.ts';
import { previewNeed } from '../needs/preview.ts';
import { attemptKey, withReference } from '../needs/reference.ts';
import { adoptOrder, keyOfAnother } from './existing.ts';
import { type Body, type IntentOf, intentOf, type KeyedBody, type Placed, type Placing } from './intent.ts';
import { previewKey } from './preview.ts';
import { recordIntent, withEarlier } from './record.ts';
import { resumeKnown } from './resume.ts';
import { send } from './send.ts';

/**
 * Places one order per need. The order is journaled before it is sent, and settled when the response arrives. If the
 * caller gives an idempotency key, places one order per key instead.
 * @throws ErrandError: in_doubt if no response settles the outcome; conflict if the need is met, naming the order.
 */
export async function placeOrder(context: OrderContext, order: Body, placing: Placing): Promise<Placed> {
  const { reference, isNew, approval } = placing;
  await readyToSend(context);
  const client = await context.client();
  const body = reference ? withReference(order, reference) : order;
  if (context.previewsRequests) return previewed(context, client, body, placing);
  const given = body.idempotency_key ?? undefined;
  if (given !== undefined) return placeByKey(context, client, { ...body, idempotency_key: given }, placing);
  const unkeyed = await unsentIntent(context, body);
  const approved = () => approvedKey(context, unkeyed, placing);
  const byApproval = async (key: ApprovedKey | undefined): Promise<Placed | undefined> =>
    key?.isSent && !isNew
      ? placeByKey(context, client, { ...body, idempotency_key: key.key }, placing)
      : undefined;
  const taken = new Set<string>();
  return placeOnce(context, {
    ...{ order: body, intent: unkeyed, placing },
    adopt: (found) => found.order,
    existing: async () => (approval === undefined ? undefined : byApproval(await approved())),
    async send({ number, earlier, claim, noteEarlier }) {
      const carried = reference ? undefined : await approved();
      const existing = await byApproval(carried);
      if (existing) return existing;
      const key = reference
        ? attemptKey(reference, number)
        : carried && !carried.isSent
          ? carried.key
          : ((isNew ? undefined : await keyToPayFor(context, unkeyed, await earlier())) ?? randomUUID());
      const keyed: KeyedBody = { ...body, idempotency_key: key };
      const keyOrigin = reference ? 'chosen' : 'made';
      const intent = await intentOf(context, 'order.create', { key, keyOrigin, body: keyed });
      const recorded = await recordIntent(context, intent, { ...placing, claim: claim(key) });
      if (recorded.placed) return recorded.placed;
      if (recorded.isOvertaken) return undefined;
      noteEarlier();
      const sending = recorded.mayBeSent ? 'again' : 'first';
      try {
        return await send(context, client, { intent, body: keyed, sending });
      } catch (error) {
        // Another machine was faster and has placed an order that differs. The next decision finds that order by its
        // reference.
        if (!reference || !isTaken(error) || taken.has(key)) throw error;
        taken.add(key);
        return undefined;
      }
    },
  });
}

/**
 * Key of an earlier attempt at the same order that the service refused because the order must first be paid for. Use
 * the same key again, because the payment belongs to it.
 */
async function keyToPayFor(
  context: OrderContext,
  intent: IntentOf<'order.create'>,
  earlier: readonly Attempt[],
): Promise<string | undefined> {
  if (earlier.length === 0) return undefined;
  const journal = await context.journal();
  const hash = contentHash(intent.operation, intent.body);
  return earlier
    .map(({ key }) => journal.find(key, intent.baseUrl))
    .findLast(
      (record) =>
        record?.state === 'refused' &&
        record.code === ('payment_required' satisfies ErrorCode) &&
        record.body_hash === hash &&
        !wasSentWithOtherKey(record, intent),
    )?.key;
}

/** Whether the key belongs to an order with other content. */
const isTaken = (error: unknown): boolean =>
  error instanceof ErrandError &&
  error.category === 'conflict' &&
  error.facts.code === ('already_exists' satisfies ErrorCode);

/** Places one order per key, no matter what was ordered with other keys. */
async function placeByKey(
  context: OrderContext,
  client: Client,
  body: KeyedBody,
  placing: Placing,
): Promise<Placed> {
  const { idempotency_key: key } = body;
  const intent = await intentOf(context, 'order.create', { key, keyOrigin: 'chosen', body });
  const earlier = await earlierOrder(context, client, intent, body);
  if (earlier) return earlier;
  const recorded = await withEarlier(context, intent, false, async () =>
    recordIntent(context, intent, { ...placing, claim: await keyedClaim(context, body, intent) }),
  );
  if (recorded.placed) return recorded.placed;
  return send(context, client, { intent, body, sending: recorded.mayBeSent ? 'again' : 'first' });
}

/**
 * Shows the request instead of sending it. If the same request is in doubt, shows it with the key in doubt, so that
 * sending it makes no second order. Ends with the exit code that sending would have, as far as that is known without
 * sending.
 */
async function previewed(
  context: OrderContext,
  client: Client,
  body: Body,
  placing: Placing,
): Promise<Placed> {
  const { exitCode, key } = await decidedBefore(context, body, placing);
  const shown = key === undefined ? body : { ...body, idempotency_key: key };
  return previewedWith(exitCode, async () => ({
    order: (await client.call('order.create', { body: shown })).body,
    existed: false,
  }));
}

interface DecidedBefore {
  /** Exit code that sending would have, as far as that is known before; undefined if the request would be sent. */
  readonly exitCode: number | undefined;
  /** The key of the same request in doubt. */
  readonly key: string | undefined;
  /** Whether an existing order meets the need. */
  readonly isMet: boolean;
}

/** What would happen if an order was placed. Does not show the request. @throws ErrandError. */
export const previewOrder = (context: OrderContext, order: Body, placing: Placing): Promise<DecidedBefore> =>
  decidedBefore(context, placing.reference ? withReference(order, placing.reference) : order, placing);

async function decidedBefore(context: OrderContext, body: Body, placing: Placing): Promise<DecidedBefore> {
  const isOpen = body.idempotency_key == null && !placing.isNew && !placing.reference;
  const policy = await notePolicy(context, [await proposedOrder(context, body)], placing);
  const intent = await unsentIntent(context, body);
  const earlier = await previewKey(context, intent, isOpen);
  const isCompared = body.idempotency_key == null && earlier?.isSettled !== true;
  const need = isCompared
    ? await previewNeed(context, body, placing, { isNoted: earlier !== undefined })
    : undefined;
  const exitCode = earlier?.isSettled
    ? earlier.exitCode
    : need?.isMet
      ? undefined
      : (need?.exitCode ?? policy);
  return { exitCode, key: earlier?.key, isMet: need?.isMet === true };
}

/**
 * Settles and returns what a key chosen by the user has produced, or may have produced.
 * @throws ErrandError conflict if the content differs, or if the record has been in doubt for longer than a service
 * remembers a key.
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
  if (!isSame) throw keyOfAnother(context, record, body);
  return adoptOrder(context, client, body, record.order_id);
}

/** An order in the form that a policy check needs. The order's intent does not exist yet. */
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
 * Before the service is contacted, checks that a shared journal can be reached and that this machine's own journal has
 * no open records. A local journal is opened only when it is first needed.
 * @throws StorageError if the shared journal cannot be reached; ErrandError conflict if this machine's own journal has
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
