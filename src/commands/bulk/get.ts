import { textIn } from '../../api/json.ts';
import { limits } from '../../api/limits.ts';
import type { Output } from '../../api/outputs/index.ts';
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
import type { RecordResult } from '../../format/result.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { eachId } from '../../run/ids.ts';

/** A batch as it is printed. */
type Shown = Batch & Output<'BatchWithStates'>;

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
    {
      command: 'errand bulk get $BATCH -o json --query "rows[?state==\'failed\'].index"',
      note: 'the rows that no order has met since',
    },
  ],
  output: [
    { record: 'BatchWithStates', when: 'for one id' },
    { list: 'BatchWithStates', when: 'for several' },
  ],
  operations: ['bulk.get'],
  related: ['bulk list', 'bulk watch', 'bulk results'],
  async run(context, { ids }) {
    const { ids: requested, uploads } = await namedBatches(context, ids);
    const client = await context.client();
    const read = async (id: string): Promise<Shown> => {
      const { body } = await client.call('bulk.get', { path: { batch_id: id } });
      const whole = await withKnown(context, uploads, body);
      return withStates(context.output.format === 'table' ? whole : body, whole);
    };
    const [only] = requested;
    if (only !== undefined && requested.length === 1) return record(context, await read(only));
    return { kind: 'list', ...wholeBatchList, empty: 'no ids given', ...eachId(context, requested, read) };
  },
});

/** Adds facts about a batch's rows that are missing from the service's response. */
async function withKnown(context: Context, uploads: readonly KnownUpload[], batch: Batch): Promise<Batch> {
  const read = await withMetOrders(context, [batch]);
  const outcomes = await readOutcomes(context, { uploads, counted: (batches) => [...batches] }, read);
  const [whole = batch] = withOutcomes(read, outcomes);
  return whole;
}

/**
 * Adds a state to each row of a batch.
 * @param whole is the batch with all known facts. The states are derived from it.
 */
function withStates(batch: Batch, whole: Batch): Shown {
  const states = rowsOf(whole).map((row) => stateOf(row, whole));
  const rows = rowsOf(batch).map(({ record: row }, at) => ({ ...row, state: states[at] ?? 'unknown' }));
  // The cast is safe because each row only gains a state.
  return { ...batch, rows } as Shown;
}

/**
 * Result for a single batch. A table also shows what the record does not contain: row numbers in the file, the state of
 * each row, earlier orders that already meet the need of a row, and failure reasons.
 */
async function record(context: Context, batch: Shown): Promise<RecordResult<Shown>> {
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
 * Suggests the command that lists the placed orders. A placed row does not show whether its order is still under way,
 * delivered or lost.
 */
function orderHints(context: Context, batch: Batch): string[] {
  const rows = rowsOf(batch);
  if (!rows.some((row) => stateOf(row, batch) === 'placed')) return [];
  const made = textIn(batch, 'created_at') ?? '';
  const since = Number.isNaN(Date.parse(made)) ? '' : ` --since ${shellWord(made)}`;
  const all = rows.length > limits.orderListLimit.default ? ' --all' : '';
  return [`what became of its orders: errand order list${since}${all}${whereFlags(context)}`];
}
