import { textIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import { layoutOf } from '../../bulk/csv/headings.ts';
import { readOutcomes, withOutcomes } from '../../bulk/needs/later-attempts.ts';
import { type Batch, rowsOf, stateOf } from '../../bulk/upload/batch.ts';
import {
  batchDetailColumns,
  batchDetailScreen,
  rawBatchColumns,
  readReasons,
  wholeBatchList,
} from '../../bulk/upload/columns.ts';
import { withMetOrders } from '../../bulk/upload/met-orders.ts';
import { batchesArgument, type KnownUpload, namedBatches } from '../../bulk/upload/named.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Result } from '../../format/result.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { eachId } from '../../run/ids.ts';

export const get = defineCommand({
  name: 'get',
  summary: 'Read batches with their rows and live order statuses',
  arguments: [batchesArgument],
  examples: [
    { command: 'errand bulk get $BATCH', note: 'row by row' },
    { command: 'errand bulk get december', note: 'every batch of an upload' },
    {
      command: 'errand bulk get $BATCH -o json --query "rows[?status==\'placed\'].order_id"',
      note: 'the orders it made',
    },
  ],
  output: [
    { record: 'bulk.get', when: 'for one id' },
    { list: 'bulk.get', when: 'for several' },
  ],
  operations: ['bulk.get'],
  related: ['bulk list', 'bulk watch', 'bulk results'],
  async run(context, { ids }) {
    const { ids: requested, uploads } = await namedBatches(context, ids);
    const client = await context.client();
    const read = async (id: string): Promise<Batch> => {
      const { body } = await client.call('bulk.get', { path: { batch_id: id } });
      return context.output.format === 'table' ? withStates(context, uploads, body) : body;
    };
    const [only] = requested;
    if (only !== undefined && requested.length === 1) return record(context, await read(only));
    return { kind: 'list', ...wholeBatchList, empty: 'no ids given', ...eachId(context, requested, read) };
  },
});

/** Adds what a batch does not tell of its rows. */
async function withStates(context: Context, uploads: readonly KnownUpload[], batch: Batch): Promise<Batch> {
  const read = await withMetOrders(context, [batch]);
  const outcomes = await readOutcomes(context, { uploads, counted: (batches) => [...batches] }, read);
  const [whole = batch] = withOutcomes(read, outcomes);
  return whole;
}

/**
 * The service's own record. A table adds what the record lacks: row numbers in the file, the state of each row, the
 * orders that rows matched or that met them since, and failure reasons.
 */
async function record(context: Context, batch: Batch): Promise<Result> {
  const hints = orderHints(context, batch);
  if (context.output.format !== 'table')
    return { kind: 'record', record: batch, columns: rawBatchColumns, hints };
  const layout = await layoutOf(context, batch.id);
  const reasons = await readReasons(context, [batch]);
  const numberOf = layout && ((index: number) => layout.numbers[index]);
  return {
    kind: 'record',
    record: batch,
    columns: batchDetailColumns(numberOf, reasons),
    screen: batchDetailScreen(numberOf, reasons),
    hints,
  };
}

/**
 * Hints at the command that lists the placed orders, because a placed row does not say whether its order is under way,
 * delivered or lost.
 */
function orderHints(context: Context, batch: Batch): string[] {
  const rows = rowsOf(batch);
  if (!rows.some((row) => stateOf(row, batch) === 'placed')) return [];
  const made = textIn(batch, 'created_at') ?? '';
  const since = Number.isNaN(Date.parse(made)) ? '' : ` --created-after ${shellWord(made)}`;
  const all = rows.length > limits.orderListLimit.default ? ' --all' : '';
  return [`what became of its orders: errand order list${since}${all}${whereFlags(context)}`];
}
