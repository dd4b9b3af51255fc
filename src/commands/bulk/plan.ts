import { resolve } from 'node:path';
import type { Plan } from '../../api/schemas/plan-file.ts';
import { checkedFile } from '../../bulk/check/file-check.ts';
import { errorsOption, savesErrors } from '../../bulk/check/issues.ts';
import { readReading } from '../../bulk/csv/reading.ts';
import type { ReferenceSource } from '../../bulk/csv/reference-columns.ts';
import { notifyOnComplete, tableFlags, tableOptions } from '../../bulk/csv/table-options.ts';
import { uploadFlags } from '../../bulk/plan/again.ts';
import { checkTarget, defaultTarget, hashOfPlan, serializePlan, writePlan } from '../../bulk/plan/file.ts';
import type { MadePlan } from '../../bulk/plan/make.ts';
import { rowColumns, shownRows } from '../../bulk/plan/shown-rows.ts';
import { applyLines, askApproval, summaryLines, withdrawRequests } from '../../bulk/plan/summary.ts';
import { defaultBatchRows } from '../../bulk/upload/batches.ts';
import { earlierOptions, type FileGiven, uploadOptions } from '../../bulk/upload/prepare.ts';
import { openCopy, type Source } from '../../bulk/upload/source.ts';
import { defineCommand } from '../../cli/define.ts';
import { exitCodes, UsageError } from '../../platform/errors.ts';
import { shellLine, shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';

export const plan = defineCommand({
  name: 'plan',
  summary: 'Write a plan of what an upload would order, to review and apply; places nothing',
  description:
    'Decides about every row as `bulk upload` does, and lists the new orders: each with its key, the attempt at its need that it will be, the current product price, orders that it is like, the policy verdict and the remaining wallet balance. A row that is like an earlier order stops it, until --skip-duplicates, --again or --run says what is meant. `bulk apply` places exactly what is new within 24 hours, with the same key, at the same service. A hash detects any change to the file but does not prove who wrote it. The plan contains addresses, so only you can read it. Output lists the rows that need review; --all lists every row.',
  arguments: [
    {
      name: 'file',
      completes: 'files',
      description: 'CSV file or .xlsx workbook; - reads stdin',
      required: true,
    },
  ],
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
    ...earlierOptions,
    notifyOnComplete,
  },
  examples: [
    { command: 'errand bulk plan orders.csv --out december.plan', note: 'then look at it, and apply it' },
    {
      command: 'errand bulk plan orders.csv --out december.plan --force --no-prices --all -o csv',
      note: 'again, without prices; every row for a spreadsheet',
    },
    {
      command: 'errand bulk plan orders.csv --out rest.plan --skip-duplicates',
      note: 'without the rows that are like earlier orders',
    },
  ],
  needsKey: true,
  output: { list: 'PlanRow' },
  readsOnly: true,
  exitCodes: {
    5: 'rows are like earlier orders, and no plan is written; or the order of a reference or key differs, and the plan leaves the row out',
    6: 'the wallet cannot cover it; the plan is written',
    7: 'a row is invalid, and no plan is written',
    11: 'the policy refuses rows or wants an approval, so that it cannot be applied as it is; the plan is written',
  },
  writesCsv: savesErrors,
  related: ['bulk show', 'bulk apply', 'bulk validate', 'policy check'],
  async run(context, { file, out, force = false, all = false, ...given }) {
    if (out === undefined) throw targetMissing(context, file, given);
    await checkTarget(out, file, force);
    await context.ready();
    const source = await openCopy(context, file, given);
    try {
      const before = force ? await hashOfPlan(out) : undefined;
      const { made, proposed, differing } = await planned(context, source, { out, force, ...given });
      const withdrawn = await withdrawRequests(context, before);
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
          ...withdrawn,
          ...summaryLines(out, made, rows, approve),
          ...differing,
          ...applyLines(context, out, made),
        ],
        exitCode: () => exitCodeOf(made, differing.length > 0),
      };
    } finally {
      await source.close();
    }
  },
});

/** Options that determine what is planned. */
interface Given extends FileGiven {
  readonly prices?: boolean | undefined;
  readonly errors?: string | undefined;
}

const targetMissing = (context: Context, file: string, given: Given): UsageError =>
  new UsageError('--out is missing: it names the file that the plan is written to', {
    next: [
      {
        command:
          shellLine`errand bulk plan ${file} --out ${defaultTarget(file)}` +
          tableFlags(given) +
          uploadFlags({ ...given, notifies: given.notifyOnComplete }) +
          whereFlags(context),
        when: 'to write it there',
      },
    ],
  });

/** Checks a file, plans it and writes the plan. @throws ErrandError. */
async function planned(
  context: Context,
  source: Source,
  { out, force, ...given }: Given & { readonly out: string; readonly force: boolean },
): Promise<Omit<MadePlan, 'draft'> & { readonly made: Plan }> {
  const { batchSize = defaultBatchRows, run = '', notifyOnComplete: notifies = false, prices = true } = given;
  const { skipInvalid = false, skipDuplicates = false, again = false } = given;
  const { options, flags: table } = await readReading(context, source, given);
  const check = await checkedFile(context, source, options, {
    ...{ skipInvalid, run, errors: given.errors },
    validate: `errand bulk validate ${shellWord(source.path)}${tableFlags(table)}`,
  });
  const { makePlan } = await import('../../bulk/plan/make.ts');
  const { cellFlags: cells } = options;
  const madeFrom = {
    path: source.isPipe ? null : resolve(source.path),
    map: options.map,
    ...(options.preset && { preset: options.preset.name }),
    amounts: options.amounts ?? null,
    ...{
      encoding: cells.encoding ?? null,
      delimiter: cells.delimiter ?? null,
      locale: cells.locale ?? null,
    },
    ...(cells.sheet !== undefined && { sheet: cells.sheet }),
    ...(cells.quotes !== undefined && { quotes: cells.quotes }),
    ...(options.defaults && { defaults: options.defaults }),
    ...madeFromReference(options.reference),
    skip_invalid: skipInvalid,
    ...(skipDuplicates && { skip_duplicates: true }),
    ...(again && { again }),
  };
  const { draft, ...more } = await makePlan(context, source, check, {
    ...{ batchSize, run, skipDuplicates, again, notifies, prices, madeFrom },
  });
  const { chunks, sha256 } = serializePlan(draft);
  await writePlan(out, chunks, force);
  return { ...more, made: { ...draft, sha256, rows: draft.rows.map((row) => ({ ...row, checksum: '' })) } };
}

/**
 * Returns the `reference` member of a plan. It is absent if the file has no references, and in plans of earlier
 * versions.
 */
const madeFromReference = (source: ReferenceSource | undefined): Pick<Plan['made_from'], 'reference'> =>
  source ? { reference: { columns: [...source.columns], namespace: source.namespace } } : {};

function exitCodeOf({ policy, wallet }: Plan, differs: boolean): number {
  if (policy?.outcome === 'refused' || policy?.outcome === 'needs_approval') return exitCodes.policy;
  if ((wallet.after_cents ?? 0) < 0) return exitCodes.payment;
  return differs ? exitCodes.conflict : 0;
}
