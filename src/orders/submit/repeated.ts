import { journalCommand } from '../../journal/journal-command.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { hasNew, reorderSentence } from '../../journal/take-over.ts';
import { ErrandError, type ErrorFacts, type NextStep } from '../../platform/errors.ts';
import { shellLine, shellWord, typedCommand } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { type CurrentState, sentText } from './current-state.ts';
import { isKeyed, labelsOf } from './intent.ts';

/**
 * `the same order was placed at 2026-11-24T09:00:00.000Z: ID (waiting)`. @param now the current state, for an order.
 */
export function repeatedText(
  { operation, settled_at: at, order_id: id }: JournalRecord,
  now: CurrentState | undefined,
): string {
  const { one, made } = labelsOf(operation);
  return `the same ${one} was ${made} at ${at}: ${id}${now ? ` (${now.text})` : ''}`;
}

/** The error after the user declines a second order. */
export function declined(context: OrderContext, { operation, order_id: id }: JournalRecord): ErrandError {
  const { one, made, get } = labelsOf(operation);
  return new ErrandError('interrupted', `no second ${one} was ${made}`, {
    outcome: 'not_sent',
    next: [
      { command: `${get} ${shellWord(id ?? '')}${whereFlags(context)}`, when: 'to see the first' },
      { command: `${typedCommand(context.argv ?? [])} --new`, when: `for another ${one}` },
    ],
  });
}

/**
 * The conflict error for a repeated command. @param isByHand tells whether the command is `api`, which accepts `--new`
 * for every operation but accepts no key.
 */
export function repeated(
  context: OrderContext,
  record: JournalRecord,
  now: CurrentState | undefined,
  isByHand = false,
): ErrandError {
  const { one, made } = labelsOf(record.operation);
  return new ErrandError('conflict', `${repeatedText(record, now)}; no second one was ${made}`, {
    ...factsOf(context, record, isByHand, now),
    retryable: false,
    hint: `An identical ${one} within a short time is refused as a repeated command (\`errand config set duplicate-window\`).`,
  });
}

/** The error when an earlier order's state is unknown. Nothing is sent until the state is known. */
export function stateUnknown(
  context: OrderContext,
  record: JournalRecord,
  cause: ErrandError,
  isByHand = false,
): ErrandError {
  const message = `${sentText(record)}; what became of it cannot be read (${cause.message}), and nothing was sent now`;
  return new ErrandError('unavailable', message, {
    ...factsOf(context, record, isByHand),
    retryable: true,
    hint: 'Run the same command again once the order can be read: it is ordered again only if the first has failed or was cancelled.',
    cause,
  });
}

function factsOf(
  context: OrderContext,
  { key, operation, settled_at: at, order_id: id, body }: JournalRecord,
  isByHand: boolean,
  now?: CurrentState,
): ErrorFacts {
  const { one, made, get, id: idName } = labelsOf(operation);
  const where = whereFlags(context);
  // Name only this order in the suggestion, because the command may retry several orders.
  const again =
    operation === 'legacy.retry' && !isByHand
      ? `${shellLine`errand legacy retry ${String(body.order_id)}`}${where}`
      : typedCommand(context.argv ?? []);
  const next: NextStep[] = [{ command: `${get} ${shellWord(id ?? '')}${where}`, when: 'to see it' }];
  if (isKeyed(operation) && !isByHand)
    next.push({
      command: `${again} --idempotency-key ${shellWord(key)}`,
      when: 'in a job that may be retried: the same key is always the same order',
    });
  if (isByHand || hasNew(operation)) next.push({ command: `${again} --new`, when: `for another ${one}` });
  return {
    details: { [idName]: id, [`${made}_at`]: at, ...(now && { status: now.status }) },
    idempotencyKey: key,
    outcome: 'applied',
    next,
  };
}

/**
 * The error when another process is placing the same order right now. The user more likely repeated the command out of
 * impatience than to place a second order.
 */
export const beingPlaced = (context: OrderContext, { key, pid, operation }: JournalRecord): ErrandError =>
  new ErrandError(
    'conflict',
    `process ${pid} is placing the same ${labelsOf(operation).one} at this moment, as ${key}`,
    {
      idempotencyKey: key,
      outcome: 'unknown',
      hint: `Wait for it to end. ${reorderSentence({ key, operation })}`,
      next: [
        {
          command: journalCommand('resume', key, whereFlags(context)),
          when: 'to see what became of it, once the other process has ended',
        },
      ],
    },
  );
