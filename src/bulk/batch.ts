import { type JsonObject, numberIn, objectsIn, textIn } from '../api/json.ts';
import type { Received } from '../api/received.ts';

export type Batch = Received<'bulk.get'>;

/** A row of a batch as far as it can be read. */
export interface BatchRow {
  /** Its number among the rows of the batch, from 0. */
  readonly index: number;
  readonly status: string | undefined;
  readonly orderId: string | undefined;
  readonly orderStatus: string | undefined;
  readonly error: string | undefined;
  /** As it came. */
  readonly record: JsonObject;
}

/** The rows of a batch; one that does not say its number has that of its place. */
export const rowsOf = (batch: { readonly rows?: unknown }): BatchRow[] =>
  objectsIn(batch, 'rows').map((record, place) => {
    const index = numberIn(record, 'index');
    return {
      index: index !== undefined && Number.isSafeInteger(index) ? index : place,
      status: textIn(record, 'status'),
      orderId: textIn(record, 'order_id'),
      orderStatus: textIn(record, 'order_status'),
      error: textIn(record, 'error'),
      record,
    };
  });
