import { own } from '../../api/json.ts';
import { uuidPattern } from '../../api/limits.ts';
import type { Received } from '../../api/received.ts';
import type { Client } from '../../http/client.ts';
import { differingFields } from '../../journal/content.ts';
import type { Intent, JournalRecord, KeyOrigin } from '../../journal/journal-record.ts';
import { ErrandError, type ErrorFacts } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import {
  absentAsNull,
  type Difference,
  differences,
  differencesText,
  hasOtherRecipient,
  isOtherThanRequested,
  shownDifferences,
} from '../compare.ts';
import type { Sending } from '../doubt.ts';
import { type KeyedBody, labelsOf, type Placed } from './intent.ts';

/**
 * Fetches the order that the journal has for an intent. Mentions differences in spelling in a note.
 * @throws ErrandError in_doubt if the service describes another order under this id.
 */
export async function adoptOrder(
  context: OrderContext,
  client: Client,
  body: KeyedBody,
  id: string,
): Promise<Placed> {
  const order = await readOrder(client, id);
  const compared = absentAsNull(order);
  const differing = differences(body, compared);
  if (isOtherThanRequested(body, compared)) {
    const what = `the journal has the order ${id} for ${body.idempotency_key}, and the service describes another one`;
    throw new ErrandError('in_doubt', `in doubt: ${what}: ${differencesText(differing)}`, {
      details: { order_id: id, differences: shownDifferences(differing) },
      idempotencyKey: body.idempotency_key,
      outcome: 'unknown',
      retryable: true,
      hint: 'Check whether the order exists before you order again.',
      next: [
        { command: `${labelsOf('order.create').list}${whereFlags(context)}`, when: 'to look for it' },
        { command: shellLine`errand order get ${id}` + whereFlags(context), when: 'to see the other one' },
      ],
    });
  }
  noteDifferences(context, id, differing);
  return { order, existed: true };
}

interface Refused {
  readonly intent: Pick<Intent, 'key' | 'baseUrl'> & { readonly keyOrigin: KeyOrigin };
  readonly body: KeyedBody;
  readonly refusal: ErrandError;
  readonly sending: Sending;
}

/**
 * Fetches the existing order that the service names instead of creating a new one. If an earlier attempt may have
 * created that order, unexpected spelling alone does not make it a different order.
 * @throws ErrandError conflict with the differences, if a key chosen by the user belongs to another order; `rejected`
 * if the service names a different order.
 */
export async function readExisting(
  context: OrderContext,
  client: Client,
  { intent, body, refusal, sending }: Refused,
  id: string,
): Promise<Placed> {
  const order = await readOrder(client, id);
  const compared = absentAsNull(order);
  const differing = differences(body, compared);
  const real = differing.filter(({ isVariant }) => !isVariant);
  const isOther = isOtherThanRequested(body, compared);
  if (intent.keyOrigin === 'chosen' && (sending === 'again' ? isOther : real.length > 0))
    throw otherOrder(context, refusal.facts, { key: intent.key, id, differing: real });
  // A random key is unique. If the service names another order for the key, the service is mistaken.
  if (isOther || hasOtherRecipient(body, order)) throw namesAnother(refusal, id, differencesText(real), real);
  noteDifferences(context, id, differing);
  return { order, existed: true };
}

/** Key of another intent that produced the same order, batch or return. */
export const otherKeyOf = async (
  context: OrderContext,
  { key, baseUrl }: Pick<Intent, 'key' | 'baseUrl'>,
  id: string,
): Promise<string | undefined> => (await context.journal()).otherKeyOf(id, key, baseUrl);

/** The error if the service names a different order as the existing one. */
export function namesAnother(
  { facts }: ErrandError,
  id: string,
  why: string,
  differing: readonly Difference[] = [],
): ErrandError {
  const message = `the service says that the order exists already, and names another one, ${id}: ${why}`;
  return new ErrandError('in_doubt', message, {
    ...facts,
    details: { ...asObject(facts.details), differences: shownDifferences(differing) },
    outcome: 'rejected',
  });
}

/** Differences between a request and the content of a record of the same operation. Pure. */
export const recordDifferences = (
  { operation, body }: Pick<JournalRecord, 'operation' | 'body'>,
  requested: Readonly<Record<string, unknown>>,
): readonly Difference[] =>
  differingFields(operation, requested, body).map((path) => ({
    field: path.join('.'),
    requested: path.reduce<unknown>(own, requested) ?? null,
    existing: path.reduce<unknown>(own, body) ?? null,
    isVariant: false,
  }));

/** The conflict error for a key that has already produced an order with other content. */
export function keyOfAnother(
  context: OrderContext,
  record: JournalRecord,
  requested: Readonly<Record<string, unknown>>,
): ErrandError {
  const differing = recordDifferences(record, requested);
  return otherOrder(context, {}, { key: record.key, id: record.order_id ?? '', differing });
}

/** Fetches an order. @throws ErrandError in_doubt if the response is about a different order. */
export async function readOrder(client: Client, id: string): Promise<Received<'order.get'>> {
  const { body: order } = await client.call('order.get', { path: { order_id: id } });
  if (order.id.toLowerCase() === id.toLowerCase()) return order;
  const message = `the service was asked for the order ${id}, and describes ${order.id}`;
  throw new ErrandError('in_doubt', message, { outcome: 'unknown', retryable: true });
}

function noteDifferences(context: OrderContext, id: string, differing: readonly Difference[]): void {
  if (differing.length === 0) return;
  const fields = differing.map(
    ({ field, requested, existing }) =>
      `${field} ${JSON.stringify(existing)} for ${JSON.stringify(requested)}`,
  );
  context.note(`the service has written the order ${id} its own way: ${fields.join(', ')}`);
}

function otherOrder(
  context: OrderContext,
  facts: ErrorFacts,
  {
    key,
    id,
    differing,
  }: { readonly key: string; readonly id: string; readonly differing: readonly Difference[] },
): ErrandError {
  const message = `the key ${key} belongs to another order, ${id}: ${differencesText(differing)}`;
  return new ErrandError('conflict', message, {
    ...facts,
    code: 'already_exists',
    details: { ...asObject(facts.details), differences: shownDifferences(differing) },
    idempotencyKey: key,
    outcome: 'rejected',
    hint: 'Use a key of its own for each intent; leave --idempotency-key out to get a fresh one.',
    next: [
      {
        command: shellLine`errand order get ${id}` + whereFlags(context),
        when: 'to see the order that has this key',
      },
    ],
  });
}

/** Id of the existing item that a refusal names; undefined if the id is missing or invalid. */
export function existingId({ facts }: ErrandError): string | undefined {
  const { identifier: id } = asObject(facts.details);
  return typeof id === 'string' && uuidPattern.test(id) ? id : undefined;
}

/** Builds an error to replace a refusal whose id cannot be read. Does not repeat what the service sent. */
export function withoutId(
  context: OrderContext,
  refusal: ErrandError,
  { operation }: Pick<Intent, 'operation'>,
): ErrandError {
  const { one, list } = labelsOf(operation);
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

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
