import { type BatchRow, rowsOf } from '../../bulk/batch.ts';
import { uploadedColumns } from '../../bulk/batch-columns.ts';
import { isFailed } from '../../bulk/row-state.ts';
import { stableKey } from '../../bulk/rows.ts';
import { csvOf } from '../../bulk/rows-file.ts';
import { rowsText } from '../../bulk/spend.ts';
import { notifyOnComplete, tableOptions } from '../../bulk/table-options.ts';
import { ceilingsOf, journaledRows, rowAgain, rowsOfFile } from '../../bulk/uploaded-rows.ts';
import { defineCommand } from '../../cli/define.ts';
import { checkUuid } from '../../cli/ids.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import { batchIntent, placeBatch } from '../../orders/place-batch.ts';
import { formatMoney } from '../../output/money.ts';
import { saveFile } from '../../output/save-file.ts';
import { shellLine } from '../../shell-word.ts';
import { consentOf, policyExit, policyOptions } from '../../spending/options.ts';
import { notePolicy, policyLines } from '../../spending/through-policy.ts';
import { canonicalJson } from '../../state/canonical.ts';
import type { TableLayout } from '../../state/uploads.ts';
import { whereFlags } from '../../where-flags.ts';
import { followResult } from './watch.ts';

export const retry = defineCommand({
  name: 'retry',
  summary: "Retry a batch's failed rows in a new batch, or write them to a file",
  description:
    'Retries rows that became no order and orders that failed. This machine keeps the rows for 30 days after the upload; later, or on another machine, pass the uploaded CSV with --file. Running the same retry again places nothing twice.',
  arguments: [{ name: 'id', names: 'batches', description: 'id of the batch', required: true }],
  options: {
    to: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'write the failed rows there as CSV, to correct them; - is stdout',
    },
    force: { kind: 'flag', description: 'with --to: write over a file' },
    file: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'the CSV that was uploaded as this one batch',
    },
    run: {
      kind: 'text',
      maxLength: 100,
      description: 'with --file: the --run under which it was uploaded',
    },
    ...tableOptions,
    notifyOnComplete,
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
    ...policyOptions,
    watch: { kind: 'flag', description: 'follow the new batch to its end' },
  },
  examples: [
    {
      command: 'errand bulk retry $FAILED --to failed.csv --force',
      note: 'correct them, then upload the file',
    },
    { command: 'errand bulk retry $FAILED -o id', note: 'as they are, in a new batch' },
  ],
  operations: ['bulk.create', 'bulk.get'],
  exitCodes: { 10: 'in doubt: the new batch was sent and no response came', 11: policyExit },
  related: ['bulk get', 'bulk results', 'bulk upload'],
  async run(
    context,
    {
      id,
      to,
      force = false,
      file,
      run = '',
      notifyOnComplete: notifies = false,
      yes = false,
      watch = false,
      overridePolicy,
      approval,
      waitApproval,
      ...given
    },
  ) {
    const batchId = checkUuid('bulk id', id);
    if (to !== undefined && (watch || notifies))
      throw new UsageError(
        `--to makes a file and no batch: ${watch ? '--watch' : '--notify-on-complete'} does not go with it`,
      );
    const client = await context.client();
    const { body: batch } = await client.call('bulk.get', { path: { batch_id: batchId } });
    const failed = rowsOf(batch).filter((row) => isFailed(row, batch));
    if (failed.length === 0) return { kind: 'none', hints: ['no row of this batch has failed'] };
    const { rows: uploaded, layout } =
      file === undefined
        ? await journaledRows(context, batch)
        : await rowsOfFile(context, file, { ...given, run, batch });
    const rows = failed.map((row) => rowAgain(batch, row, uploaded[row.index]));
    const raw = context.output.rawCsv === true;
    const headings = layout?.headings ?? [];
    if (to === '-') {
      const visible = context.io.stdout.isTerminal;
      return { kind: 'stream', chunks: [await csvOf(rows, { headings, raw, visible })] };
    }
    if (to !== undefined) {
      await saveFile(to, [await csvOf(rows, { headings, raw, visible: false })], { force });
      return { kind: 'none', hints: [`wrote ${rowsText(rows.length)} to ${to}`] };
    }
    const key = stableKey(rows.map(canonicalJson));
    const again = { key, filename: `retry of ${batchId}`, rows, notifies };
    const meant = [{ intent: await batchIntent(context, again) }];
    await confirmSpending(context, {
      yes,
      question: `Place ${rowsText(rows.length)} again with real money?`,
      lines: async () => [
        `  ${rowsText(rows.length)} of batch ${batchId}`,
        `  at most ${formatMoney(ceilingsOf(rows))}, without fees`,
        ...(await policyLines(context, meant)),
      ],
    });
    if (context.previewsRequests) await notePolicy(context, meant);
    if (layout && !context.previewsRequests) await keepLayout(context, key, layout, failed);
    const consent = consentOf({ overridePolicy, approval, waitApproval });
    const { id: newId, existed } = await placeBatch(context, again, consent);
    if (watch) return followResult(context, [newId]);
    return {
      kind: 'list',
      rows: [{ id: newId, existed, rows: rows.length }],
      columns: uploadedColumns,
      hints: () => [`follow: ${shellLine`errand bulk watch ${newId}`}${whereFlags(context)}`],
    };
  },
});

/** The rows of the new batch keep the numbers that they have in the file. */
async function keepLayout(
  context: Context,
  key: string,
  { headings, numbers }: TableLayout,
  failed: readonly BatchRow[],
): Promise<void> {
  const kept = failed.map(({ index }) => numbers[index] ?? index + 1);
  await (await context.uploads()).keep(key, { headings, numbers: kept });
}
