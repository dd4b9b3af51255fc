import { ErrandError, UsageError } from '../../errors.ts';
import { defineCommand } from '../define.ts';
import { checkUuid } from '../ids.ts';
import { type Batch, followBatches } from './follow.ts';

export const results = defineCommand({
  name: 'results',
  summary: "A batch's results as CSV, with the uploader's own columns",
  arguments: [{ name: 'id', description: 'id of the batch', required: true }],
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
        `the results are the service's own CSV; for ${format} and fields use \`errand bulk get ${id}\``,
      );
    const batchId = checkUuid('bulk id', id);
    const client = await context.client();
    const latest = new Map<string, Batch>();
    if (wait) await untilPlaced();
    const { chunks } = await client.stream('bulk.results', { path: { batch_id: batchId } });
    if (!wait) {
      const { body } = await client.call('bulk.get', { path: { batch_id: batchId } });
      if (body.status === 'pending' || body.status === 'processing')
        context.note(`the batch is ${body.status}: not every row is in yet; --wait waits for it`);
    }
    if (rawCsv) return { kind: 'stream', chunks };
    const { neutraliseCsv } = await import('../../output/csv-stream.ts');
    return { kind: 'stream', chunks: neutraliseCsv(chunks) };

    async function untilPlaced(): Promise<void> {
      for await (const event of followBatches(context, [batchId], latest)) {
        if (event.type === 'summary' && event.open > 0 && !context.signal.aborted)
          throw new ErrandError('deadline', '--timeout passed; not every row is placed yet');
      }
    }
  },
});
