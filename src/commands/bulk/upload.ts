import { uploadedColumns } from '../../bulk/batch-columns.ts';
import { usualBatchRows } from '../../bulk/batches.ts';
import { FileCheck } from '../../bulk/file-check.ts';
import type { RowsOptions } from '../../bulk/rows.ts';
import { openCopy, type Source } from '../../bulk/source.ts';
import { countLine, isShort, leftOutText, rowsText, shortOf, spendLine } from '../../bulk/spend.ts';
import { notifyOnComplete, readTableOptions, tableFlags, tableOptions } from '../../bulk/table-options.ts';
import { existedBefore, type Uploaded, uploadFile, wasBegun } from '../../bulk/upload-file.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Context } from '../../context.ts';
import { ErrandError } from '../../errors.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import type { Result } from '../../output/result.ts';
import { shellWord } from '../../shell-word.ts';
import { whereFlags } from '../../where-flags.ts';
import { followResult } from './watch.ts';

/** Errors shown when a file is refused; `bulk validate` lists all. */
const shownIssues = 10;

export const upload = defineCommand({
  name: 'upload',
  summary: 'Place the orders of a CSV, one for each row',
  description:
    'The file is checked first, as by bulk validate. Each row gets a key that follows from its order, so that the same file uploaded again, after a crash or by mistake, places nothing twice; --run tells uploads apart that are meant as new orders.',
  arguments: [{ name: 'file', completes: 'files', description: 'CSV file; - reads stdin', required: true }],
  options: {
    ...tableOptions,
    batchSize: {
      kind: 'integer',
      min: 1,
      max: 5000,
      description: `rows in one request (default ${usualBatchRows})`,
    },
    run: {
      kind: 'text',
      maxLength: 100,
      description: 'name of this upload: the same rows under another name are new orders',
    },
    skipInvalid: { kind: 'flag', description: 'upload the valid rows of a file that has others too' },
    notifyOnComplete,
    yes: { kind: 'flag', description: 'spend with a live key without being asked' },
    watch: { kind: 'flag', description: 'follow the batches to their end' },
  },
  examples: [
    { command: 'errand bulk upload orders.csv', note: 'checked, then placed' },
    { command: 'errand bulk upload orders.csv --watch', note: 'and followed to the end' },
    {
      command: 'errand bulk upload orders.csv --run december -o id',
      note: 'the same file once more, on purpose',
    },
  ],
  operations: ['bulk.create', 'bulk.validate'],
  exitCodes: {
    6: 'the wallet cannot cover it; nothing was sent',
    7: 'a row is invalid and nothing was sent; with --watch: a row failed',
    10: 'in doubt: a batch was sent and no answer came; the same command again finds out',
  },
  related: ['bulk validate', 'bulk watch', 'bulk retry', 'order journal'],
  async run(
    context,
    {
      file,
      batchSize = usualBatchRows,
      run = '',
      skipInvalid = false,
      notifyOnComplete: notifies = false,
      yes = false,
      ...more
    },
  ) {
    const source = await openCopy(context, file);
    try {
      const options = { name: source.name, ...(await readTableOptions(context, more)) };
      const check = await checked(context, source, options, {
        skipInvalid,
        validate: `errand bulk validate ${shellWord(source.path)}${tableFlags(more)}`,
      });
      const upload = { name: source.name, batchSize, run, notifies };
      if (isShort(check.spend) && !(await wasBegun(context, check, upload)))
        throw shortOf(context, check.spend);
      const rows = check.tally.orders;
      const counts = `${source.name}: ${leftOutText(check.tally) ?? rowsText(rows)}`;
      const lines = [`  ${counts}`, `  ${spendLine(check.spend)}`];
      await confirmSpending(context, {
        yes,
        question: `Place ${rows === 1 ? 'this order' : `these ${rows.toLocaleString('en-US')} orders`} with real money?`,
        lines: async () => lines,
      });
      if (context.isRehearsal()) for (const line of lines) context.note(line.trim());
      const uploaded = await uploadFile(context, check, upload);
      const facts = [...(check.tally.invalid === 0 ? [] : [counts]), ...existedBefore(uploaded)];
      if (!more.watch) return shown(context, uploaded, facts);
      context.note(followLine(context, uploaded));
      const ids = uploaded.map(({ id }) => id);
      const result = await followResult(context, ids);
      return { ...result, hints: () => [...facts, ...(result.hints?.() ?? [])] };
    } finally {
      await source.close();
    }
  },
});

function followLine(context: Context, uploaded: readonly Uploaded[]): string {
  const ids = uploaded.map(({ id }) => id);
  const shown = [...ids.slice(0, 3).map(shellWord), ...(ids.length > 3 ? ['…'] : [])].join(' ');
  return `follow: errand bulk watch ${shown}${whereFlags(context)}`;
}

function shown(context: Context, uploaded: readonly Uploaded[], facts: readonly string[]): Result {
  return {
    kind: 'list',
    rows: uploaded.map((batch) => ({ ...batch })),
    columns: uploadedColumns,
    hints: () => [...facts, followLine(context, uploaded)],
  };
}

/** Checks the whole file, here and at the service. @throws ErrandError where it cannot be uploaded as it is. */
async function checked(
  context: Context,
  source: Source,
  options: RowsOptions,
  { skipInvalid, validate }: { skipInvalid: boolean; validate: string },
): Promise<FileCheck> {
  const check = new FileCheck(context, source, options, { local: context.previewsRequests });
  let told = 0;
  for await (const { row, column, value, message } of check.issues()) {
    told += 1;
    if (told > shownIssues) continue;
    const cell = column === '' ? '' : `${column}${value === '' ? '' : ` "${value}"`} `;
    context.note(`row ${row}: ${cell}${message}`);
  }
  const { tally } = check;
  const valid = tally.rows - tally.invalid;
  if (valid === 0 || (tally.invalid > 0 && !skipInvalid)) {
    throw new ErrandError('ended_badly', `${countLine(valid, tally.rows)}; nothing was sent`, {
      outcome: 'not_sent',
      details: { rows: tally.rows, invalid: tally.invalid, errors: tally.issues },
      hint:
        valid === 0
          ? 'Correct them; there is no valid row to upload.'
          : 'Correct them, or upload the valid ones alone with --skip-invalid.',
      next: [{ command: validate, when: 'to list every error' }],
    });
  }
  return check;
}
