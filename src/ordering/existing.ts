import { ErrandError, type ErrorFacts } from '../errors.ts';
import type { Client } from '../http/client.ts';
import { shellLine } from '../shell-word.ts';
import { differences } from './compare.ts';
import type { KeyedBody, Placed } from './placed.ts';

/** Reads an order that has this key. @throws ErrandError conflict with the differences, where it is another order. */
export async function readExisting(
  client: Client,
  body: KeyedBody,
  id: string,
  facts: ErrorFacts,
): Promise<Placed> {
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
    next: [{ command: shellLine`errand order get ${id}`, when: 'to see the order that has this key' }],
  });
}

export const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
