import type { Mood } from '../../api/order-state.ts';
import type { Column, ListResult, Row } from '../../format/result.ts';
import { saveFile } from '../../format/save-file.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { readRetailers } from '../../spending/report/read.ts';
import { rowsText } from '../check/row-sample.ts';
import { readReport } from '../report/read.ts';
import { isInDoubt, type KnownUpload, type NamedBatches, unsentLines } from '../upload/named.ts';
import {
  type Cancellable,
  type CancelledRow,
  cancelAll,
  cancellableRow,
  cancellableText,
  cancelTally,
  outcomeTexts,
} from './cancel-rows.ts';
import { type RowSelection, rowsOfRetailers, selectedRows } from './row-selection.ts';

/** Options of the commands that cancel orders. */
export const cancelOptions = {
  returns: {
    kind: 'text',
    placeholder: 'file',
    completes: 'files',
    description: 'write what is too late to cancel to a file for `bulk return`',
  },
  force: { kind: 'flag', description: 'with --returns: write over the file' },
  yes: { kind: 'flag', description: 'cancel without confirmation' },
} as const;

interface Asked {
  readonly orders: readonly Cancellable[];
  /** The uploads that the orders belong to. */
  readonly uploads: readonly KnownUpload[];
  /** What to show before the question and with `--dry-run`, such as `6 rows of december`. */
  readonly what: string;
  /** The command to run again once the service has ordered the remaining rows. */
  readonly again: string;
  readonly yes: boolean;
  readonly returns: string | undefined;
  readonly force: boolean;
}

/**
 * Cancels the orders of batches, in the same way as `cancelResult`. @throws ErrandError; UsageError for rows that the
 * batches do not contain.
 */
export async function cancelBatches(
  context: Context,
  named: NamedBatches,
  {
    name,
    selection,
    only,
    ...asked
  }: Pick<Asked, 'again' | 'yes' | 'returns' | 'force'> & {
    /** What messages call these batches. */
    readonly name: string;
    /** The rows to cancel; all rows if undefined. */
    readonly selection?: RowSelection | undefined;
    /** Retailers, by name or host. If given, only rows of these retailers are cancelled. */
    readonly only?: readonly string[] | undefined;
  },
): Promise<ListResult<CancelledRow>> {
  const { rows } = await readReport(context, named);
  const sent = rows.filter(({ row, rowStatus }) => row !== undefined || rowStatus !== 'waiting');
  const among = selectedRows(sent, selection);
  const selected = only ? rowsOfRetailers(among, only, await readRetailers(await context.client())) : among;
  return cancelResult(context, {
    orders: selected.map(cancellableRow),
    uploads: named.uploads,
    what: `${rowsText(selected.length)} of ${name}`,
    ...asked,
  });
}

/** Asks on a terminal, then cancels the orders and shows the outcome of each. @throws ErrandError. */
export async function cancelResult(
  context: Context,
  { orders, uploads, what, again, yes, returns, force }: Asked,
): Promise<ListResult<CancelledRow>> {
  const open = orders.filter(({ outcome }) => outcome === undefined).length;
  const asks = open > 0 && !yes && context.interactive.yes && !context.previewsRequests;
  if (asks || context.previewsRequests) context.note(`${what}: ${cancellableText(orders)}`);
  if (asks && !(await context.confirm(open === 1 ? 'Cancel this order?' : 'Cancel these orders?')))
    throw new ErrandError('interrupted', 'nothing was cancelled', { outcome: 'not_sent' });
  const tally = cancelTally();
  const late: string[] = [];
  async function* told() {
    const report = (error: ErrandError) => {
      tally.failure = error;
    };
    for await (const row of cancelAll(context, orders, report)) {
      tally.add(row.outcome);
      if (row.outcome === 'too_late' && row.order_id !== null) late.push(row.order_id);
      yield row;
    }
    if (tally.failure) await context.report(tally.failure);
    // Write the file even if it lists no order. Otherwise, a file from an earlier run would stay, and would return
    // other orders.
    if (returns !== undefined && !tally.failure)
      await saveFile(returns, [['order', ...late, ''].join('\n')], { force });
  }
  const doubtful = uploads.filter(isInDoubt);
  return {
    kind: 'list',
    rows: told(),
    columns: columnsOf(orders),
    screen: screenOf(orders),
    id: 'order_id',
    empty: 'nothing to cancel',
    hints: () => [
      `${what}: ${tally.text}`,
      ...lateLines(late, returns),
      ...(tally.of('waiting') === 0 ? [] : [`the service has yet to order the rest; then again: ${again}`]),
      ...unsentLines(uploads),
      ...doubtful.flatMap(({ batches }) =>
        batches
          .filter((batch) => batch.isInDoubt)
          .map(
            ({ key }) =>
              `a batch is in doubt; this settles it, then again: ${journalCommand('resume', key, whereFlags(context))}`,
          ),
      ),
    ],
    exitCode: () => (doubtful.length > 0 ? exitCodes.in_doubt : tally.exitCode('in_doubt')),
    isByName: true,
  };
}

function lateLines(late: readonly string[], returns: string | undefined): string[] {
  const [only, other] = late;
  if (only === undefined) return [];
  if (returns !== undefined)
    return [
      `to give back what is too late: errand bulk return ${shellWord(returns)} --reason no_longer_needed`,
    ];
  return other === undefined
    ? [`to give it back: errand return create --order ${only} --reason no_longer_needed`]
    : ['to give back what is too late: --returns FILE writes it for `errand bulk return`'];
}

const columns: readonly Column<CancelledRow>[] = [
  { name: 'upload', path: 'upload', weight: 15 },
  { name: 'row', path: 'row', kind: 'count', weight: 20 },
  { name: 'outcome', path: 'outcome', kind: 'status', weight: 10 },
  { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 4 },
  { name: 'ceiling', path: 'ceiling_cents', kind: 'money', weight: 6 },
  { name: 'product', path: 'product', weight: 1 },
];

const moods: ReadonlyMap<string, Mood> = new Map([
  ['cancelled', 'good'],
  ['was_cancelled', 'good'],
  ['waiting', 'waiting'],
  ['returned', 'past'],
  ['earlier', 'past'],
  ['not_ordered', 'past'],
  ['left_out', 'past'],
]);

/** Leaves out the column for the upload if all rows belong to the same upload. */
const columnsOf = (orders: readonly Cancellable[]): readonly Column<CancelledRow>[] =>
  columns.filter(({ name }) => name !== 'upload' || new Set(orders.map(({ upload }) => upload)).size > 1);

/**
 * Columns for a TTY. The outcome is in words, and an order that has failed shows its reason. Single orders have no
 * column for the row.
 */
const screenOf = (orders: readonly Cancellable[]): readonly Column<CancelledRow>[] =>
  columnsOf(orders)
    .filter(({ name }) => name !== 'row' || orders.some(({ number }) => number !== undefined))
    .map((column) => (column.name === 'outcome' ? { ...column, value: textOf, mood: moodOf } : column));

const textOf = ({ outcome, order_state: state }: Row): string =>
  outcome === 'not_ordered' ? String(state) : (outcomeTexts.get(String(outcome)) ?? String(outcome));

const moodOf = ({ outcome }: Row): Mood => moods.get(String(outcome)) ?? 'bad';
