import { uuidPattern } from '../../api/limits.ts';
import { namedBatches } from '../../bulk/upload/named.ts';
import { cancelBatches, cancelOptions, cancelResult } from '../../bulk/withdraw/cancel-result.ts';
import { cancellableOrder } from '../../bulk/withdraw/cancel-rows.ts';
import { defineRootCommand } from '../../cli/define.ts';
import { unlessMissing } from '../../http/response.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { IdentifiedOrder } from '../../orders/order-record.ts';
import { readOrder } from '../../orders/submit/existing.ts';
import { labelsOf } from '../../orders/submit/intent.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';

export const command = defineRootCommand({
  description:
    'Cancels the last order or upload that this terminal itself sent, or the one that is named; never one that a command only found. It shows what that is, with its ceiling, and asks. What is too late to cancel is told, with the command that returns it. Undone twice is undone once: the order before it stays. Without a terminal, name what to undo.',
  arguments: [
    {
      name: 'what',
      names: ['orders', 'batches'],
      description:
        'id of an order or a batch, or name of an upload (default: the last that this terminal sent)',
    },
  ],
  options: cancelOptions,
  examples: [
    { command: 'errand undo $ORDER', note: 'one order, while it is pending' },
    {
      command: 'errand undo december --returns late.csv --force',
      note: 'an upload; what is too late goes to a file',
    },
  ],
  output: { list: 'CancelledRow' },
  operations: ['order.cancel', 'order.get', 'bulk.get', 'order.list', 'wallet.get'],
  exitCodes: {
    5: 'too late to cancel, or there is nothing to undo',
    7: 'some orders of an upload were cancelled, and others were not',
    10: 'in doubt: what was sent last, or its cancellation; the message says what settles it',
    130: 'the question was answered with no, and nothing was cancelled; or Ctrl-C',
  },
  related: ['order cancel', 'bulk cancel', 'return create'],
  async run(context, { what, yes = false, returns, force = false }) {
    const target = what === undefined ? await lastSent(context) : await named(context, what);
    const again = (word: string): string => `errand undo ${shellWord(word)}${whereFlags(context)}`;
    const asked = { yes, returns, force };
    if ('batches' in target) {
      const { batches, name } = target;
      return cancelBatches(context, await namedBatches(context, batches), {
        ...{ name, again: again(name) },
        ...asked,
      });
    }
    const order = cancellableOrder(target.order);
    const { id } = target.order;
    return cancelResult(context, {
      orders: [order],
      uploads: [],
      what: `order ${id} (${order.product}, ${order.state})`,
      again: again(id),
      ...asked,
    });
  },
});

/**
 * What to undo: an order as it was just read, or batches. Batches are given by their ids, together with the name of
 * their upload, or with a batch id in place of that name.
 */
type Target =
  | { readonly order: IdentifiedOrder }
  | { readonly batches: readonly string[]; readonly name: string };

async function named(context: Context, what: string): Promise<Target> {
  const word = what.trim();
  const id = word.toLowerCase();
  if (!uuidPattern.test(word)) return { batches: [word], name: word };
  const order = await unlessMissing(readOrder(await context.client(), id));
  return order ? { order } : { batches: [id], name: id };
}

/**
 * Returns what this terminal sent last.
 * @throws UsageError without a terminal; ErrandError if this terminal sent nothing, or if what it sent cannot be
 * undone.
 */
async function lastSent(context: Context): Promise<Target> {
  const { settings, interactive } = context;
  const { terminal } = (await context.origin())();
  if (terminal === undefined || !interactive.yes)
    throw new UsageError('without a terminal, undo needs the id of an order or the name of an upload', {
      next: [{ command: `errand order list${whereFlags(context)}`, when: 'to find it' }],
    });
  const { value: service } = settings.baseUrl;
  const journal = journalExists(settings) ? await context.journal() : undefined;
  const sent = journal?.audit.sentBy(terminal, service) ?? [];
  const [last] = sent;
  if (!journal || !last) throw nothing('this terminal has sent nothing to this service');
  const { one } = labelsOf(last.operation);
  if (last.operation === 'return.create') throw nothing('the last thing that this terminal sent is a return');
  const record = journal.find(last.key, service);
  if (record?.state === 'intended') throw inDoubt(context, last, one);
  if (last.operation !== 'bulk.create') {
    if (record?.order_id == null) throw nothing(`the last ${one} of this terminal was refused`);
    return { order: await readOrder(await context.client(), record.order_id) };
  }
  const uploads = await context.uploads();
  const name = uploads.ofBatch(last.key)?.name;
  // Leave out batches of the same upload that were sent from another terminal.
  const keys = sent.flatMap(({ key }) =>
    key === last.key || (name !== undefined && uploads.ofBatch(key)?.name === name) ? key : [],
  );
  const ids = keys.flatMap((key) => journal.find(key, service)?.order_id ?? uploads.idOf(key) ?? []);
  const [only] = ids;
  if (only === undefined) throw nothing(`the last ${one} of this terminal was refused`);
  return { batches: ids, name: name ?? only };
}

const inDoubt = (
  context: Context,
  { key, since }: { readonly key: string; readonly since: string },
  one: string,
): ErrandError =>
  new ErrandError('in_doubt', `the last ${one} of this terminal is in doubt since ${since}`, {
    outcome: 'unknown',
    idempotencyKey: key,
    next: [
      { command: journalCommand('resume', key, whereFlags(context)), when: 'to find out what became of it' },
    ],
  });

const nothing = (why: string): ErrandError =>
  new ErrandError('conflict', `${why}: there is nothing to undo`, {
    outcome: 'not_sent',
    hint: 'Name an order or an upload to undo it.',
  });
