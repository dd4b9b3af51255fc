import { objectsIn, textIn } from '../api/json.ts';
import type { Client } from '../http/client.ts';
import { pages } from '../http/paging.ts';
import type { AttemptState, Reference } from '../journal/attempts.ts';
import { attemptState } from '../orders/needs/outcome.ts';
import { referenceIn, referenceOf } from '../orders/needs/reference.ts';
import type { OrderRecord } from '../orders/order-record.ts';
import { type Day, dateText, dayOf } from './cadence.ts';
import type { StandingEntry } from './entries.ts';

/** Metadata keys of an order placed for an entry. The key for the reference is not among them. */
const entryKey = 'errand_standing';
const versionKey = 'errand_standing_version';

/** Matches the metadata keys that errand reserves for itself. */
export const ownMetadata = /^errand_(?:reference|standing)/;

/** An order for a date of an entry. If the outcome of a request for such an order is unknown, that request. */
export interface DateOrder {
  readonly id: string;
  readonly day: Day;
  /** `intended` means that the outcome of a request is unknown; `id` is then the idempotency key of the request. */
  readonly state: AttemptState;
  /** Version of the entry for which the order was placed. Undefined if the service does not return the version. */
  readonly version: string | undefined;
  /** When the service created the order, in ms since the epoch. */
  readonly madeAt: number;
  readonly order: OrderRecord;
}

/**
 * Reference of the order for a date. It ends in the date, as in `20261201`. Therefore a date keeps its reference when
 * the schedule changes, and gets only one order.
 */
export const referenceFor = ({ id }: Pick<StandingEntry, 'id'>, day: Day): Reference =>
  referenceOf(`standing/${id}/${dateText(day).replaceAll('-', '')}`);

/**
 * Parses the entry's id and the date from the reference of an order. Undefined if the order does not belong to a
 * standing order.
 */
export function occasionIn(metadata: unknown): { readonly id: string; readonly day: Day } | undefined {
  const { namespace, text = '' } = referenceIn(metadata) ?? {};
  const [, id, year, month, date] = /^standing\/([0-9a-f]{12})\/(\d{4})(\d{2})(\d{2})$/.exec(text) ?? [];
  const day = dayOf(`${year}-${month}-${date}`);
  return namespace === '' && id !== undefined && day !== undefined ? { id, day } : undefined;
}

/** The metadata of an order for an entry, apart from the order's reference. */
export const metadataFor = ({ id, version }: StandingEntry): Readonly<Record<string, string>> => ({
  [entryKey]: id,
  [versionKey]: version,
});

/** The version of the entry for which an order was placed. */
export const versionIn = ({ metadata }: OrderRecord): string | undefined => textIn(metadata, versionKey);

/**
 * Lists the orders that the service has for an entry, newest first.
 * @param since excludes orders that were created before this time, in ms since the epoch.
 * @throws ErrandError.
 */
export async function listDateOrders(
  client: Client,
  { id }: Pick<StandingEntry, 'id'>,
  since?: number,
): Promise<readonly DateOrder[]> {
  const found: DateOrder[] = [];
  const query = {
    metadata_key: entryKey,
    metadata_value: id,
    ...(since !== undefined && { created_after: new Date(since).toISOString() }),
  };
  for await (const { rows } of pages(client, 'order.list', { query }, { all: true }))
    for (const order of rows) {
      const { id: of, day } = occasionIn(order.metadata) ?? {};
      if (of !== id || day === undefined || typeof order.id !== 'string') continue;
      found.push(dateOrderOf(order.id, day, order));
    }
  return found;
}

export const stateOf = (order: OrderRecord): AttemptState => attemptState(order, objectsIn(order, 'returns'));

export const dateOrderOf = (id: string, day: Day, order: OrderRecord): DateOrder => ({
  ...{ id, day, order, version: versionIn(order), state: stateOf(order) },
  madeAt: Date.parse(String(order.created_at)) || 0,
});
