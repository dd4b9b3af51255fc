import { bulkListSeparator } from '../../api/bulk-columns.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { csvLine } from '../server/csv.ts';

const columns = ['index', 'status', 'order_id', 'order_status', 'error', 'recipient'] as const;

/** A batch's rows as CSV: the documented columns, then the uploader's own in their first-seen order. */
export function* resultsOf({ rows }: Shape<'BulkBatchResponse'>): Generator<string> {
  const custom = new Set<string>();
  for (const { passthrough } of rows) for (const heading of Object.keys(passthrough)) custom.add(heading);
  const own = [...custom];
  yield csvLine([...columns, 'product_urls', ...own]);
  for (const row of rows) {
    const urls = row.product_urls.join(bulkListSeparator);
    const cells = own.map((heading) =>
      Object.hasOwn(row.passthrough, heading) ? row.passthrough[heading] : '',
    );
    yield csvLine([...columns.map((column) => row[column]), urls, ...cells]);
  }
}
