import type { Batch } from '../../bulk/batch.ts';
import { followBatches } from '../../bulk/follow.ts';
import { defineCommand } from '../../cli/define.ts';
import { checkUuid } from '../../cli/ids.ts';
import { ErrandError, UsageError } from '../../errors.ts';
import { shellLine } from '../../shell-word.ts';

export const results = defineCommand({
  name: 'results',
  summary: "A batch's results as CSV, with the uploader's own columns",
  description:
    'The CSV of the service, with the row numbers of your file (if known here) instead of its indexes, and the reason why an order failed. --raw-csv prints it unchanged.',
  arguments: [{ name: 'id', names: 'batches', description: 'id of the batch', required: true }],
  options: { wait: { kind: 'flag', description: 'wait until every row is placed or has failed' } },
  examples: [
    { command: 'errand bulk results $BATCH > results.csv', note: 'as it stands now' },
    { command: 'errand bulk results $BATCH --wait > results.csv', note: 'whole' },
  ],
  operations: ['bulk.results', 'bulk.get'],
  exitCodes: { 8: 'with --wait: --timeout passed' },
  related: ['bulk get', 'bulk watch'],
  async run(context, { id, wait = false }) {
    const { format, rawCsv, fields, query } = context.output;
    if (fields || query || (format !== 'csv' && format !== 'table'))
      throw new UsageError(
        `the results are the service's own CSV; for ${format} and fields use \`${shellLine`errand bulk get ${id}`}\``,
      );
    const batchId = checkUuid('bulk id', id);
    const client = await context.client();
    const latest = new Map<string, Batch>();
    if (wait) await untilPlaced();
    const batch =
      latest.get(batchId) ?? (await client.call('bulk.get', { path: { batch_id: batchId } })).body;
    if (!wait && (batch.status === 'pending' || batch.status === 'processing'))
      context.note(`the batch is ${batch.status}: not every row is in yet; --wait waits for it`);
    const { chunks } = await client.stream('bulk.results', { path: { batch_id: batchId } });
    if (rawCsv) return { kind: 'stream', chunks };
    const { filledResults } = await import('../../bulk/results-csv.ts');
    return { kind: 'stream', chunks: filledResults(context, chunks, batch) };

    async function untilPlaced(): Promise<void> {
      for await (const event of followBatches(context, [batchId], latest)) {
        if (event.type === 'summary' && event.open > 0 && !context.signal.aborted)
          throw new ErrandError('deadline', '--timeout passed; not every row is placed yet');
      }
    }
  },
});
