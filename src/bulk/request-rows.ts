import { randomUUID } from 'node:crypto';
import { rowReader } from '../api/bulk-row.ts';
import type { Shape } from '../api/schemas/index.ts';
import type { Placing } from '../orders/placed.ts';
import type { BatchIntent } from '../orders/send-batch.ts';
import { keyOfRows, RowKeys } from './rows.ts';

/** The name of a batch whose request has none. */
const unnamed = 'request';

/**
 * The batch of a request that was written by hand, each row with its key, as an upload of the same rows gives it: the same
 * rows place nothing twice, whichever command sends them.
 */
export function batchOfRequest(
  { filename, rows, notify_on_complete: notifies }: Shape<'BulkUploadRequest'>,
  { isNew }: Pick<Placing, 'isNew'>,
): { readonly batch: BatchIntent; readonly hasOwnKeys: boolean } {
  const read = rowReader();
  const keys = new RowKeys(isNew ? randomUUID() : '');
  const given = rows.map((row) => {
    const { plan, values: cells, row: order } = read(textsOf(row));
    return { plan, cells, row: order };
  });
  const keyed = given.map((row) => keys.keyed(row));
  return {
    batch: { key: keyOfRows(keyed), filename: filename || unnamed, rows: keyed, notifies: notifies === true },
    hasOwnKeys: given.every(({ row }) => row.cell('idempotency_key') !== ''),
  };
}

const textsOf = (row: Shape<'BulkUploadRequest'>['rows'][number]): Record<string, string> =>
  Object.fromEntries(Object.entries(row).map(([heading, cell]) => [heading, String(cell ?? '')]));
