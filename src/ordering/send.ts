import type { Context } from '../context.ts';
import type { ErrorCode } from '../contract/error-codes.ts';
import { uuidPattern } from '../contract/limits.ts';
import { ErrandError } from '../errors.ts';
import type { Client } from '../http/client.ts';
import { ServiceError } from '../http/errors.ts';
import { type Grant, readGrant } from '../http/payment-credential.ts';
import type { Row } from '../output/result.ts';
import { inDoubt, isCertain, refuseIntent, type Sending, settleIntent } from './doubt.ts';
import { asObject, readExisting } from './existing.ts';
import type { KeyedBody, Placed } from './placed.ts';

/** How an intent becomes an order: by the key of an account, or paid for. `grant` is what a paid order comes with. */
export type Create = (
  client: Client,
  body: KeyedBody,
) => Promise<{ readonly order: Row & { readonly id: string }; readonly grant?: Grant }>;

const byAccount: Create = async (client, body) => {
  const { body: order } = await client.call('order.create', { body });
  return { order };
};

/** Sends a journaled intent and writes down how it ended. */
export async function send(
  context: Context,
  client: Client,
  body: KeyedBody,
  sending: Sending,
  create: Create = byAccount,
): Promise<Placed> {
  const { idempotency_key: key } = body;
  try {
    const { order, grant } = await create(client, body);
    await settleIntent(context, key, order.id, grant);
    return { order, existed: false };
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (error.facts.code === ('already_exists' satisfies ErrorCode))
      return adoptExisting(context, client, body, error);
    if (sending === 'again' || !isCertain(error)) throw inDoubt(context, error, key, 'order', sending);
    const { code = error.category } = error.facts;
    await refuseIntent(context, key, { code, message: error.message });
    throw new ErrandError(error.category, error.message, {
      ...error.facts,
      idempotencyKey: key,
      cause: error,
    });
  }
}

/** `already_exists`: the order that an earlier try made, if it is the one asked for. */
async function adoptExisting(
  context: Context,
  client: Client,
  body: KeyedBody,
  refusal: ErrandError,
): Promise<Placed> {
  const { idempotency_key: key } = body;
  const id = asObject(refusal.facts.details).identifier;
  if (typeof id !== 'string' || !uuidPattern.test(id)) throw inDoubt(context, refusal, key, 'order');
  try {
    await keepGrant(context, id, refusal);
    const placed = await readExisting(client, body, id, refusal.facts);
    await settleIntent(context, key, id);
    return placed;
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (error.category !== 'conflict') throw inDoubt(context, error, key, 'order');
    await refuseIntent(context, key, { code: 'already_exists', message: refusal.message });
    throw error;
  }
}

/** The answer to a payment that was made before carries the key that reads what it bought. */
async function keepGrant(context: Context, orderId: string, refusal: ErrandError): Promise<void> {
  const grant = refusal instanceof ServiceError ? readGrant(refusal.headers) : undefined;
  if (grant?.apiKey === undefined) return;
  await (await context.journal()).grants.keep(orderId, context.settings.baseUrl.value, grant);
}
