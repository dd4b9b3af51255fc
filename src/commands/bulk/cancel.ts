import { rowsText } from '../../bulk/check/row-sample.ts';
import { readReport } from '../../bulk/report/read.ts';
import {
  batchesArgument,
  isInDoubt,
  namedBatches,
  resumeStep,
  unsentLines,
} from '../../bulk/upload/named.ts';
import {
  type CancelledRow,
  CancelTally,
  cancellableText,
  cancelRows,
  outcomeBefore,
  outcomeTexts,
} from '../../bulk/withdraw/cancel-rows.ts';
import { parseRows, selectedRows } from '../../bulk/withdraw/row-selection.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { declinedExit } from '../../spending/options.ts';

const columns: readonly Column<CancelledRow>[] = [
  { name: 'row', path: 'row', kind: 'count', weight: 20 },
  { name: 'outcome', path: 'outcome', kind: 'status', weight: 10 },
  { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 4 },
  { name: 'ceiling', path: 'ceiling_cents', kind: 'money', weight: 6 },
  { name: 'product', path: 'product', weight: 1 },
];

/** On a terminal, the outcome in words; an order that has failed says why. */
const screen: readonly Column<CancelledRow>[] = columns.map((column) =>
  column.name === 'outcome'
    ? {
        ...column,
        value: ({ outcome, order_state: state }) =>
          outcome === 'not_ordered' ? String(state) : (outcomeTexts.get(String(outcome)) ?? String(outcome)),
      }
    : column,
);

export const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel the orders of an upload that are still pending',
  description:
    'One line for each row: cancelled, cancelled before, too late, not ordered. Only orders that the upload itself made are cancelled: one that another command made for the same need stays, and is listed. The same command again is safe, and goes on where it was cut short. What is too late is returned with `errand bulk return` or `errand return create`. On a terminal errand shows the number of orders and their ceilings, and asks.',
  arguments: [batchesArgument],
  options: {
    rows: {
      kind: 'text',
      placeholder: 'numbers',
      description: 'only these rows, as a spreadsheet numbers them: 12-20,31',
    },
    yes: { kind: 'flag', description: 'cancel without confirmation' },
  },
  examples: [
    { command: 'errand bulk cancel december', note: 'all that is still pending' },
    { command: 'errand bulk cancel december --rows 12-20,31', note: 'some rows of the file' },
    { command: 'errand bulk cancel december --dry-run', note: 'what would be cancelled, with its ceilings' },
  ],
  output: { list: 'BulkCancelRow' },
  operations: ['bulk.get', 'order.list', 'order.cancel', 'order.get', 'wallet.get'],
  exitCodes: {
    5: 'no order could be cancelled: all are too late, or another command made them',
    7: 'some orders were cancelled, and others were not',
    10: 'in doubt: a batch of the upload, or a cancellation; the same command again finds out',
    130: declinedExit,
  },
  related: ['order cancel', 'bulk report', 'return create'],
  async run(context, { ids, rows: given, yes = false }) {
    const selection = given === undefined ? undefined : parseRows(given);
    if (!context.previewsRequests) await context.ready();
    const named = await namedBatches(context, ids);
    const report = await readReport(context, named);
    const rows = selectedRows(report.rows, selection);
    const open = rows.filter((row) => outcomeBefore(row) === undefined);
    const what = `${rowsText(rows.length)}: ${cancellableText(rows)}`;
    if (context.previewsRequests) context.note(what);
    if (open.length > 0 && !yes && context.interactive.yes && !context.previewsRequests) {
      context.note(what);
      if (!(await context.confirm(open.length === 1 ? 'Cancel this order?' : 'Cancel these orders?')))
        throw new ErrandError('interrupted', 'nothing was cancelled', { outcome: 'not_sent' });
    }
    const tally = new CancelTally();
    async function* told() {
      for await (const row of cancelRows(context, rows)) {
        tally.add(row);
        yield row;
      }
    }
    const doubtful = named.uploads.filter(isInDoubt);
    return {
      kind: 'list',
      rows: told(),
      columns,
      screen,
      id: 'order_id',
      empty: 'no row is there yet',
      hints: () => [
        `${rowsText(rows.length)}: ${tally.text}`,
        ...(tally.of('too_late') === 0
          ? []
          : ['what is placed can be returned: errand return create --order ORDER --reason no_longer_needed']),
        ...(tally.of('waiting') === 0
          ? []
          : [
              `the service has yet to order the rest; then again: errand bulk cancel ${named.words.map(shellWord).join(' ')}${whereFlags(context)}`,
            ]),
        ...unsentLines(named.uploads),
        ...doubtful.map((upload) => `first settle what is in doubt: ${resumeStep(context, upload).command}`),
      ],
      exitCode: () => (doubtful.length > 0 ? exitCodes.in_doubt : tally.exitCode),
      isByName: true,
    };
  },
});
