import { journalCommand } from '../../journal/journal-command.ts';
import type { Intent } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { damagedRecord, reorderHint, sentWithOtherKey } from '../../journal/take-over.ts';
import type { Twin, TwinRule } from '../../journal/twins.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { JournaledOperation } from '../order-record.ts';
import { type CurrentState, currentState, endedText, sentText } from './current-state.ts';
import { type IntentOf, isKeyed, labelsOf, makesOrder } from './intent.ts';
import { isKeyOld } from './key-life.ts';

/** How long, in ms, an identical request counts as a repeat, unless the user has set another time. */
const repeatMs = 600_000;

/** Decides which records of an identical request block it. @param ended holds the keys of orders that have ended. */
export function duplicateRule({ clock, settings }: OrderContext, ended?: ReadonlySet<string>): TwinRule {
  const { value: windowMs = repeatMs } = settings.duplicateWindowMs;
  return { repeatedSince: windowMs > 0 ? clock.now() - windowMs : undefined, ended };
}

/** What an earlier record of the same intent means for a request that is only shown. */
export interface EarlierRecord {
  /** Key to show with the request; undefined if the key must not be used again. */
  readonly key: string | undefined;
  /** Whether a real run would settle or report the earlier record instead of sending the request. */
  readonly isSettled: boolean;
  /** Exit code of the error with which a real run would fail; undefined if it would not fail. */
  readonly exitCode: number | undefined;
}

/**
 * For a request that is only shown, finds an earlier record of the same intent and mentions that record in a note. The
 * request is shown with the record's key, so that sending it creates no second order. Writes nothing. If the journal
 * cannot be read, the preview continues.
 * @param isOpen is false if another order is intended, or if the request has a key or a reference.
 */
export async function previewKey<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  isOpen: boolean,
): Promise<EarlierRecord | undefined> {
  if (!isOpen || !journalExists(context.settings)) return undefined;
  try {
    const seen = await seeTwin(context, intent);
    if (!seen) return undefined;
    context.note(noteOf(context, seen));
    return shownRecord(seen);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    context.note(
      `the journal cannot say whether the same ${labelsOf(intent.operation).one} is in doubt: ${error.message}`,
    );
    return undefined;
  }
}

function shownRecord({ twin: { situation, record }, unread }: SeenTwin): EarlierRecord {
  if (situation === 'damaged')
    return { key: undefined, isSettled: true, exitCode: damagedRecord(record).exitCode };
  const exitCode = unread && exitCodes.unavailable;
  const isOpen = situation !== 'repeated' && situation !== 'other_key';
  return { key: record.key, isSettled: isOpen || unread !== undefined, exitCode };
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
      return sentOrPlaced(record, now);
    default:
      return `the same ${one} is in doubt since ${since}`;
  }
}

/** `the same order was placed at 2026-11-24T09:00:00.000Z: ID (waiting)`. */
function sentOrPlaced(record: Twin['record'], now: CurrentState | undefined): string {
  const { operation, settled_at: at, order_id: id } = record;
  if (!now && makesOrder(operation)) return sentText(record);
  const { one, made } = labelsOf(operation);
  return `the same ${one} was ${made} at ${at}: ${id}${now ? ` (${now.text})` : ''}`;
}

/** An earlier record that blocks an intent, and the known facts about the record. */
interface SeenTwin {
  readonly twin: Twin;
  readonly now?: CurrentState | undefined;
  /** Why the state of the record's order could not be read. */
  readonly unread?: ErrandError | undefined;
}

/** Finds the record that would block an intent. Does not take over the record. @throws StorageError. */
async function seeTwin(context: OrderContext, intent: Intent): Promise<SeenTwin | undefined> {
  const ended = new Set<string>();
  for (;;) {
    const twin = (await context.journal()).peekDuplicate(intent, duplicateRule(context, ended));
    if (!twin) return undefined;
    const { situation, record } = twin;
    if (situation === 'damaged' || situation === 'other_key' || context.previewsReads) return { twin };
    try {
      const now = await currentState(context, record);
      if (!now?.hasEnded) return { twin, now };
      context.note(endedText(record, now));
      ended.add(record.key);
    } catch (error) {
      if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
      return { twin, unread: error };
    }
  }
}
