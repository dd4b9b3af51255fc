import { resolve } from 'node:path';
import type { Plan } from '../../api/schemas/plan-file.ts';
import { checkedFile } from '../../bulk/check/file-check.ts';
import { errorsOption, savesErrors } from '../../bulk/check/issues.ts';
import { readReading } from '../../bulk/csv/reading.ts';
import type { ReferenceSource } from '../../bulk/csv/reference-columns.ts';
import { notifyOnComplete, tableFlags, tableOptions } from '../../bulk/csv/table-options.ts';
import { checkTarget, defaultTarget, serializePlan, writePlan } from '../../bulk/plan/file.ts';
import { rowColumns, shownRows } from '../../bulk/plan/make.ts';
import { applyLines, askApproval, summaryLines } from '../../bulk/plan/summary.ts';
import { uploadFlags } from '../../bulk/plan/work.ts';
import { defaultBatchRows } from '../../bulk/upload/batches.ts';
import { uploadOptions } from '../../bulk/upload/prepare.ts';
import { openCopy } from '../../bulk/upload/source.ts';
import { defineCommand } from '../../cli/define.ts';
import { exitCodes, UsageError } from '../../platform/errors.ts';
import { shellLine, shellWord } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';

export const plan = defineCommand({
  name: 'plan',
  summary: 'Write a plan of what an upload would order, to review and apply; places nothing',
  description:
    'The plan lists every order with its key, the current product price, likely duplicates of earlier orders, the policy verdict and the remaining wallet balance. `bulk apply` places exactly that within 24 hours, with the same key, at the same service. A hash detects any change to the file but does not prove who wrote it. The plan contains addresses, so only you can read it. Output lists the rows that need review; --all lists every row.',
  arguments: [{ name: 'file', completes: 'files', description: 'CSV file; - reads stdin', required: true }],
  options: {
    out: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'where the plan is written (required)',
    },
    force: { kind: 'flag', description: 'write over a file' },
    prices: {
      kind: 'yes-no',
      description: 'ask what each product costs today, each URL once (default)',
    },
    all: { kind: 'flag', description: 'list every row' },
    ...tableOptions,
    ...errorsOption,
    ...uploadOptions,
    notifyOnComplete,
  },
  examples: [
    { command: 'errand bulk plan orders.csv --out december.plan', note: 'then look at it, and apply it' },
    {
      command: 'errand bulk plan orders.csv --out december.plan --force --no-prices --all -o csv',
      note: 'again, without prices; every row for a spreadsheet',
    },
  ],
  output: { list: 'PlanRow' },
  readsOnly: true,
  exitCodes: {
    6: 'the wallet cannot cover it; the plan is written',
    7: 'a row is invalid, and no plan is written',
    11: 'the policy refuses rows or wants an approval, so that it cannot be applied as it is; the plan is written',
  },
  writesCsv: savesErrors,
  related: ['bulk show', 'bulk apply', 'bulk validate', 'policy check'],
  async run(
    context,
    {
      file,
      out,
      force = false,
      prices = true,
      all = false,
      batchSize = defaultBatchRows,
      run = '',
      skipInvalid = false,
      notifyOnComplete: notifies = false,
      ...more
    },
  ) {
    const flags =
      tableFlags(more) + uploadFlags({ run, batchSize, skipInvalid, notifies, prices }) + whereFlags(context);
    if (out === undefined)
      throw new UsageError('--out is missing: it names the file that the plan is written to', {
        next: [
          {
            command: shellLine`errand bulk plan ${file} --out ${defaultTarget(file)}` + flags,
            when: 'to write it there',
          },
        ],
      });
    await checkTarget(out, file, force);
    await context.ready();
    const source = await openCopy(context, file);
    try {
      const { options, flags: table } = await readReading(context, source, more);
      const check = await checkedFile(context, source, options, {
        skipInvalid,
        errors: more.errors,
        validate: `errand bulk validate ${shellWord(source.path)}${tableFlags(table)}`,
      });
      const { makePlan } = await import('../../bulk/plan/make.ts');
      const madeFrom = {
        path: source.isPipe ? null : resolve(file),
        map: options.map,
        ...(options.preset && { preset: options.preset.name }),
        amounts: options.amounts ?? null,
        ...{
          encoding: more.encoding ?? null,
          delimiter: more.delimiter ?? null,
          locale: more.locale ?? null,
        },
        ...madeFromReference(options.reference),
        skip_invalid: skipInvalid,
      };
      const { draft, proposed } = await makePlan(context, source, check, {
        ...{ batchSize, run, notifies, prices, madeFrom },
      });
      const { bytes, sha256 } = serializePlan(draft);
      await writePlan(out, bytes, force);
      const made: Plan = { ...draft, sha256, rows: draft.rows.map((row) => ({ ...row, checksum: '' })) };
      const approve =
        made.policy?.outcome === 'needs_approval' ? await askApproval(context, proposed, made) : undefined;
      const rows = shownRows(made);
      return {
        kind: 'list',
        rows: all ? rows : rows.filter(({ kinds }) => kinds.length > 0),
        columns: rowColumns,
        id: 'row',
        empty: 'no row needs a look',
        hints: () => [
          ...summaryLines(out, made, rows),
          ...(approve === undefined ? [] : [`approve: ${approve}`]),
          ...applyLines(context, out, made),
        ],
        exitCode: () => exitCodeOf(made),
      };
    } finally {
      await source.close();
    }
  },
});

/** Absent from plans of files without references, as from earlier plans. */
const madeFromReference = (source: ReferenceSource | undefined): Pick<Plan['made_from'], 'reference'> =>
  source ? { reference: { columns: [...source.columns], namespace: source.namespace } } : {};

function exitCodeOf({ policy, wallet }: Plan): number {
  if (policy?.outcome === 'refused' || policy?.outcome === 'needs_approval') return exitCodes.policy;
  return (wallet.after_cents ?? 0) < 0 ? exitCodes.payment : 0;
}
