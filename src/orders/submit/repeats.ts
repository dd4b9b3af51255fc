import { type JournalRecord, keyLifetimeMs } from '../../journal/journal-record.ts';
import { damagedRecord, reorderHint, sentWithOtherKey } from '../../journal/take-over.ts';
import type { Twin, TwinRule } from '../../journal/twins.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Consent } from '../../spending/options.ts';
import { mayHavePolicy } from '../../spending/policy/load.ts';
import { withPolicy } from '../../spending/policy-gate.ts';
import { letGo } from '../let-go.ts';
import type { JournaledOperation, MadeBy } from '../order-record.ts';
import { type CurrentState, currentState, endedText } from './current-state.ts';
import { type IntentOf, labelsOf, type Made } from './intent.ts';
import { checkKeyAge } from './key-life.ts';
import { gateOf, madeByKey, type Recorded, recordIntent, withEarlier } from './record.ts';
import { beingPlaced, declined, repeated, repeatedText, stateUnknown } from './repeated.ts';
import { resumeKnown } from './resume.ts';

/** How long to wait for another process that is placing the same order, ms. */
const patienceMs = 3_000;
const pauseMs = 40;
/** How long an identical request counts as a repeated command unless the user has set another time, ms. */
const repeatMs = 600_000;

/**
 * Which earlier records of the same intent block it. `none`: no record blocks, because a duplicate is intended. `owed`:
 * unsettled or unreported records block. `repeats`: recently reported records block too. `shown`: the same records
 * block as for `repeats`, but the earlier result is shown, as with an idempotency key.
 */
export type RepeatRule = 'none' | 'owed' | 'repeats' | 'shown';

/** Converts a rule to the journal's form at the current time; undefined if nothing blocks. */
export function twinRule(
  { clock, settings }: OrderContext,
  rule: RepeatRule,
  ended: Ended = new Map(),
): TwinRule | undefined {
  const { value: windowMs = repeatMs } = settings.duplicateWindowMs;
  if (rule === 'none') return undefined;
  return {
    repeatedSince: rule !== 'owed' && windowMs > 0 ? clock.now() - windowMs : undefined,
    ended: new Set(ended.keys()),
  };
}

/** Whether a record's result was reported within the duplicate window. */
export function isRepeated(
  context: OrderContext,
  { state, settled_at: at, created_at: since }: JournalRecord,
): boolean {
  const after = twinRule(context, 'repeats')?.repeatedSince;
  return state === 'reported' && after !== undefined && Date.parse(at ?? since) >= after;
}

/**
 * Keys of failed or cancelled orders that this command has found. Each key has the note to print if the command places
 * a new order.
 */
export type Ended = Map<string, string>;

/** How the steps of one command treat earlier records of the same intent. */
interface Earlier {
  /** Set for a request written by the user, with the command `api`. */
  readonly isByHand?: boolean | undefined;
  readonly ended?: Ended | undefined;
}

/**
 * Records an intent and reserves its money. If the same intent is already open, settles or reports that intent instead.
 * @throws ErrandError policy if the policy refuses the intent; nothing is written then.
 * @throws ErrandError conflict for a repeated command, naming the order or the key under which it is being placed.
 */
export async function recordOnce<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  rule: RepeatRule,
  { isByHand, ended = new Map(), ...consent }: Earlier & Consent = {},
): Promise<Recorded<N>> {
  if (rule === 'none') return recordIntent(context, intent, consent);
  const gate = await gateOf(context, intent, true, consent);
  let mayBeSent = false;
  const attempt = async (twins: TwinRule | undefined): Promise<Twin | undefined> => {
    const journal = await context.journal();
    const recorded = await withPolicy(gate, () => journal.record(intent, twins, gate?.reserving));
    mayBeSent = recorded.mayBeSent === true;
    return recorded.duplicate;
  };
  const placed = await pastTwins(context, intent, rule, { isByHand, ended }, attempt);
  if (placed) return { placed };
  if (intent.operation === 'order.create') await checkKeyAge(context, intent, mayBeSent);
  for (const text of ended.values()) context.note(`${text}; ordering again`);
  return { mayBeSent, isOvertaken: false };
}

/**
 * Settles what an earlier command left open. This happens before the policy is asked, because the policy must not block
 * it. @throws the same errors as `recordOnce`.
 */
