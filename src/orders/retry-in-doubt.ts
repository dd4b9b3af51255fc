import { InDoubtError } from '../http/errors.ts';
import { journalCommand } from '../journal/journal-command.ts';
import type { JournalRecord } from '../journal/journal-record.ts';
import { type ErrandError, stopOf } from '../platform/errors.ts';
import { whereFlags } from '../run/context-flags.ts';
import type { OrderContext } from '../run/order-context.ts';

/** What became of a retry cannot be found out by sending it again: the newest orders tell. */
export function retryInDoubt(
  context: OrderContext,
  { key, body }: Pick<JournalRecord, 'key' | 'body'>,
  error?: ErrandError,
): ErrandError {
  const why = error ? `was sent, and what became of it is unknown (${error.message})` : 'may have been sent';
  return new InDoubtError(
    `in doubt: the retry of ${String(body.order_id)} ${why}`,
    {
      ...error?.facts,
      retryable: false,
      idempotencyKey: key,
      cause: error,
      hint: 'Look whether a new order is there before you retry again: v1 has no key that would keep it from being made twice.',
      next: [
        { command: `errand order list --limit 5${whereFlags(context)}`, when: 'to see the newest orders' },
        {
          command: journalCommand('forget', key, whereFlags(context)),
          when: 'once you have looked, whatever you found',
        },
      ],
    },
    stopOf(error),
  );
}
