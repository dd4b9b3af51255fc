import { bulkListSeparator } from '../../api/bulk-columns.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { AllHandlers, Call } from '../server/handler.ts';
import { csvLine } from '../server/handler.ts';
import { ErrorResponse } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { lowerCeiling, requireFunds, walletOf } from '../wallet/wallet.ts';
import { type CheckedRow, checkRows } from './check-rows.ts';
import { findBatch, insertBatch, listBatches } from './records.ts';

export const bulkHandlers = {
  'bulk.validate': async (service, { caller, body }) => {
    const rows = await checkRows(service, caller.userId, body.rows);
    const { spendable } = walletOf(service.store, caller.userId);
    const valid = rows.filter(({ shown }) => shown.ok).length;
    const estimate = estimateOf(rows);
    return {
      value: {
        filename: body.filename ?? null,
        total_rows: rows.length,
        valid_rows: valid,
        invalid_rows: rows.length - valid,
        estimated_total_cents: estimate,
        wallet_balance_cents: spendable,
        sufficient_funds: spendable >= estimate,
        billed_by_invoice: false,
        over_credit_limit: false,
        rows: rows.map(({ shown }) => shown),
      },
    };
  },

  'bulk.create': async (service, { caller, body, now }) => {
    const { store, idGenerator, config } = service;
    const { userId } = caller;
    const rows = await checkRows(service, userId, body.rows);
    return store.transaction(() => {
      requireFunds(walletOf(store, userId).spendable, estimateOf(rows), [lowerCeiling]);
      const id = insertBatch(store, idGenerator, { userId, upload: body, rows, now, speed: config.speed });
      return { value: batchOf(service, userId, id) };
    });
  },

  'bulk.list': ({ store }, { caller, query }) => {
    const value = listBatches(store, caller.userId, query);
    return { value, count: value.batches.length };
  },

  'bulk.get': (service, call) => ({ value: ownBatch(service, call) }),

  'bulk.results': (service, call) => ({
    csv: resultsOf(ownBatch(service, call)),
    filename: `batch-${call.path.batch_id}.csv`,
  }),
} satisfies Partial<AllHandlers>;

/** The most that all orders together can cost the wallet, in cents. */
const estimateOf = (rows: readonly CheckedRow[]): number => rows.reduce((sum, { cents }) => sum + cents, 0);

const ownBatch = (service: Service, { caller, path }: Pick<Call<'bulk.get'>, 'caller' | 'path'>) =>
  batchOf(service, caller.userId, path.batch_id);

function batchOf({ store }: Service, userId: string, id: string) {
  const batch = findBatch(store, userId, id);
  if (batch) return batch;
  throw new ErrorResponse('not_found', `There is no batch ${id}.`, { resource: 'batch' });
}

const columns = ['index', 'status', 'order_id', 'order_status', 'error', 'recipient'] as const;

/**
 * A batch's rows as CSV: first the documented columns, then the uploader's own columns in order of first appearance.
 */
function* resultsOf({ rows }: Shape<'BulkBatchResponse'>): Generator<string> {
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
