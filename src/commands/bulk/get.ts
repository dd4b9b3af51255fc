import type { Batch } from '../../bulk/batch.ts';
import { batchDetailColumns, batchDetailScreen, batchList } from '../../bulk/batch-columns.ts';
import { layoutOf } from '../../bulk/layout.ts';
import { readReasons } from '../../bulk/reasons.ts';
import { defineCommand } from '../../cli/define.ts';
import { eachId, readIds } from '../../cli/ids.ts';
import type { Context } from '../../context.ts';
import type { Result } from '../../output/result.ts';

export const get = defineCommand({
  name: 'get',
  summary: 'Read batches with their rows and live order statuses',
  arguments: [
    {
      name: 'ids',
      names: 'batches',
      description: 'ids of batches; - reads them from stdin',
      required: true,
      variadic: true,
    },
  ],
  examples: [
    { command: 'errand bulk get $BATCH', note: 'row by row' },
    {
      command: 'errand bulk get $BATCH -o json --query "rows[?status==\'placed\'].order_id"',
      note: 'the orders it made',
    },
  ],
  operations: ['bulk.get'],
  related: ['bulk list', 'bulk watch', 'bulk results'],
  async run(context, { ids }) {
    const wanted = await readIds(context, 'bulk id', ids);
    const client = await context.client();
    const read = async (id: string) => (await client.call('bulk.get', { path: { batch_id: id } })).body;
    const [only] = wanted;
    if (only !== undefined && wanted.length === 1) return record(context, await read(only));
    return { kind: 'list', ...batchList, empty: 'no ids given', ...eachId(context, wanted, read) };
  },
});

/** The service's own record; a table adds what it does not say: the rows' numbers in their file, and why orders failed. */
async function record(context: Context, batch: Batch): Promise<Result> {
  const isTable = context.output.format === 'table';
  const layout = isTable ? await layoutOf(context, batch.id) : undefined;
  const reasons = isTable ? await readReasons(context, [batch]) : new Map();
  const numberOf = layout && ((index: number) => layout.numbers[index]);
  return {
    kind: 'record',
    record: batch,
    columns: batchDetailColumns(numberOf, reasons),
    screen: batchDetailScreen(numberOf, reasons),
  };
}
