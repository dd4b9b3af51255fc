import { returnReasons } from '../../api/enums.ts';
import { rowsText } from '../../bulk/check/row-sample.ts';
import { tableOptions } from '../../bulk/csv/table-options.ts';
import { openSource } from '../../bulk/upload/source.ts';
import { type RowProblem, readReturns } from '../../bulk/withdraw/return-file.ts';
import {
  planReturns,
  type ReturnedRow,
  requestReturns,
  returnsText,
  returnTally,
  returnTexts,
  unknownReference,
} from '../../bulk/withdraw/return-rows.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { readyToSend } from '../../orders/submit/submit.ts';
import { ErrandError } from '../../platform/errors.ts';

const columns: readonly Column<ReturnedRow>[] = [
  { name: 'row', path: 'row', kind: 'count', weight: 20 },
  { name: 'outcome', path: 'outcome', kind: 'status', weight: 10 },
  { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 4 },
  { name: 'return', path: 'return_id', kind: 'id', weight: 5 },
  { name: 'status', path: 'status', kind: 'status', weight: 4 },
  { name: 'reason', path: 'reason', weight: 3 },
  { name: 'quantity', path: 'quantity', kind: 'count', weight: 3 },
  { name: 'why', path: 'message', weight: 2 },
];

const screen: readonly Column<ReturnedRow>[] = columns.map((column) =>
  column.name === 'outcome'
    ? {
        ...column,
        value: ({ outcome }) => returnTexts.get(String(outcome)) ?? String(outcome),
        mood: ({ outcome }) => (String(outcome).endsWith('requested') ? 'good' : 'bad'),
      }
    : column,
);

export const returnFile = defineCommand({
  name: 'return',
  summary: 'Ask to return the orders of a CSV, one return for each row',
  description:
    'A row names its order by id or by reference, and may give the line, the quantity, the reason and notes: the columns are order, reference, item, quantity, reason, notes. Without an item all of the order is returned. The whole file is checked against the orders before anything is requested. Each return is looked for at the service before it is requested: one with the same order, lines, quantity and reason is told, and not requested again. So the same file again, after a crash or by mistake, returns nothing twice. On a terminal errand asks first.',
  arguments: [
    {
      name: 'file',
      completes: 'files',
      required: true,
      description: 'CSV file or .xlsx workbook; - reads stdin',
    },
  ],
  options: {
    reason: { kind: 'choice', values: returnReasons, description: 'for rows that give none' },
    namespace: {
      kind: 'text',
      placeholder: 'name',
      description: 'who numbers the references, if the orders were placed with one',
    },
    sheet: tableOptions.sheet,
    yes: { kind: 'flag', description: 'request without confirmation' },
  },
  examples: [
    { command: 'errand bulk return returns.csv', note: 'with a reason in each row' },
    { command: 'errand bulk return returns.csv --reason damaged --dry-run', note: 'the requests, not sent' },
  ],
  output: { list: 'BulkReturnRow' },
  operations: ['order.get', 'order.list', 'return.list', 'return.get', 'return.create'],
  exitCodes: {
    5: 'no return was requested: all were refused, or denied before',
    7: 'a row is invalid and nothing was requested; or some returns were requested, and others were not',
    10: 'in doubt: a return was sent and no response came; the same command again finds out',
    130: 'the question was answered with no, and nothing was requested; or Ctrl-C',
  },
  related: ['return create', 'return list', 'bulk cancel'],
  async run(context, { file, reason, namespace = '', sheet, yes = false }) {
    await readyToSend(context);
    const source = await openSource(context, file, { sheet });
    try {
      const read = await readReturns(context, source, { reason, namespace });
      if (read.unused.length > 0)
        context.note(`${source.name}: columns that are not used: ${read.unused.join(', ')}`);
      if (read.problems.length > 0) throw invalid(source.name, read.problems);
      const { planned, problems } = await planReturns(context, read.rows);
      if (problems.length > 0)
        throw invalid(source.name, problems, namespace === '' && problems.some(isUnknown));
      const there = planned.filter(({ isThere }) => isThere).length;
      const what = `${source.name}: ${returnsText(planned)}`;
      if (context.previewsRequests) context.note(what);
      else if (!yes && context.interactive.yes && there < planned.length) {
        context.note(what);
        if (
          !(await context.confirm(planned.length === 1 ? 'Request this return?' : 'Request these returns?'))
        )
          throw new ErrandError('interrupted', 'no return was requested', { outcome: 'not_sent' });
      }
      const tally = returnTally();
      async function* told() {
        const failed = (error: ErrandError) => {
          tally.failure = error;
        };
        for await (const row of requestReturns(context, planned, failed)) {
          tally.add(row.outcome);
          yield row;
        }
        if (tally.failure) await context.report(tally.failure);
      }
      return {
        kind: 'list',
        rows: told(),
        columns,
        screen,
        id: 'return_id',
        empty: 'no row is there',
        hints: () => [`${rowsText(planned.length)}: ${tally.text}`],
        exitCode: () => tally.exitCode('in_doubt'),
        isByName: true,
      };
    } finally {
      await source.close();
    }
  },
});

const isUnknown = ({ text }: RowProblem): boolean => text.startsWith(unknownReference);

function invalid(file: string, problems: readonly RowProblem[], isUnnamed = false): ErrandError {
  const sorted = [...problems].sort((one, other) => one.row - other.row);
  return new ErrandError(
    'ended_badly',
    `${file}: ${rowsText(problems.length)} cannot be returned so; nothing was requested`,
    {
      ...{ outcome: 'not_sent', code: 'validation_error', details: { rows: sorted } },
      ...(isUnnamed && {
        hint: 'Where the orders were placed with a namespace, give it, too: --namespace NAME.',
      }),
    },
  );
}
