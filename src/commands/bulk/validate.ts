import type { Output } from '../../api/outputs/index.ts';
import type { ShownIssue } from '../../bulk/check/check.ts';
import { checkFile, emptyTally, shardOf, shardOption } from '../../bulk/check/check.ts';
import { FileCheck } from '../../bulk/check/file-check.ts';
import { checkFixTarget, fixFile } from '../../bulk/check/fix-file.ts';
import { errorsOption, IssueGroups, savesErrors, savingIssues } from '../../bulk/check/issues.ts';
import { countLine } from '../../bulk/check/spend.ts';
import { readOptions, readReading } from '../../bulk/csv/reading.ts';
import { type TableFlags, tableFlags, tableOptions } from '../../bulk/csv/table-options.ts';
import { issueColumns } from '../../bulk/upload/columns.ts';
import { openSource } from '../../bulk/upload/source.ts';
import { UploadWarnings } from '../../bulk/upload/upload-warnings.ts';
import { defineCommand } from '../../cli/define.ts';
import { countText } from '../../format/counts.ts';
import type { Column, ListResult, Row } from '../../format/result.ts';
import { forTable } from '../../format/result.ts';
import { exitCodes, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { isOnScreen } from '../../run/on-screen.ts';

export const validate = defineCommand({
  name: 'validate',
  summary: 'Check a CSV of orders: every error of every row, and the spend; places nothing',
  description:
    'Checks the file here first, then with the service; on a terminal errand asks which headings are the columns that it lacks. A heading that looks like a column which the file lacks, and is not used, stops it: --map uses it, and --own keeps it as a column of your own. Rows have the numbers that a spreadsheet shows; the headings are row 1 where nothing stands above them. What a carrier may refuse (HTML entities, post office boxes, a ZIP code of another state) is pointed out, and is no error. --fix writes a corrected copy beside the file: ZIP codes and numbers as a spreadsheet damaged them, spaces, entities, texts in a wrong encoding, names of countries, and amounts in the way that --locale and --amounts say. It guesses nothing, and never touches what names a product or a row; rows keep their numbers.',
  arguments: [
    {
      name: 'file',
      completes: 'files',
      description: 'CSV file or .xlsx workbook; - reads stdin',
      required: true,
    },
  ],
  options: {
    ...tableOptions,
    ...errorsOption,
    ...shardOption,
    local: { kind: 'flag', description: 'check here alone; sends nothing' },
    fix: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'write a corrected copy to it, with what is certain alone, and list each change',
    },
  },
  examples: [
    { command: 'errand bulk validate orders.csv', note: 'here, then with the service' },
    {
      command: 'errand bulk validate orders.csv --local --errors errors.csv',
      note: 'no request; every error in a file',
    },
    {
      command:
        "errand bulk validate theirs.csv --map 'Limit=max_price_cents' --map 'Ship To=name' --save-map theirs",
      note: 'headings of their own, saved for the next file',
    },
    {
      command: 'errand bulk validate orders.csv --fix corrected.csv',
      note: 'a copy with ZIP codes, numbers, spaces and texts mended; every change is listed',
    },
  ],
  output: [{ list: 'BulkIssue' }, { list: 'BulkFix', when: 'with --fix' }],
  operations: ['bulk.validate'],
  exitCodes: { 6: 'the wallet cannot cover it', 7: 'a row is invalid; with --fix: in the corrected copy' },
  writesCsv: savesErrors,
  related: ['bulk template', 'bulk upload'],
  async run(context, { file, local = false, errors, shard: part, fix, ...given }) {
    if (fix !== undefined) return fixed(context, file, { ...given, fix, errors, shard: part });
    const shard = shardOf(part);
    const source = await openSource(context, file, given);
    const { options } = await readReading(context, source, given).catch(async (error: unknown) => {
      await source.close();
      throw error;
    });
    const warnings = new UploadWarnings();
    const { format } = context.output;
    // Collect warnings only for a table. No other format shows warnings, and collecting them makes a local check read
    // the rows twice.
    const shown = format === 'table' && { warnings };
    const check = new FileCheck(context, source, options, { local, shard, ...shown });
    return {
      kind: 'list',
      rows: isOnScreen(context) ? forTable(grouped()) : issues(),
      columns: issueColumns,
      id: 'row',
      empty: 'nothing is wrong',
      hints: () => [...check.hints(), ...warnings.duplicateLines(), ...check.textLines()],
      exitCode: () => check.exitCode(),
    };

    async function* parts(): AsyncGenerator<readonly ShownIssue[]> {
      try {
        yield* savingIssues(context, check.issues(), errors);
      } finally {
        await source.close();
      }
    }

    async function* issues(): AsyncGenerator<Output<'BulkIssue'>> {
      for await (const found of parts()) yield* found;
      yield* check.wholeIssues();
    }

    /** Groups identical errors into one line for people, however many rows have the error. */
    async function* grouped(): AsyncGenerator<Row> {
      const groups = new IssueGroups();
      for await (const found of parts()) groups.add(found);
      yield* groups.shown();
      yield* check.wholeIssues();
    }
  },
});

