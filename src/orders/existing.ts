import { own } from '../contract/json.ts';
import { uuidPattern } from '../contract/limits.ts';
import type { Received } from '../contract/received.ts';
import { ErrandError, type ErrorFacts } from '../errors.ts';
import type { Client } from '../http/client.ts';
import type { OrderContext } from '../order-context.ts';
import { shellLine } from '../shell-word.ts';
import { differingFields } from '../state/content.ts';
import type { Intent, JournalRecord } from '../state/journal-record.ts';
import { whereFlags } from '../where-flags.ts';
import { type Difference, differences, isAnotherOrder } from './compare.ts';
import type { Sending } from './doubt.ts';
import type { KeyedBody, Placed } from './placed.ts';
import { thingOf } from './things.ts';

/** Reads the order that was made of an intent. Differences in how the service spells it are noted. */
export async function adoptOrder(
  context: OrderContext,
  client: Client,
  body: KeyedBody,
  id: string,
): Promise<Placed> {
  const order = await readOrder(client, id);
  tellDifferences(context, id, differences(body, order));
  return { order, existed: true };
}

interface Compared {
  readonly body: KeyedBody;
  readonly id: string;
  readonly refusal: ErrandError;
  readonly sending: Sending;
}

/**
 * Reads the order that has a key of the user's own. Where an earlier attempt may have made it, a service that spells
 * something in a way that nobody foresaw does not make it another order.
 * @throws ErrandError conflict with the differences, where it is another order.
 */
export async function compareOrder(
  context: OrderContext,
  client: Client,
  { body, id, refusal, sending }: Compared,
): Promise<Placed> {
  const order = await readOrder(client, id);
  const differing = differences(body, order);
  const real = differing.filter(({ isSpelling }) => !isSpelling);
  const isOther = sending === 'again' ? isAnotherOrder(body, order) : real.length > 0;
  if (isOther) throw otherOrder(refusal.facts, body.idempotency_key, id, real);
  tellDifferences(context, id, differing);
  return { order, existed: true };
}

/** @throws ErrandError conflict for a key that has led to an order with other content. */
export function keyOfAnother(
  { key, operation, body, order_id: id }: JournalRecord,
  requested: Readonly<Record<string, unknown>>,
): ErrandError {
  const differing = differingFields(operation, requested, body).map((path) => ({
    field: path.join('.'),
    requested: path.reduce<unknown>(own, requested) ?? null,
    existing: path.reduce<unknown>(own, body) ?? null,
    isSpelling: false,
  }));
  return otherOrder({}, key, id ?? '', differing);
}

const readOrder = async (client: Client, id: string): Promise<Received<'order.get'>> =>
  (await client.call('order.get', { path: { order_id: id } })).body;

function tellDifferences(context: OrderContext, id: string, differing: readonly Difference[]): void {
  if (differing.length === 0) return;
  const fields = differing.map(
    ({ field, requested, existing }) =>
      `${field} ${JSON.stringify(existing)} for ${JSON.stringify(requested)}`,
  );
  context.note(`the service has written the order ${id} its own way: ${fields.join(', ')}`);
}

function otherOrder(
  facts: ErrorFacts,
  key: string,
  id: string,
  differing: readonly Difference[],
): ErrandError {
  const fields = differing.map(
    ({ field, requested, existing }) =>
      `${field}: requested ${JSON.stringify(requested)}, exists ${JSON.stringify(existing)}`,
  );
  return new ErrandError('conflict', `the key ${key} belongs to another order, ${id}: ${fields.join('; ')}`, {
    ...facts,
    code: 'already_exists',
    details: {
      ...asObject(facts.details),
      differences: differing.map(({ isSpelling: _, ...difference }) => difference),
    },
    idempotencyKey: key,
    outcome: 'rejected',
    hint: 'Use a key of its own for each intent; leave --idempotency-key out to get a fresh one.',
    next: [{ command: shellLine`errand order get ${id}`, when: 'to see the order that has this key' }],
  });
}

/** The id of what exists already; undefined where the service names it by none that can be read. */
export function existingId({ facts }: ErrandError): string | undefined {
  const { identifier: id } = asObject(facts.details);
  return typeof id === 'string' && uuidPattern.test(id) ? id : undefined;
}

/** In place of a refusal whose id cannot be read: what the service wrote there is not repeated. */
export function withoutId(
  context: OrderContext,
  refusal: ErrandError,
  { operation }: Pick<Intent, 'operation'>,
): ErrandError {
  const { one, list } = thingOf(operation);
  return new ErrandError(
    refusal.category,
    `the ${one} exists already, and the service names it by no id that can be read`,
    {
      ...refusal.facts,
      details: null,
      hint: `The newest of the list may be this ${one}.`,
      next: [{ command: `${list}${whereFlags(context)}`, when: 'to look for it' }],
      cause: refusal,
    },
  );
}

export const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
