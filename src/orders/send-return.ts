import type { ErrorCode } from '../api/error-codes.ts';
import { objectsIn } from '../api/json.ts';
import type { Received } from '../api/received.ts';
import type { Shape } from '../api/schemas/index.ts';
import { plainText } from '../format/path.ts';
import type { Client } from '../http/client.ts';
import { pages } from '../http/paging.ts';
import type { Intent } from '../journal/journal-record.ts';
import { MadeTwiceError } from '../journal/record-result.ts';
import { ErrandError } from '../platform/errors.ts';
import { shellLine } from '../platform/shell.ts';
import type { OrderContext } from '../run/order-context.ts';
import { isCertain, leftInDoubt } from './doubt.ts';
import { existingId, otherKeyOf, withoutId } from './submit/existing.ts';
import type { Made } from './submit/intent.ts';
import { heldCall, refuseIntent, settleIntent } from './submit/send.ts';

export type ReturnBody = Shape<'ReturnRequestCreate'>;
export type ReturnRecord = Received<'return.get'> | Received<'return.create'>;
type Recorded = Pick<Intent, 'key' | 'baseUrl' | 'operation'>;

/** How much the clocks of this machine and of the service may differ, in ms. */
const clocksDifferMs = 3600 * 1000;

/**
 * Sends a journaled return and records the outcome.
 * @param sentSince is the earliest time at which the return may have been sent, in ISO 8601; undefined for a first
 * send.
 */
export async function sendReturn(
  context: OrderContext,
  client: Client,
  intent: Recorded,
  body: ReturnBody,
  sentSince?: string,
): Promise<Made<ReturnRecord>> {
  try {
    const found = sentSince === undefined ? undefined : await findReturn(context, client, body, sentSince);
    const record = found ?? (await create(context, client, intent, body));
    await settleIntent(context, intent, record.id);
    return { order: record, existed: found !== undefined };
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    if (error.facts.code === ('already_exists' satisfies ErrorCode))
      return adoptReturn(context, client, intent, body, error);
    if (sentSince !== undefined || !isCertain(error))
      throw await leftInDoubt(context, error, intent, sentSince === undefined ? 'first' : 'again');
    throw await refuseIntent(context, intent, error);
  }
}

async function create(
  context: OrderContext,
  client: Client,
  intent: Recorded,
  body: ReturnBody,
): Promise<ReturnRecord> {
  const { body: record } = await client.call('return.create', { body }, await heldCall(context, intent));
  const other = await otherKeyOf(context, intent, record.id);
  const differing = [
    ...differences(body, record),
    ...(other === undefined ? [] : [`it is the return of ${other}`]),
  ];
  if (differing.length === 0) return record;
  const what = `the response describes another return than the one that was sent, ${record.id}`;
  throw new ErrandError('in_doubt', `${what}: ${differing.join('; ')}`, { outcome: 'unknown' });
}

/**
 * Handles the error response that says that a return of the same items is open already. The open return may be the
 * requested one or another one.
 */
async function adoptReturn(
  context: OrderContext,
  client: Client,
  intent: Recorded,
  body: ReturnBody,
  errorResponse: ErrandError,
): Promise<Made<ReturnRecord>> {
  try {
    const record = await readOpen(context, client, body, errorResponse);
    await settleIntent(context, intent, record.id);
    return { order: record, existed: true };
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof MadeTwiceError) throw error;
    if (error.category !== 'conflict') throw await leftInDoubt(context, error, intent);
    throw await refuseIntent(context, intent, error);
  }
}

async function readOpen(
  context: OrderContext,
  client: Client,
  body: ReturnBody,
  errorResponse: ErrandError,
): Promise<ReturnRecord> {
  const id = existingId(errorResponse);
  if (id === undefined) throw withoutId(context, errorResponse, { operation: 'return.create' });
  const { body: existing } = await client.call('return.get', { path: { return_request_id: id } });
  const differing = differences(body, existing);
  if (differing.length === 0) return existing;
  throw new ErrandError('conflict', `another return of these items is open, ${id}: ${differing.join('; ')}`, {
    ...errorResponse.facts,
    hint: 'Items can be in one open return at a time.',
    next: [{ command: shellLine`errand return get ${id}`, when: 'to see the return that is open' }],
  });
}

/**
 * Finds a return that has the same content and was created after the first attempt. Ignores returns that another
 * command on this machine has made.
 */
export async function findReturn(
  context: OrderContext,
  client: Client,
  body: ReturnBody,
  since: string,
): Promise<ReturnRecord | undefined> {
  const journal = await context.journal();
  const { value: baseUrl } = context.settings.baseUrl;
  const oldest = Date.parse(since) - clocksDifferMs;
  const query = { search: body.order_id };
  for await (const { rows } of pages(client, 'return.list', { query }, { all: true })) {
    for (const { id, created_at: at } of rows) {
      if (!(Date.parse(String(at)) >= oldest) || journal.madeBy(String(id), baseUrl)) continue;
      const { body: found } = await client.call('return.get', { path: { return_request_id: String(id) } });
      if (differences(body, found).length === 0) return found;
    }
  }
  return undefined;
}

const notEchoed = 'not echoed';
const facts = ['order', 'reason', 'items'] as const;

/**
 * The returns of an order, oldest first. Each return is read individually, because a list may lag.
 * @throws ErrandError.
 */
export async function returnsOfOrder(client: Client, orderId: string): Promise<readonly ReturnRecord[]> {
  const found: ReturnRecord[] = [];
  for await (const { rows } of pages(client, 'return.list', { query: { search: orderId } }, { all: true }))
    for (const { id, order_id: order } of rows)
      if (plainText(order).toLowerCase() === orderId)
        found.unshift((await client.call('return.get', { path: { return_request_id: String(id) } })).body);
  return found;
}

/** Whether a return has the order, lines, quantities and reason of a request. */
export const isSameReturn = (body: ReturnBody, existing: ReturnRecord): boolean =>
  differences(body, existing).length === 0;

/** Differences between an existing return and the request. */
function differences(requested: ReturnBody, existing: ReturnRecord): string[] {
  const requestedFacts = factsOf(requested);
  const there = factsOf(existing);
  return facts
    .filter((fact) => requestedFacts[fact] !== there[fact] && there[fact] !== notEchoed)
    .map((fact) => `${fact} requested ${requestedFacts[fact]}, is ${there[fact]}`);
}

const factsOf = (record: ReturnBody | ReturnRecord): Readonly<Record<(typeof facts)[number], string>> => ({
  order: plainText(record.order_id).toLowerCase() || notEchoed,
  reason: plainText(record.reason) || notEchoed,
  items:
    objectsIn(record, 'items')
      .map(({ order_item_id: id, quantity }) => `${plainText(id).toLowerCase()}=${plainText(quantity)}`)
      .toSorted()
      .join(', ') || notEchoed,
});
