import type { Output } from '../../api/outputs/index.ts';
import type { ShownIssue } from '../../bulk/check/check.ts';
import { shardOf, shardOption } from '../../bulk/check/check.ts';
import { FileCheck } from '../../bulk/check/file-check.ts';
import { errorsOption, IssueGroups, savesErrors, savingIssues } from '../../bulk/check/issues.ts';
import { readReading } from '../../bulk/csv/reading.ts';
import { tableOptions } from '../../bulk/csv/table-options.ts';
import { issueColumns } from '../../bulk/upload/columns.ts';
import { openSource } from '../../bulk/upload/source.ts';
import { UploadWarnings } from '../../bulk/upload/upload-warnings.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Row } from '../../format/result.ts';
import { forTable } from '../../format/result.ts';
import { isOnScreen } from '../../run/on-screen.ts';

export const validate = defineCommand({
  name: 'validate',
  summary: 'Check a CSV of orders: every error of every row, and the spend; places nothing',
  description:
    'Checks the file here first, then with the service; on a terminal errand asks which headings are the columns that it lacks. A heading that looks like a column which the file lacks, and is not used, stops it: --map uses it, and --own keeps it as a column of your own. Rows have the numbers that a spreadsheet shows; the headings are row 1 where nothing stands above them.',
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
      command: 'errand bulk validate requisitions.csv --reference-column Requisition,Line --namespace north',
      note: 'each row named for good, so that it is bought once',
    },
  ],
  output: { list: 'BulkIssue' },
  operations: ['bulk.validate'],
  exitCodes: { 6: 'the wallet cannot cover it', 7: 'a row is invalid' },
  writesCsv: savesErrors,
  related: ['bulk template', 'bulk upload'],
  async run(context, { file, local = false, errors, shard: part, ...given }) {
    const shard = shardOf(part);
    const source = await openSource(context, file, given);
    const { options } = await readReading(context, source, given).catch(async (error: unknown) => {
      await source.close();
      throw error;
    });
    const warnings = new UploadWarnings();
    const check = new FileCheck(context, source, options, { local, shard, warnings });
    return {
      kind: 'list',
      rows: isOnScreen(context) ? forTable(grouped()) : issues(),
      columns: issueColumns,
      id: 'row',
      empty: 'nothing is wrong',
      hints: () => [...check.hints(), ...warnings.duplicateLines()],
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

    /** For people, groups identical errors into one line, however many rows have them. */
    async function* grouped(): AsyncGenerator<Row> {
      const groups = new IssueGroups();
      for await (const found of parts()) groups.add(found);
      yield* groups.shown();
      yield* check.wholeIssues();
    }
  },
});