export async function settleOwed<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  earlier: Earlier,
): Promise<Made<MadeBy[N]> | undefined> {
  if (!mayHavePolicy(context)) return undefined;
  return pastTwins(
    context,
    intent,
    'owed',
    earlier,
    async (twins) => twins && (await context.journal()).acquireDuplicate(intent, twins),
  );
}

async function pastTwins<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  rule: RepeatRule,
  { isByHand = false, ended = new Map() }: Earlier,
  attempt: (twins: TwinRule | undefined) => Promise<Twin | undefined>,
): Promise<Made<MadeBy[N]> | undefined> {
  const { clock, signal } = context;
  const deadline = new Deadline(clock, patienceMs);
  let left = rule;
  for (;;) {
    const twins = twinRule(context, left, ended);
    const twin = await withEarlier(context, intent, rule !== 'none', () => attempt(twins));
    if (!twin) return undefined;
    const { situation, record } = twin;
    if (situation === 'made') return madeByKey(context, intent, record);
    if (situation === 'damaged') throw damagedRecord(record);
    if (situation === 'other_key') throw sentWithOtherKey(record);
    if (situation === 'in_doubt') return settleInDoubt(context, intent, record);
    if (record.order_id === null) {
      if (!(await deadline.pause(pauseMs, signal))) throw beingPlaced(context, record);
      continue;
    }
    const now = await readState(context, twin, isByHand);
    if (now?.hasEnded) {
      await passOver(context, twin, now);
      // Skip only the keys of ended orders. If another process has ordered a replacement, this command counts as a
      // repeat.
      ended.set(record.key, endedText(record, now));
    } else if (situation === 'unreported') {
      return showUnreported(context, intent, record, now);
    } else if (left === 'shown') {
      return resumeKnown(context, intent.operation, record);
    } else if (await isAnotherMeant(context, record, now)) {
      left = 'owed';
    } else {
      throw context.interactive.yes ? declined(context, record) : repeated(context, record, now, isByHand);
    }
  }
}

/** @throws ErrandError unavailable if the order's state is unknown; nothing is sent then. */
async function readState(
  context: OrderContext,
  { situation, record }: Twin,
  isByHand: boolean,
): Promise<CurrentState | undefined> {
  try {
    return await currentState(context, record);
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    // Release the record, which stays unreported. The error must not say that the order was placed.
    if (situation === 'unreported') await letGo(context, [{ key: record.key, baseUrl: record.base_url }]);
    throw stateUnknown(context, record, error, isByHand);
  }
}

/** Reports an ended order that the user was never told about. */
async function passOver(
  context: OrderContext,
  { situation, record }: Twin,
  now: CurrentState,
): Promise<void> {
  if (situation !== 'unreported') return;
  context.note(endedText(record, now));
  const { key, base_url: baseUrl, operation, order_id: madeId } = record;
  try {
    await (await context.journal()).report([{ key, baseUrl, operation, madeId: madeId ?? undefined }]);
  } catch (error) {
    // Ignore the failure, because the next command that finds the order reports it again.
    if (!(error instanceof ErrandError)) throw error;
  }
}

/** Settles an in-doubt record of the same intent, and returns its result. */
async function settleInDoubt<N extends JournaledOperation>(
  context: OrderContext,
  { operation }: IntentOf<N>,
  record: JournalRecord,
): Promise<Made<MadeBy[N]>> {
  const { one } = labelsOf(record.operation);
  context.note(
    `the same ${one} is in doubt since ${record.created_at}; settling that one (${reorderHint(record)})`,
  );
  return resumeKnown(context, operation, record);
}

/** Reports the result of the same intent if the user was never told. */
async function showUnreported<N extends JournaledOperation>(
  context: OrderContext,
  { operation }: IntentOf<N>,
  record: JournalRecord,
  now: CurrentState | undefined,
): Promise<Made<MadeBy[N]>> {
  const { one, made } = labelsOf(record.operation);
  const { created_at: since, settled_at: at, order_id: id } = record;
  // Days later, the same command probably means a new order, so do not report the old one as its result.
  if (Date.parse(at ?? since) < context.clock.now() - keyLifetimeMs) throw repeated(context, record, now);
  context.note(
    `this ${one} was ${made} by the command that was interrupted at ${at}: ${id} (${reorderHint(record)})`,
  );
  return resumeKnown(context, operation, record);
}

async function isAnotherMeant(
  context: OrderContext,
  record: JournalRecord,
  now: CurrentState | undefined,
): Promise<boolean> {
  if (!context.interactive.yes) return false;
  context.note(repeatedText(record, now));
  return context.confirm('Order another one?');
}
