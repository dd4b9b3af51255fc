import { uploadedColumns } from '../../bulk/batch-columns.ts';
import {
  failedRows,
  keepLayout,
  parseRaise,
  raised,
  raisedLine,
  retriedOptions,
  withReason,
} from '../../bulk/retried.ts';
import { stableKey } from '../../bulk/rows.ts';
import { writtenRows } from '../../bulk/rows-file.ts';
import { rowsText } from '../../bulk/spend.ts';
import { notifyOnComplete, tableOptions } from '../../bulk/table-options.ts';
import { checkTotal, maxTotalOption } from '../../bulk/upload-options.ts';
import { ceilingsOf, journaledRows, rowAgain, rowsOfFile } from '../../bulk/uploaded-rows.ts';
import { defineCommand } from '../../cli/define.ts';
import { checkUuid } from '../../cli/ids.ts';
import { UsageError } from '../../errors.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import { batchIntent, placeBatch } from '../../orders/place-batch.ts';
import { formatMoney } from '../../output/money.ts';
import { shellLine } from '../../shell-word.ts';
import { consentOf, policyExit, policyOptions } from '../../spending/options.ts';
import { notePolicy, policyLines } from '../../spending/through-policy.ts';
import { canonicalJson } from '../../state/canonical.ts';
import { whereFlags } from '../../where-flags.ts';
import { followResult } from './watch.ts';

export const retry = defineCommand({
  name: 'retry',
  summary: "Retry a batch's failed rows in a new batch, or write them to a file",
  description:
    'Retries rows that became no order and orders that failed. This machine keeps the rows for 30 days after the upload; later, or on another machine, pass the uploaded CSV with --file. Running the same retry again places nothing twice.',
  arguments: [{ name: 'id', names: 'batches', description: 'id of the batch', required: true }],
  writesCsv: ({ to }) => to !== undefined,
  options: {
    to: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'write the failed rows there as CSV, to correct them; - is stdout',
    },
    force: { kind: 'flag', description: 'with --to: write over a file' },
    ...retriedOptions,
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
    ...maxTotalOption,
    ...policyOptions,
    watch: { kind: 'flag', description: 'follow the new batch to its end' },
  },
  examples: [
    {
      command: 'errand bulk retry $FAILED --to failed.csv --force',
      note: 'correct them, then upload the file',
    },
    { command: 'errand bulk retry $FAILED -o id', note: 'as they are, in a new batch' },
    {
      command: 'errand bulk retry $FAILED --reason out_of_stock --raise-ceiling 10% --dry-run',
      note: 'what would be sent of those, each with a tenth more to spend',
    },
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
      reason: wanted = [],
      raiseCeiling,
      file,
      run = '',
      notifyOnComplete: notifies = false,
      yes = false,
      watch = false,
      overridePolicy,
      approval,
      waitApproval,
      maxTotal,
      ...given
    },
  ) {
    const batchId = checkUuid('bulk id', id);
    if (to !== undefined && (watch || notifies))
      throw new UsageError(
        `--to makes a file and no batch: ${watch ? '--watch' : '--notify-on-complete'} does not go with it`,
      );
    const raise = raiseCeiling === undefined ? undefined : parseRaise(raiseCeiling);
    const client = await context.client();
    const { body: batch } = await client.call('bulk.get', { path: { batch_id: batchId } });
    const failed = await failedRows(context, batch, { wanted, withReasons: to !== undefined });
    if (failed.length === 0) return { kind: 'none', hints: ['no row of this batch has failed'] };
    const { rows: uploaded, layout } =
      file === undefined
        ? await journaledRows(context, batch)
        : await rowsOfFile(context, file, { ...given, run, batch });
    const asBefore = failed.map(({ row }) => rowAgain(batch, row, uploaded[row.index]));
    const rows = asBefore.map((row) => raised(row, raise));
    if (to !== undefined) {
      const explained = rows.map((row, index) => withReason(row, failed[index]?.reason ?? ''));
      return writtenRows(context, explained, { to, force, headings: layout?.headings ?? [] });
    }
    const total = ceilingsOf(rows);
    if (raise) context.note(raisedLine(rows.length, total, ceilingsOf(asBefore)));
    checkTotal(total, maxTotal);
    const key = stableKey(rows.map(canonicalJson));
    const again = { key, filename: `retry of ${batchId}`, rows, notifies };
    const meant = [{ intent: await batchIntent(context, again) }];
    await confirmSpending(context, {
      yes,
      question: `Place ${rowsText(rows.length)} again with real money?`,
      lines: async () => [
        `  ${rowsText(rows.length)} of batch ${batchId}`,
        `  at most ${formatMoney(total)}, without fees`,
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