interface FixGiven extends TableFlags {
  readonly fix: string;
  readonly errors: string | undefined;
  readonly shard: string | undefined;
}

/**
 * Writes a corrected copy of the file, lists the corrections, and reports the problems that remain. Sends no request.
 */
async function fixed(
  context: Context,
  file: string,
  { fix, errors, shard, ...given }: FixGiven,
): Promise<ListResult<Output<'BulkFix'>>> {
  if (errors !== undefined || shard !== undefined)
    throw new UsageError(
      `--fix goes without ${errors === undefined ? '--shard' : '--errors'}; check the copy with it`,
    );
  checkFixTarget(fix, file);
  const source = await openSource(context, file, given);
  try {
    const { options, flags } = await readReading(context, source, given);
    const cells = await fixFile(context, source, options, fix);
    const left = await leftIn(
      context,
      cells.length > 0 ? fix : file,
      cells.length > 0 ? asWritten(flags) : flags,
    );
    const validate = `errand bulk validate ${shellWord(fix)}${tableFlags(asWritten(flags))}${whereFlags(context)}`;
    return {
      kind: 'list',
      rows: cells,
      columns: fixColumns,
      id: 'row',
      empty: 'nothing to correct is certain; no file was written',
      hints: () => [
        ...(cells.length === 0 ? [] : [`${fix}: ${cellsText(cells.length)} corrected; ${file} is as it was`]),
        ...left.lines,
        ...(cells.length === 0 ? [] : [`check it: ${validate}`]),
      ],
      exitCode: () => (left.invalid > 0 ? exitCodes.ended_badly : 0),
    };
  } finally {
    await source.close();
  }
}

/** Flags with which to read the corrected copy, which is UTF-8 and has its amounts in dollars. */
const asWritten = (flags: TableFlags): TableFlags => ({
  ...flags,
  ...{ locale: undefined, amounts: undefined, encoding: undefined, sheet: undefined, saveMap: undefined },
});

/** Finds the problems that remain in a file without asking the service. */
async function leftIn(context: Context, path: string, flags: TableFlags) {
  const source = await openSource(context, path, flags);
  const groups = new IssueGroups();
  const tally = emptyTally();
  try {
    const options = await readOptions(context, source, flags);
    for await (const { issues } of checkFile(source.chunks(), options, tally)) groups.add(issues);
  } finally {
    await source.close();
  }
  return {
    invalid: tally.invalid,
    lines: [...groups.lines(maxKinds), countLine(tally.rows - tally.invalid, tally.rows)],
  };
}

/** For the errors that remain, maximum number of different kinds to print. */
const maxKinds = 10;

const cellsText = (count: number): string => (count === 1 ? '1 cell' : `${countText(count)} cells`);

const fixColumns: readonly Column[] = [
  { name: 'row', path: 'row', weight: 10 },
  { name: 'column', path: 'column', weight: 9 },
  { name: 'was', path: 'was', weight: 8 },
  { name: 'is', path: 'is', weight: 8 },
  { name: 'why', path: 'why', weight: 6, isProse: true, wraps: true },
];
