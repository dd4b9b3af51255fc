import { rowsText } from '../../bulk/check/row-sample.ts';
import { readReport } from '../../bulk/report/read.ts';
import { resultsCsv, resultsWorkbook } from '../../bulk/report/results-table.ts';
import { missingLines } from '../../bulk/report/summary.ts';
import type { Batch } from '../../bulk/upload/batch.ts';
import { batchesGoOn, followBatches } from '../../bulk/upload/follow.ts';
import { batchesArgument, leftOutLines, namedBatches, unsentLines } from '../../bulk/upload/named.ts';
import { defineCommand } from '../../cli/define.ts';
import { saveFile } from '../../format/save-file.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';

export const results = defineCommand({
  name: 'results',
  summary: 'What became of each row, as CSV with your own columns',
  description:
    'One line for each row of your file, in its order: rows that were left out, are not sent yet, or were ordered by an earlier command too, each with its state. Every column of the file in its own order, its headings and cells as the file writes them, then what became of the row: state, order, error, ceiling, what it was refused at, charged, fee, refunded, credited and what it took from the wallet, in cents, and tracking numbers. A row that was retried is one line, with its latest attempt and the amounts of all. On a machine that did not upload the file, its columns are those that the service echoes, with prices under max_price_cents. --raw-csv prints the CSV of the service unchanged, for one batch.',
  arguments: [batchesArgument],
  options: {
    wait: { kind: 'flag', description: 'wait until every row is placed or has failed' },
    xlsx: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'write them to a workbook in place of a CSV',
    },
    force: { kind: 'flag', description: 'with --xlsx: write over the file' },
  },
  examples: [
    { command: 'errand bulk results december > results.csv', note: 'as it stands now' },
    { command: 'errand bulk results december --wait --excel > results.csv', note: 'whole, for Excel' },
    {
      command: 'errand bulk results december --xlsx results.xlsx --force',
      note: 'a workbook, in which a ZIP code keeps its zero',
    },
  ],
  output: [{ text: 'a CSV' }, { nothing: true, when: 'with --xlsx' }],
  operations: ['bulk.get', 'order.list', 'wallet.get', 'bulk.results'],
  writesCsv: () => true,
  exitCodes: { 8: 'with --wait: --timeout passed' },
  related: ['bulk report', 'bulk watch', 'bulk retry'],
  async run(context, { ids: given, wait = false, xlsx, force = false }) {
    const { format, rawCsv, fields, query } = context.output;
    if (fields || query || (format !== 'csv' && format !== 'table'))
      throw new UsageError(
        `the results are a CSV; for ${format} and fields use \`errand bulk report ${given.map(shellWord).join(' ')}\``,
      );
    if (xlsx === undefined && force) throw new UsageError('--force is for the file of --xlsx');
    if (xlsx !== undefined) checkWorkbook(xlsx, rawCsv === true);
    const named = await namedBatches(context, given);
    const { ids, uploads } = named;
    const [only] = ids;
    if (rawCsv && (only === undefined || ids.length > 1))
      throw new UsageError('--raw-csv prints the CSV of one batch as the service writes it; name one batch');
    const latest = new Map<string, Batch>();
    if (wait) await untilPlaced();
    if (rawCsv && only !== undefined) {
      const client = await context.client();
      const { chunks } = await client.stream('bulk.results', { path: { batch_id: only } });
      return { kind: 'stream', chunks };
    }
    const report = await readReport(context, named, { read: latest, isWhole: true });
    const open = report.batches.filter(({ status }) => status === 'pending' || status === 'processing');
    if (open.length > 0 && !wait)
      context.note(`${batchesGoOn(open.length)}: not every row is in yet; --wait waits for it`);
    for (const line of [...missingLines(report), ...unsentLines(uploads), ...leftOutLines(uploads)])
      context.note(line);
    if (xlsx === undefined) return { kind: 'stream', chunks: resultsCsv(report), isCsv: true };
    await saveFile(xlsx, resultsWorkbook(report), { force, mode: 0o600 });
    return { kind: 'none', hints: [`${xlsx}: ${rowsText(report.rows.length)}`] };

    async function untilPlaced(): Promise<void> {
      for await (const event of followBatches(context, named, latest)) {
        if (event.type === 'summary' && event.open > 0 && !context.signal.aborted)
          throw new ErrandError('deadline', '--timeout passed; not every row is placed yet');
      }
    }
  },
});

/** @throws UsageError with `--raw-csv`, or if the file's name does not end in `.xlsx`. */
function checkWorkbook(path: string, isRaw: boolean): void {
  if (isRaw) throw new UsageError('--raw-csv is the CSV of the service; --xlsx writes a workbook');
  if (!/\.xlsx$/i.test(path))
    throw new UsageError(`--xlsx ${path}: name a file that ends in .xlsx, as a spreadsheet expects it`);
}
