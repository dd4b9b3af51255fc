import { usualBatchRows } from '../../bulk/batches.ts';
import { checkedFile } from '../../bulk/checked-file.ts';
import { errorsOption, savesErrors } from '../../bulk/errors-file.ts';
import { readReading } from '../../bulk/reading.ts';
import { openCopy } from '../../bulk/source.ts';
import { isShort, leftOutText, rowsText, shortOf, spendLine } from '../../bulk/spend.ts';
import { notifyOnComplete, tableFlags, tableOptions } from '../../bulk/table-options.ts';
import { existedBefore, meantByUpload, uploadFile, wasBegun } from '../../bulk/upload-file.ts';
import { UploadLook } from '../../bulk/upload-look.ts';
import { checkTotal, maxTotalOption, uploadOptions } from '../../bulk/upload-options.ts';
import { defineCommand } from '../../cli/define.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import { countText } from '../../output/count-text.ts';
import { shellWord } from '../../shell-word.ts';
import { consentOf, policyExit, policyOptions } from '../../spending/options.ts';
import { notePolicy, policyLines } from '../../spending/through-policy.ts';
import { followLine, uploadedResult } from './uploaded.ts';
import { followResult } from './watch.ts';

export const upload = defineCommand({
  name: 'upload',
  summary: 'Place the orders of a CSV, one for each row',
  description:
    'The file is checked first, as by bulk validate. Each row gets a key derived from its order, so uploading the same file again, after a crash or by mistake, places nothing twice. To order the same rows again on purpose, give the upload a new --run name.',
  arguments: [{ name: 'file', completes: 'files', description: 'CSV file; - reads stdin', required: true }],
  options: {
    ...tableOptions,
    ...errorsOption,
    ...uploadOptions,
    ...maxTotalOption,
    notifyOnComplete,
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
    ...policyOptions,
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
    10: 'in doubt: a batch was sent and no response came; the same command again finds out',
    11: `${policyExit}; or the orders may cost more than --max-total`,
  },
  writesCsv: savesErrors,
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
      overridePolicy,
      approval,
      waitApproval,
      maxTotal,
      ...more
    },
  ) {
    const source = await openCopy(context, file);
    try {
      const { options, flags: table } = await readReading(context, source, more);
      const look = new UploadLook();
      const check = await checkedFile(context, source, options, {
        skipInvalid,
        errors: more.errors,
        ...{ run, look },
        validate: `errand bulk validate ${shellWord(source.path)}${tableFlags(table)}`,
      });
      checkTotal(check.spend.estimate, maxTotal);
      const consent = consentOf({ overridePolicy, approval, waitApproval });
      const upload = { name: source.name, batchSize, run, notifies, ...consent };
      if (isShort(check.spend) && !(await wasBegun(context, check, upload)))
        throw shortOf(context, check.spend);
      const rows = check.tally.orders;
      const counts = `${source.name}: ${leftOutText(check.tally) ?? rowsText(rows)}`;
      const lines = [`  ${counts}`, `  ${spendLine(check.spend)}`];
      const looks = await look.lines(context);
      let wereShown = false;
      await confirmSpending(context, {
        yes,
        question: `Place ${rows === 1 ? 'this order' : `these ${countText(rows)} orders`} with real money?`,
        lines: async () => {
          wereShown = true;
          return [
            ...lines,
            ...looks.map((line) => `  ${line}`),
            ...(await policyLines(context, await meantByUpload(context, check, upload))),
          ];
        },
      });
      if (context.previewsRequests) await notePolicy(context, await meantByUpload(context, check, upload));
      if (context.isRehearsal()) for (const line of lines) context.note(line.trim());
      if (!wereShown) for (const line of looks) context.note(line);
      const uploaded = await uploadFile(context, check, upload);
      const facts = [...(check.tally.invalid === 0 ? [] : [counts]), ...existedBefore(uploaded)];
      if (!more.watch) return uploadedResult(context, uploaded, facts);
      context.note(followLine(context, uploaded));
      const ids = uploaded.map(({ id }) => id);
      const result = await followResult(context, ids);
      return { ...result, hints: () => [...facts, ...(result.hints?.() ?? [])] };
    } finally {
      await source.close();
    }
  },
});
