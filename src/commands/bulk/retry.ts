import { rowsText } from '../../bulk/check/row-sample.ts';
import { notifyOnComplete, tableOptions } from '../../bulk/csv/table-options.ts';
import {
  decideRetry,
  isNumbered,
  type RowsToRetry,
  rowsForFile,
  settledBy,
} from '../../bulk/needs/decide-retry.ts';
import { blockedRows, countsLine, differsLines, isRefusedAgain } from '../../bulk/needs/refused-rows.ts';
import { defaultBatchRows } from '../../bulk/upload/batches.ts';
import { inDoubtSince, laterLines } from '../../bulk/upload/follow.ts';
import {
  type KnownUpload,
  namedBatches,
  unsentLines,
  unsentRows,
  uploadOfBatch,
} from '../../bulk/upload/named.ts';
import { checkTotal, maxTotalOption } from '../../bulk/upload/prepare.ts';
import {
  checkSettled,
  doubtfulRows,
  type FailedRow,
  failedRows,
  leftOutText,
  parseRaise,
  type RetriedRows,
  raised,
  raisedLine,
  retriedOptions,
  rowsToRetry,
  unnamedOrders,
  withdrawnRows,
  withReason,
  writtenRows,
} from '../../bulk/upload/retried.ts';
import { type BatchToSend, proposedByBatches, sendBatches } from '../../bulk/upload/upload.ts';
import { ceilingsOf, journaledRows, rowsOfFile } from '../../bulk/upload/uploaded-rows.ts';
import { defineCommand } from '../../cli/define.ts';
import { formatMoney } from '../../format/money.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { confirmSpending } from '../../orders/spending-lines.ts';
import { readyToSend } from '../../orders/submit/submit.ts';
import { exitCodes, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { previewedWith } from '../../run/request-preview.ts';
import { consentOf, policyExit, policyOptions } from '../../spending/options.ts';
import { notePolicy, policyLines } from '../../spending/policy-gate.ts';
import { sentOutput, sentResult } from './place-file.ts';

export const retry = defineCommand({
  name: 'retry',
  summary: 'Retry the failed rows of an upload or a batch, or write them to a file',
  description:
    'Retries rows that became no order and orders that failed; of an upload, all rows whose latest attempt failed. A row that was ordered since, by a corrected file, a single order or another machine, is not retried, and one whose order was cancelled or returned only with --again. This machine keeps the rows for 30 days after the upload; later, or on another machine, pass the uploaded CSV with --file. Running the same retry again places nothing twice.',
  arguments: [
    {
      name: 'id',
      names: 'batches',
      description: 'an upload by its name, or a batch by its id',
      required: true,
    },
  ],
  writesCsv: ({ to }) => to !== undefined,
  options: {
    ...retriedOptions,
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
  output: [
    ...sentOutput,
    { text: 'a CSV', when: 'with --to -' },
    { nothing: true, when: 'where no row has failed' },
  ],
  operations: ['bulk.create', 'bulk.get', 'order.list'],
  exitCodes: {
    5: 'rows were not sent: because of what was ordered before, or not yet',
    10: 'in doubt: the new batch was sent and no response came',
    11: policyExit,
  },
  related: ['bulk get', 'bulk results', 'bulk upload'],
  async run(
    context,
    {
      id,
      to,
      force = false,
      reason: requested = [],
      raiseCeiling,
      file,
      run = '',
      again = false,
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
    if (to !== undefined && (watch || notifies))
      throw new UsageError(
        `--to makes a file and no batch: ${watch ? '--watch' : '--notify-on-complete'} does not go with it`,
      );
    if (force && to === undefined) throw new UsageError('--force goes with --to: it writes over that file');
    const raise = raiseCeiling === undefined ? undefined : parseRaise(raiseCeiling);
    if (to === undefined) await readyToSend(context);
    const named = await namedBatches(context, [id]);
    const [upload] = named.uploads;
    if (upload && file !== undefined)
      throw new UsageError(
        `--file names the CSV of one batch, and ${upload.name} is an upload: leave it out`,
      );
    const { failed, withdrawn, later, unnamed } = await failedRows(context, named, {
      requested,
      withReasons: to !== undefined,
      again,
    });
    const what = upload ? upload.name : 'this batch';
    const rowsOf = (ended: readonly FailedRow[]): Promise<RetriedRows> =>
      rowsToRetry(ended, (batch) =>
        file === undefined
          ? journaledRows(context, batch)
          : rowsOfFile(context, file, { ...given, run, batch }),
      );
    const filename = `retry of ${named.words[0]}`;
    const isRefused =
      withdrawn.length > 0 &&
      overridePolicy === undefined &&
      (await isRefusedAgain(context, () => rowsOf(withdrawn), filename));
    const inDoubt = inDoubtSince(later);
    if (failed.length === 0) {
      const unsent = unsentRows(context, named.uploads);
      if (unsent && withdrawn.length > 0) context.note(leftOutText(withdrawn, isRefused));
      if (unsent) throw unsent;
      if (withdrawn.length > 0) throw withdrawnRows(context, withdrawn, { name: what, word: id, isRefused });
      if (inDoubt > 0) throw doubtfulRows(context, what, inDoubt);
      if (unnamed > 0) throw unnamedOrders(context, { name: what, word: id, count: unnamed });
      const none = later.length > 0 ? `no row of ${what} is left to retry` : `no row of ${what} has failed`;
      return { kind: 'none', hints: [none, ...laterLines(later)] };
    }
    const leftOut = withdrawn.length + inDoubt > 0 ? exitCodes.conflict : undefined;
    for (const line of [...laterLines(later), ...unsentLines(named.uploads)]) context.note(line);
    if (withdrawn.length > 0) context.note(leftOutText(withdrawn, isRefused));
    const uploaded = await rowsOf(failed);
    const rows = uploaded.rows.map((row) => raised(row, raise));
    const size = upload ? defaultBatchRows : rows.length;
    const retried = { ...uploaded, rows, failed, named, later, run, again, size };
    if (to !== undefined) {
      await checkNoneInDoubt(context, upload, retried, filename);
      const corrected = await rowsForFile(context, retried);
      const explained = corrected.map((row, index) => withReason(row, failed[index]?.reason ?? ''));
      const { layout } = uploaded;
      return writtenRows(context, explained, { to, force, layout, exitCode: leftOut });
    }
    const decided = await decideRetry(context, retried);
    const settling = decided.settling();
    checkSettled(context, upload, {
      settling: settling.map(({ key }) => key),
      settled: settledBy(settling, rows),
    });
    if (decided.isBlocked) throw decided.unseen ?? (await blockedRows(context, decided, filename));
    for (const line of await differsLines(context, decided)) context.note(line);
    const { counts } = decided;
    const exitCode = counts.refused > 0 ? exitCodes.conflict : leftOut;
    const batches: BatchToSend[] = [...settling];
    for await (const batch of decided.batches(size)) {
      const numbers = isNumbered(retried) ? batch.numbers : [];
      batches.push({ ...batch, claim: decided.claimOf(batch), numbers, notifies });
    }
    const sent = batches.flatMap((batch) => batch.rows);
    if (sent.length < rows.length) context.note(`${countsLine(counts)}`);
    if (sent.length === 0)
      return sentResult(context, { name: undefined, batches: [] }, { facts: [], watch, exitCode });
    const total = ceilingsOf(sent);
    if (raise) context.note(raisedLine(rows.length, ceilingsOf(rows), ceilingsOf(uploaded.rows)));
    checkTotal(total, maxTotal);
    const proposed = await proposedByBatches(context, batches, { name: filename, notifies });
    await confirmSpending(context, {
      yes,
      question: `Place ${rowsText(sent.length)} again with real money?`,
      lines: async () => [
        `  ${rowsText(sent.length)} of ${upload ? upload.name : `batch ${named.ids[0]}`}`,
        `  at most ${formatMoney(total)}, without fees`,
        ...(await policyLines(context, proposed)),
      ],
    });
    const consent = consentOf({ overridePolicy, approval, waitApproval });
    const policy = context.previewsRequests ? await notePolicy(context, proposed, consent) : undefined;
    const sending = {
      name: filename,
      rows: sent.length,
      proposed: context.previewsRequests ? [] : proposed,
      of: upload ?? (await uploadOfBatch(context, named.ids[0] ?? '')),
      batches: toRetry(batches),
      ...consent,
    };
    const made = await previewedWith(decided.unseen?.exitCode ?? policy ?? exitCode, () =>
      sendBatches(context, sending),
    );
    return sentResult(context, upload ? made : { ...made, name: undefined }, { facts: [], watch, exitCode });
  },
});

/**
 * Refuses to write rows that may already have been ordered.
 * @throws ErrandError.
 */
async function checkNoneInDoubt(
  context: Context,
  upload: KnownUpload | undefined,
  retried: RowsToRetry,
  filename: string,
): Promise<void> {
  if (!journalExists(context.settings)) return;
  const decided = await decideRetry(context, retried);
  checkSettled(context, upload, {
    settling: decided.settling().map(({ key }) => key),
    settled: new Set(),
  });
  if (decided.refused.has('in_doubt') || decided.refused.has('unknown'))
    throw await blockedRows(context, decided, filename);
}

async function* toRetry(batches: readonly BatchToSend[]) {
  yield* batches;
}
