import { batchesArgument, namedBatches } from '../../bulk/upload/named.ts';
import { cancelBatches, cancelOptions } from '../../bulk/withdraw/cancel-result.ts';
import { parseRows } from '../../bulk/withdraw/row-selection.ts';
import { defineCommand } from '../../cli/define.ts';
import { typedCommand } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';

export const cancel = defineCommand({
  name: 'cancel',
  summary: 'Cancel the orders of an upload that are still pending',
  description:
    'One line for each row: cancelled, cancelled before, too late, failed. Only orders that the upload itself made are cancelled: one that another command made for the same need stays, and is listed. The same command again is safe, and goes on where it was cut short. On a terminal errand shows the number of orders and their ceilings, and asks.',
  arguments: [batchesArgument],
  options: {
    rows: {
      kind: 'text',
      placeholder: 'numbers',
      description: 'only these rows, as a spreadsheet numbers them: 12-20,31',
    },
    only: {
      kind: 'list',
      placeholder: 'retailer',
      completes: 'retailers',
      description: 'only orders from these retailers, by name or host',
    },
    ...cancelOptions,
  },
  examples: [
    { command: 'errand bulk cancel december', note: 'all that is still pending' },
    { command: 'errand bulk cancel december --rows 12-20', note: 'some rows of the file' },
    { command: 'errand bulk cancel december --dry-run', note: 'what would be cancelled, with its ceilings' },
    {
      command: 'errand bulk cancel december --returns late.csv --force',
      note: 'and what is too late, as a file for bulk return',
    },
  ],
  output: { list: 'CancelledRow' },
  operations: ['bulk.get', 'order.list', 'order.cancel', 'order.get', 'wallet.get', 'retailer.list'],
  exitCodes: {
    5: 'no order could be cancelled: all are too late, not ordered yet, or made by another command',
    7: 'some orders were cancelled, and others were not',
    10: 'in doubt: a batch of the upload, or a cancellation; the same command again finds out',
    130: 'the question was answered with no, and nothing was cancelled; or Ctrl-C',
  },
  related: ['undo', 'order cancel', 'bulk return', 'bulk report'],
  async run(context, { ids, rows: given, only, yes = false, returns, force = false }) {
    const selection = given === undefined ? undefined : parseRows(given);
    const named = await namedBatches(context, ids);
    const chosen = [
      ...(given === undefined ? [] : ['--rows', given]),
      ...(only ?? []).flatMap((retailer) => ['--only', retailer]),
    ];
    return cancelBatches(context, named, {
      name: named.words.join(', '),
      again: typedCommand(['bulk', 'cancel', ...named.words, ...chosen]) + whereFlags(context),
      ...{ selection, only, yes, returns, force },
    });
  },
});
