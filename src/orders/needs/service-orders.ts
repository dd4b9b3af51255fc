import type { Received } from '../../api/received.ts';
import type { Client } from '../../http/client.ts';
import { pages } from '../../http/paging.ts';
import { unlessMissing } from '../../http/response.ts';
import type { AttemptState, Reference } from '../../journal/attempts.ts';
import { readOrder } from '../submit/existing.ts';
import { attemptState, mayBeReturned, type ReturnedLines } from './outcome.ts';
import { metadataOf, referenceIn, referenceKey } from './reference.ts';

/** An order as the service has it now, and the resulting state of the order's attempt. */
export interface SeenOrder {
  readonly order: Received<'order.get'>;
  readonly state: AttemptState;
  /** When the service created the order, in ms since the epoch. */
  readonly madeAt: number;
}

/** Finds the service's orders that have a given reference. */
export interface ReferenceList {
  /** Ids of the orders that have a reference. @throws ErrandError. */
  idsOf(reference: Reference): Promise<readonly string[]>;
}

/** Sends one query per reference. */
export const listedByReference = (client: Client): ReferenceList => ({
  async idsOf(reference) {
    const value = metadataOf(reference);
    const query = { metadata_key: referenceKey, metadata_value: value };
    const ids: string[] = [];
    // A service that does not support the filter lists every order.
    for await (const { rows } of pages(client, 'order.list', { query }, { all: true }))
      for (const { id, metadata } of rows) if (typeof id === 'string' && isOf(metadata, value)) ids.push(id);
    return ids;
  },
});

function isOf(metadata: unknown, value: string): boolean {
  const reference = referenceIn(metadata);
  return reference !== undefined && metadataOf(reference) === value;
}

/** Orders that have a reference, each read individually because a list may lag. @throws ErrandError. */
export async function ordersOf(
  client: Client,
  list: ReferenceList,
  reference: Reference,
): Promise<readonly SeenOrder[]> {
  const seen: SeenOrder[] = [];
  for (const id of await list.idsOf(reference)) {
    const one = await seeOrder(client, id);
    if (one) seen.push(one);
  }
  return seen;
}

/**
 * Reads an order and derives its state; undefined if the service has no such order. @throws ErrandError if the order or
 * its state cannot be determined.
 */
export async function seeOrder(client: Client, id: string): Promise<SeenOrder | undefined> {
  const order = await unlessMissing(readOrder(client, id));
  return order && seeListed(client, order);
}

/** Derives the state of an order that was just read. @throws ErrandError if the state cannot be determined. */
export async function seeListed(client: Client, order: Received<'order.get'>): Promise<SeenOrder> {
  const returns = mayBeReturned(order) ? await returnsOf(client, order.id) : [];
  return { order, state: attemptState(order, returns), madeAt: Date.parse(String(order.created_at)) || 0 };
}

async function returnsOf(client: Client, id: string): Promise<readonly ReturnedLines[]> {
  const found: ReturnedLines[] = [];
  for await (const { rows } of pages(client, 'return.list', { query: { search: id } }, { all: true }))
    found.push(...rows.filter((one) => String(one.order_id).toLowerCase() === id.toLowerCase()));
  return found;
}
