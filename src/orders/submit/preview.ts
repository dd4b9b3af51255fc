import { journalCommand } from '../../journal/journal-command.ts';
import type { Intent, JournalRecord } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { damagedRecord, reorderHint, sentWithOtherKey } from '../../journal/take-over.ts';
import type { Twin } from '../../journal/twins.ts';
import { ErrandError } from '../../platform/errors.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { JournaledOperation } from '../order-record.ts';
import { type CurrentState, currentState, endedText, sentText } from './current-state.ts';
import { type IntentOf, isKeyed, labelsOf, makesOrder } from './intent.ts';
import { isKeyOld } from './key-life.ts';
import { repeatedText } from './repeated.ts';
import { type Ended, type RepeatRule, twinRule } from './repeats.ts';

/**
 * Idempotency key for a request that is only shown. Reuses the key of an earlier record of the same intent, so that
 * sending the request creates no second order, and mentions that record. Writes nothing. An unreadable journal does not
 * block the preview.
 */
export async function previewKey<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  rule: RepeatRule,
): Promise<string | undefined> {
  if (rule === 'none' || !journalExists(context.settings)) return undefined;
  try {
    const seen = await seeTwin(context, intent, rule, (record, now) => context.note(endedText(record, now)));
    if (!seen) return undefined;
    context.note(noteOf(context, seen));
    return seen.twin.situation === 'damaged' ? undefined : seen.twin.record.key;
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    context.note(
      `the journal cannot say whether the same ${labelsOf(intent.operation).one} is in doubt: ${error.message}`,
    );
    return undefined;
  }
}

function noteOf(context: OrderContext, { twin: { situation, record }, now, unread }: SeenTwin): string {
  if (situation === 'damaged') return damagedRecord(record).message;
  const { one } = labelsOf(record.operation);
  const resume = journalCommand('resume', record.key, whereFlags(context));
  const settles = situation === 'repeated' ? '' : ` (\`${resume}\` settles that)`;
  const sending = !isKeyed(record.operation)
    ? `sending this request may make a second one`
    : isKeyOld(record, context.clock.now())
      ? `this request carries its key, which the service may no longer know: sending it may make a second ${one}`
      : `this request carries its key, so that sending it makes no second ${one}`;
  return `${whatIsKnown(situation, record, now)}${unread ? `, and what became of it cannot be read (${unread.message})` : ''}${settles}; ${sending} (${reorderHint(record)})`;
}

function whatIsKnown(
  situation: Twin['situation'],
  record: Twin['record'],
  now: CurrentState | undefined,
): string {
  const { one } = labelsOf(record.operation);
  const { pid, created_at: since } = record;
  switch (situation) {
    case 'other_key':
      return sentWithOtherKey(record).message;
    case 'at_work':
      return `process ${pid} is placing the same ${one} at this moment`;
    case 'unreported':
    case 'repeated':
      return now || !makesOrder(record.operation) ? repeatedText(record, now) : sentText(record);
    default:
      return `the same ${one} is in doubt since ${since}`;
  }
}

/** An earlier record that blocks an intent, and the known facts about the record. */
interface SeenTwin {
  readonly twin: Twin;
  readonly now?: CurrentState | undefined;
  /** Why the state of the record's order is unknown. */
  readonly unread?: ErrandError | undefined;
}

/** Finds the record that would block an intent, without taking it over. @throws StorageError. */
export async function seeTwin(
  context: OrderContext,
  intent: Intent,
  rule: RepeatRule,
  onEnded: (record: JournalRecord, now: CurrentState) => void,
): Promise<SeenTwin | undefined> {
  const ended: Ended = new Map();
  for (;;) {
    const twins = twinRule(context, rule, ended);
    const twin = twins && (await context.journal()).peekDuplicate(intent, twins);
    if (!twin) return undefined;
    const { situation, record } = twin;
    if (situation === 'damaged' || situation === 'other_key' || context.previewsReads) return { twin };
    try {
      const now = await currentState(context, record);
      if (!now?.hasEnded) return { twin, now };
      onEnded(record, now);
      ended.set(record.key, endedText(record, now));
    } catch (error) {
      if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
      return { twin, unread: error };
    }
  }
}
