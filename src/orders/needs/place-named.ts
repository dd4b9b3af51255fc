import type { Client } from '../../http/client.ts';
import type { Attempt, AttemptChange, Reference } from '../../journal/attempts.ts';
import { contentHash } from '../../journal/content.ts';
import { isOthers } from '../../journal/take-over.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Consent } from '../../spending/options.ts';
import { notePolicy } from '../../spending/policy-gate.ts';
import type { Body, KeyedBody, Placed } from '../submit/intent.ts';
import { intentOf } from '../submit/intent.ts';
import { recordOnce } from '../submit/repeats.ts';
import { resumeKnown } from '../submit/resume.ts';
import { send } from '../submit/send.ts';
import { proposedOrder, readyToSend } from '../submit/submit.ts';
import type { Decision } from './decide.ts';
import {
  claimOf,
  type DecidedOrder,
  decideWithService,
  type NeedSources,
  orderSeen,
} from './decide-with-service.ts';
import { attemptKey, metadataOf, referenceKey } from './reference.ts';
import { afterText, refusedReference } from './refused.ts';
import { listedByReference } from './service-orders.ts';
import { windowsFor } from './windows.ts';

/** An order with a reference. */
export interface Named extends Consent {
  readonly reference: Reference;
  /** Orders again what was cancelled or returned. */
  readonly again: boolean;
  /** By the service's clock, ms since the epoch. */
  readonly now: () => number;
}

/** How long to wait for another process that is placing the same order, ms. */
const maxWaitMs = 3_000;
const pauseMs = 40;
/**
 * Age in ms after which an attempt without an intent counts as never sent. A shared database persists the two
 * separately.
 */
const claimMs = 120_000;

/**
 * Places the order of a reference. If the service already has a live order for it, returns that order instead,
 * whichever machine placed it. @throws ErrandError conflict if the live order differs, or if the outcome of an attempt
 * is unknown; unavailable if the service cannot be queried, in which case nothing is sent.
 */
export async function placeNamed(context: OrderContext, order: Body, named: Named): Promise<Placed> {
  const { reference, again, now, ...consent } = named;
  const body = { ...order, metadata: { ...order.metadata, [referenceKey]: metadataOf(reference) } };
  await readyToSend(context);
  const client = await context.client();
  if (context.previewsRequests) {
    await notePolicy(context, [await proposedOrder(context, body)]);
    return { order: (await client.call('order.create', { body })).body, existed: false };
  }
  const sources = await sourcesFor(context, client, body, named);
  const agreed = new Set<string>();
  for (;;) {
    const door = context.interactive.yes ? 'terminal' : 'script';
    const requested = { door, statement: { again, agreed }, windows: windowsFor('live') } as const;
    const decided = await decideWithService(sources, requested, body, reference);
    const { decision } = decided;
    if (decision.do === 'adopt') return adopted(context, decision, decided);
    if (decision.do === 'refuse') throw refusedReference(context, body, reference, decision, decided);
    if (decision.do === 'ask') {
      const refusal = refusedReference(context, body, reference, decision, decided);
      await agreeToAnother(context, refusal);
      for (const { key } of decision.attempts) agreed.add(key);
      continue;
    }
    const placed = await sendAttempt(
      context,
      sources,
      { body, reference, decided, number: decision.number },
      consent,
    );
    if (placed) return placed;
  }
}

async function sourcesFor(
  context: OrderContext,
  client: Client,
  body: Body,
  { now }: Pick<Named, 'now'>,
): Promise<NeedSources> {
  const { account } = await context.sender();
  return {
    attempts: await (await context.journal()).attempts(),
    scope: {
      service: context.settings.baseUrl.value,
      accounts: [account],
      isTest: context.isRehearsal(),
    },
    client,
    list: listedByReference(client),
    now,
    settle: (attempt) => settleAttempt(context, body, attempt, now()),
  };
}

/** Records the attempt with its intent, and sends it. @returns undefined if another process decided meanwhile. */
async function sendAttempt(
  context: OrderContext,
  sources: NeedSources,
  {
    body,
    reference,
    decided,
    number,
  }: {
    readonly body: Body;
    readonly reference: Reference;
    readonly decided: DecidedOrder;
    readonly number: number;
  },
  consent: Consent,
): Promise<Placed | undefined> {
  const { now } = sources;
  const { seen, decision } = decided;
  const keyed: KeyedBody = { ...body, idempotency_key: attemptKey(reference, number) };
  const key = keyed.idempotency_key;
  const intent = await intentOf(context, 'order.create', { key, keyOrigin: 'chosen', body: keyed });
  const recorded = await recordOnce(context, intent, 'none', {
    ...consent,
    claim: claimOf(sources, decided, () => ({
      ...{ run: undefined, number, key, operation: intent.operation, upload: undefined },
      ...{ orderId: undefined, state: 'intended', madeAt: now(), seenAt: undefined },
    })),
  });
  if (recorded.placed) return recorded.placed;
  if (recorded.isOvertaken) return undefined;
  if (decision.do === 'send' && decision.after) context.note(afterText(number, decision.after, seen, now()));
  const client = await context.client();
  return send(context, client, { intent, body: keyed, sending: recorded.mayBeSent ? 'again' : 'first' });
}

/** Returns the live order. If an interrupted command placed it, marks that command's record as reported by this run. */
async function adopted(
  context: OrderContext,
  { attempts }: Extract<Decision, { readonly do: 'adopt' }>,
  { seen }: DecidedOrder,
): Promise<Placed> {
  const [live] = attempts;
  const found = live && orderSeen(seen, live);
  if (!found) throw new Error('an order that was decided on was not read');
  const journal = await context.journal();
  const record = journal.madeBy(found.order.id, context.settings.baseUrl.value);
  if (record) journal.recall(record);
  return { order: found.order, existed: true };
}

/** @throws ErrandError interrupted if the user declines. */
async function agreeToAnother(context: OrderContext, refusal: ErrandError): Promise<void> {
  context.note(refusal.message.replace('; nothing was ordered', ''));
  if (await context.confirm('Order another one?')) return;
  const { facts } = refusal;
  const next = facts.next ?? [{ command: typedCommand(context.argv ?? []), when: 'to be asked again' }];
  throw new ErrandError('interrupted', 'no second order was placed', { outcome: 'not_sent', next });
}

/** Determines from the journal the outcome of an attempt whose order is unknown. */
async function settleAttempt(
  context: OrderContext,
  body: Body,
  { key, state, madeAt }: Attempt,
  now: number,
): Promise<Omit<AttemptChange, 'serial' | 'seenAt'>> {
  const journal = await context.journal();
  const deadline = new Deadline(context.clock, maxWaitMs);
  for (;;) {
    const record = journal.find(key, context.settings.baseUrl.value);
    if (!record) return { state: state === 'intended' && now - madeAt > claimMs ? 'unsent' : state };
    if (record.order_id !== null) return { state: 'placed', orderId: record.order_id };
    if (record.state === 'refused') return { state: 'failed' };
    if (record.state !== 'intended') return { state: 'unknown' };
    if (!isOthers(record)) {
      // A request with different content cannot settle the request in doubt.
      if (record.body_hash !== contentHash(record.operation, body)) return { state };
      context.note(`an order for this reference is in doubt since ${record.created_at}; settling that one`);
      const { order } = await resumeKnown(context, 'order.create', record);
      return { state: 'placed', orderId: String(order.id) };
    }
    if (!(await deadline.pause(pauseMs, context.signal))) return { state };
    await journal.refresh('now');
  }
}
