import { journalCommand } from '../journal/journal-command.ts';
import { type JournalRecord, keyLifetimeMs } from '../journal/journal-record.ts';
import { damagedRecord, reorderHint, reorderSentence, sentWithOtherKey } from '../journal/take-over.ts';
import { Deadline } from '../platform/clock.ts';
import { ErrandError } from '../platform/errors.ts';
import { shellLine, typedCommand } from '../platform/shell.ts';
import { whereFlags } from '../run/context-flags.ts';
import type { OrderContext } from '../run/order-context.ts';
import type { MadeBy } from './order-record.ts';
import type { IntentOf, Made } from './submit/intent.ts';
import { duplicateRule } from './submit/preview.ts';
import { withEarlier } from './submit/record.ts';
import { resumeKnown } from './submit/resume.ts';

/** How long to wait, in ms, for another process that is requesting the same return. */
const maxWaitMs = 3_000;
const pauseMs = 40;

type Requested = Made<MadeBy['return.create']>;

/**
 * Records the intent of a return, unless the same return was requested a short while ago. Settles or reports what an
 * earlier command left unfinished.
 * @param isByHand tells whether the user wrote the request. If so, the user has to confirm a repeat. Otherwise, the
 * result of a repeat is the existing return.
 * @returns the existing return; undefined once the intent is recorded.
 * @throws ErrandError conflict for a repeat that nobody can confirm.
 */
export async function recordReturn(
  context: OrderContext,
  intent: IntentOf<'return.create'>,
  { isNew, isByHand }: { readonly isNew: boolean; readonly isByHand: boolean },
): Promise<Requested | undefined> {
  const deadline = new Deadline(context.clock, maxWaitMs);
  let rule = isNew ? undefined : duplicateRule(context);
  for (;;) {
    const { duplicate } = await withEarlier(context, intent, !isNew, async () =>
      (await context.journal()).record(intent, rule),
    );
    if (!duplicate) return undefined;
    const { situation, record } = duplicate;
    if (situation === 'damaged') throw damagedRecord(record);
    if (situation === 'other_key') throw sentWithOtherKey(record);
    if (situation === 'in_doubt') {
      const hint = reorderHint(record);
      context.note(`the same return is in doubt since ${record.created_at}; settling that one (${hint})`);
      return resumeKnown(context, intent.operation, record);
    }
    if (record.order_id === null) {
      if (!(await deadline.pause(pauseMs, context.signal))) throw beingRequested(context, record);
      continue;
    }
    if (situation === 'unreported') return showUnreported(context, intent, record);
    if (!isByHand) return resumeKnown(context, intent.operation, record);
    if (!context.interactive.yes) throw repeated(context, record);
    context.note(repeatedText(record));
    if (!(await context.confirm('Request another one?'))) throw declined(context, record);
    rule = { repeatedSince: undefined };
  }
}

/**
 * Reports a return of which the user was never informed. If that was days ago, throws instead, because the same command
 * then probably means another return.
 */
function showUnreported(
  context: OrderContext,
  { operation }: IntentOf<'return.create'>,
  record: JournalRecord,
): Promise<Requested> {
  const { created_at: since, settled_at: at, order_id: id } = record;
  if (Date.parse(at ?? since) < context.clock.now() - keyLifetimeMs) throw repeated(context, record);
  const hint = reorderHint(record);
  context.note(`this return was requested by the command that was interrupted at ${at}: ${id} (${hint})`);
  return resumeKnown(context, operation, record);
}

const repeatedText = ({ settled_at: at, order_id: id }: JournalRecord): string =>
  `the same return was requested at ${at}: ${id}`;

const see = (context: OrderContext, { order_id: id }: JournalRecord, when: string) => ({
  command: shellLine`errand return get ${id ?? ''}` + whereFlags(context),
  when,
});

const another = ({ argv = [] }: OrderContext) => ({
  command: `${typedCommand(argv)} --new`,
  when: 'for another return',
});

function repeated(context: OrderContext, record: JournalRecord): ErrandError {
  const { key, settled_at: at, order_id: id } = record;
  return new ErrandError('conflict', `${repeatedText(record)}; no second one was requested`, {
    details: { return_request_id: id, requested_at: at },
    idempotencyKey: key,
    outcome: 'applied',
    retryable: false,
    hint: 'An identical return within a short time is refused as a repeated command (`errand config set duplicate-window`).',
    next: [see(context, record, 'to see it'), another(context)],
  });
}

const declined = (context: OrderContext, record: JournalRecord): ErrandError =>
  new ErrandError('interrupted', 'no second return was requested', {
    outcome: 'not_sent',
    next: [see(context, record, 'to see the first'), another(context)],
  });

const beingRequested = (context: OrderContext, { key, pid, operation }: JournalRecord): ErrandError =>
  new ErrandError('conflict', `process ${pid} is requesting the same return at this moment, as ${key}`, {
    idempotencyKey: key,
    outcome: 'unknown',
    hint: `Wait for it to end. ${reorderSentence({ key, operation })}`,
    next: [
      {
        command: journalCommand('resume', key, whereFlags(context)),
        when: 'to see what became of it, once the other process has ended',
      },
    ],
  });
