import { issueColumns } from '../../bulk/batch-columns.ts';
import type { ShownIssue } from '../../bulk/check.ts';
import { FileCheck } from '../../bulk/file-check.ts';
import { openSource } from '../../bulk/source.ts';
import { readTableOptions, tableOptions } from '../../bulk/table-options.ts';
import { defineCommand } from '../../cli/define.ts';

export const validate = defineCommand({
  name: 'validate',
  summary: 'Check a CSV of orders: every error of every row, and the spend; places nothing',
  description:
    'Checks the file here first, then with the service. Rows have the numbers that a spreadsheet shows; the headings are row 1 where nothing stands above them.',
  arguments: [{ name: 'file', completes: 'files', description: 'CSV file; - reads stdin', required: true }],
  options: {
    ...tableOptions,
    local: { kind: 'flag', description: 'check here alone; sends nothing' },
  },
  examples: [
    { command: 'errand bulk validate orders.csv', note: 'here, then with the service' },
    {
      command: 'errand bulk validate orders.csv --local -o csv > errors.csv',
      note: 'no request; the errors as a file',
    },
    {
      command:
        "errand bulk validate theirs.csv --map 'Limit=max_price_cents' --map 'Ship To=name' --save-map theirs",
      note: 'headings of their own, saved for the next file',
    },
  ],
  operations: ['bulk.validate'],
  exitCodes: { 6: 'the wallet cannot cover it', 7: 'a row is invalid' },
  related: ['bulk template', 'bulk upload'],
  async run(context, { file, local = false, ...given }) {
    const source = await openSource(context, file);
    const options = { name: source.name, ...(await readTableOptions(context, given)) };
    const check = new FileCheck(context, source, options, { local });
    return {
      kind: 'list',
      rows: issues(),
      columns: issueColumns,
      id: 'row',
      empty: 'nothing is wrong',
      hints: () => check.hints(),
      exitCode: () => check.exitCode(),
    };

    async function* issues(): AsyncGenerator<ShownIssue> {
      try {
        yield* check.issues();
      } finally {
        await source.close();
      }
    }
  },
});
