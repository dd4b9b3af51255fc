import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { errorCodes } from '../contract/error-codes.ts';
import type { Shape } from '../contract/schemas/index.ts';
import { ErrandError, type ErrorFacts } from '../errors.ts';
import type { Row } from '../output/result.ts';
import type { Intent } from '../state/journal.ts';
import { differences } from './compare.ts';
import { inDoubt, isCertain, settleIntent } from './doubt.ts';

type Body = Shape<'OrderCreate'>;
type KeyedBody = Body & { readonly idempotency_key: string };

export interface Placed {
  readonly order: Row;
  /** Set when the order had been made by an earlier try. */
  readonly existed: boolean;
}

/** How long an order in doubt is taken for the same errand when it is asked for again, ms. */
const twinMs = 24 * 3600 * 1000;

/**
 * Places one order for one intent: written to the journal before it is sent, settled when the answer comes.
 * Asked again while the first is in doubt, it settles the first one instead, unless `evenIfInDoubt` or a key is given.
 * @throws ErrandError: in_doubt when no answer came, naming the command that finds out.
 */
export async function placeOrder(
  context: Context,
  body: Body,
  options: { readonly evenIfInDoubt: boolean },
): Promise<Placed> {
  if (context.previewsRequests) return preview(context, body);
  const client = await context.client();
  const keyed: KeyedBody = { ...body, idempotency_key: body.idempotency_key ?? randomUUID() };
  const intent = intentOf(context, keyed);
  const journal = await context.journal();
  const twin =
    options.evenIfInDoubt || body.idempotency_key
      ? undefined
      : journal.findTwin(intent, context.clock.now() - twinMs);
  if (twin) {
    context.note(
      `the same order is in doubt since ${twin.created_at}; settling that one (--new orders another)`,
    );
    journal.claim(twin);
    return send(context, client, { ...keyed, idempotency_key: twin.key }, 'again');
  }
  const settled = journal.settledOrder(intent.key, intent.baseUrl);
  if (settled !== undefined) return readExisting(client, keyed, settled, {});
  const { mayBeSent } = journal.record(intent);
  return send(context, client, keyed, mayBeSent ? 'again' : 'first');
}

type Client = Awaited<ReturnType<Context['client']>>;

/** Shows the request as it would be sent; nothing is journaled. */
async function preview(context: Context, body: Body): Promise<Placed> {
  const client = await context.client();
  const { body: order } = await client.call('order.create', { body });
  return { order, existed: false };
}

function intentOf(context: Context, body: KeyedBody): Intent {
  const { profile, baseUrl } = context.settings;
  return {
    key: body.idempotency_key,
    operation: 'order.create',
    profile: profile.value,
    baseUrl: baseUrl.value,
    keyMasked: context.keyMasked(),
    body,
  };
}

/** Whether an earlier send of the same key may have reached the service. */
export type Sending = 'first' | 'again';

/** Sends a journaled intent and writes down how it ended. */
export async function send(
  context: Context,
  client: Client,
  body: KeyedBody,
  sending: Sending,
): Promise<Placed> {
  const { idempotency_key: key } = body;
  try {
    const { body: order } = await client.call('order.create', { body });
    await settleIntent(context, key, order.id);
    return { order, existed: false };
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (error.facts.status === alreadyExists) return adoptExisting(context, client, body, error);
    if (sending === 'again' || !isCertain(error)) throw inDoubt(context, error, key, 'order');
    const { code = error.category } = error.facts;
    (await context.journal()).refuse(key, context.settings.baseUrl.value, { code, message: error.message });
    throw new ErrandError(error.category, error.message, {
      ...error.facts,
      idempotencyKey: key,
      cause: error,
    });
  }
}

const { status: alreadyExists } = errorCodes.already_exists;

/** `already_exists`: the order that an earlier try made, if it is the one asked for. */
async function adoptExisting(
  context: Context,
  client: Client,
  body: KeyedBody,
  refusal: ErrandError,
): Promise<Placed> {
  const { idempotency_key: key } = body;
  const id = asObject(refusal.facts.details).identifier;
  if (typeof id !== 'string') throw inDoubt(context, refusal, key, 'order');
  try {
    const placed = await readExisting(client, body, id, refusal.facts);
    await settleIntent(context, key, id);
    return placed;
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (error.category !== 'conflict') throw inDoubt(context, error, key, 'order');
    const { value: baseUrl } = context.settings.baseUrl;
    (await context.journal()).refuse(key, baseUrl, { code: 'already_exists', message: refusal.message });
    throw error;
  }
}

/** Reads an order that has this key. @throws ErrandError conflict with the differences, where it is another order. */
async function readExisting(client: Client, body: KeyedBody, id: string, facts: ErrorFacts): Promise<Placed> {
  const { body: order } = await client.call('order.get', { path: { order_id: id } });
  const differing = differences(body, order);
  if (differing.length > 0) throw otherOrder(facts, body.idempotency_key, id, differing);
  return { order, existed: true };
}

function otherOrder(
  facts: ErrorFacts,
  key: string,
  id: string,
  differing: ReturnType<typeof differences>,
): ErrandError {
  const fields = differing.map(
    ({ field, asked, existing }) =>
      `${field}: asked ${JSON.stringify(asked)}, exists ${JSON.stringify(existing)}`,
  );
  return new ErrandError('conflict', `the key ${key} belongs to another order, ${id}: ${fields.join('; ')}`, {
    ...facts,
    code: 'already_exists',
    details: { ...asObject(facts.details), differences: differing },
    idempotencyKey: key,
    outcome: 'rejected',
    hint: 'Use a key of its own for each intent; leave --idempotency-key out to get a fresh one.',
    next: [{ command: `errand order get ${id}`, when: 'to see the order that has this key' }],
  });
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
