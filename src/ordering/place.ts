import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Shape } from '../contract/schemas/index.ts';
import { ErrandError } from '../errors.ts';
import type { Row } from '../output/result.ts';
import { differences } from './compare.ts';

type Body = Shape<'OrderCreate'>;

export interface Placed {
  readonly order: Row;
  /** Set when the order had been made by an earlier try. */
  readonly existed: boolean;
}

/**
 * Places one order for one intent: written to the journal before it is sent, settled when the answer comes.
 * `already_exists` for the same body is success; the existing order is read and compared.
 * @throws ErrandError: in_doubt when no answer came, naming the command that finds out.
 */
export async function placeOrder(context: Context, body: Body): Promise<Placed> {
  const key = body.idempotency_key ?? randomUUID();
  const keyed: Body = { ...body, idempotency_key: key };
  const client = await context.client();
  const journal = await context.journal();
  journal.record(client.intent('order.create', key, keyed));
  return sendIntent(context, key, keyed);
}

/** Sends a journaled intent, for the first time or again, and writes down how it ended. */
export async function sendIntent(context: Context, key: string, body: Body): Promise<Placed> {
  const client = await context.client();
  const journal = await context.journal();
  try {
    const { body: order } = await client.call('order.create', { body });
    journal.settle(key, { orderId: order.id });
    return { order, existed: false };
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (error.facts.code === 'already_exists') return adoptExisting(context, key, body, error);
    const { outcome } = error.facts;
    if (outcome === 'rejected' || outcome === 'not_sent') {
      journal.refuse(key, { code: error.facts.code ?? error.category, message: error.message });
      throw withKey(error, key);
    }
    throw inDoubt(error, key);
  }
}

/** The order that an earlier try made, if it is the one asked for. @throws conflict with the differences if not. */
async function adoptExisting(
  context: Context,
  key: string,
  body: Body,
  refusal: ErrandError,
): Promise<Placed> {
  const client = await context.client();
  const journal = await context.journal();
  const id = existingId(refusal.facts.details);
  if (id === undefined) throw inDoubt(refusal, key);
  let order: Row;
  try {
    order = (await client.call('order.get', { path: { order_id: id } })).body;
  } catch (error) {
    throw error instanceof ErrandError ? inDoubt(error, key) : error;
  }
  const differing = differences(body, order);
  if (differing.length === 0) {
    journal.settle(key, { orderId: id });
    return { order, existed: true };
  }
  journal.refuse(key, { code: 'already_exists', message: refusal.message });
  const fields = differing.map(
    ({ field, asked, existing }) =>
      `${field}: asked ${JSON.stringify(asked)}, exists ${JSON.stringify(existing)}`,
  );
  throw new ErrandError('conflict', `the key ${key} belongs to another order, ${id}: ${fields.join('; ')}`, {
    ...refusal.facts,
    details: { ...asObject(refusal.facts.details), differences: differing },
    idempotencyKey: key,
    outcome: 'rejected',
    hint: 'Use a key of its own for each intent; leave --idempotency-key out to get a fresh one.',
    next: [{ command: `errand order get ${id}`, when: 'to see the order that has this key' }],
  });
}

function existingId(details: unknown): string | undefined {
  const id = asObject(details).identifier;
  return typeof id === 'string' ? id : undefined;
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

const withKey = (error: ErrandError, key: string): ErrandError =>
  new ErrandError(error.category, error.message, { ...error.facts, idempotencyKey: key, cause: error });

/** The order may exist. Interruption keeps its own exit code; everything else is exit 10. */
function inDoubt(error: ErrandError, key: string): ErrandError {
  const stopped = error.category === 'interrupted' || error.category === 'terminated';
  return new ErrandError(
    stopped ? error.category : 'in_doubt',
    `in doubt: the order was sent and no answer came (${error.message})`,
    {
      ...error.facts,
      outcome: 'unknown',
      retryable: true,
      idempotencyKey: key,
      cause: error,
      hint: 'Do not order again: resuming sends the same key, so that exactly one order comes of it.',
      next: [{ command: `errand order journal resume ${key}`, when: 'to find out, safely' }],
    },
  );
}
