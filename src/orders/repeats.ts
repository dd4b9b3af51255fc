import { anotherOf } from '../journal/another.ts';
import type { AttemptClaim } from '../journal/attempts.ts';
import { contentHash } from '../journal/content.ts';
import { journalCommand } from '../journal/journal-command.ts';
import { type Intent, type JournalRecord, keyLifeMs } from '../journal/journal-record.ts';
import { damagedRecord, sentWithAnother } from '../journal/take-over.ts';
import type { Twin, TwinRule } from '../journal/twins.ts';
import { DamagedError, ErrandError, StorageError } from '../platform/errors.ts';
import { Deadline } from '../platform/wait/deadline.ts';
import { whereFlags } from '../run/context-flags.ts';
import type { OrderContext } from '../run/order-context.ts';
import type { Consent } from '../spending/options.ts';
import type { Gate } from '../spending/policy/gate.ts';
import { mayHavePolicy } from '../spending/policy/load.ts';
import { gateFor, passing } from '../spending/through-policy.ts';
import { type CurrentState, currentState, endedText } from './current-state.ts';
import { keyOfAnother } from './existing.ts';
import type { IntentOf } from './intent.ts';
import { checkKeyAge } from './key-life.ts';
import { letGo } from './let-go.ts';
import type { JournaledOperation, MadeBy } from './order-record.ts';
import type { Made } from './placed.ts';
import { beingPlaced, declined, repeated, repeatedText, stateUnknown } from './repeated.ts';
import { resumeKnown } from './resume.ts';
import { thingOf } from './things.ts';

/** How long a command waits for the id of the same order that another process is placing at this moment, ms. */
const patienceMs = 3_000;
const pauseMs = 40;

/**
 * Which records of the same intent stand in its way: none where a second one is meant, what is owed, also what was just
 * reported; `shown` shows that again, where a key would have done so.
 */
export type RepeatRule = 'none' | 'owed' | 'repeats' | 'shown';

/** A rule as the journal takes it, at this moment; undefined where nothing stands in the way. */
export function twinRule(
  { clock, settings }: OrderContext,
  rule: RepeatRule,
  ended: Ended = new Map(),
): TwinRule | undefined {
  const { value: windowMs } = settings.repeatWindowMs;
  if (rule === 'none') return undefined;
  return {
    repeatedSince: rule !== 'owed' && windowMs > 0 ? clock.now() - windowMs : undefined,
    ended: new Set(ended.keys()),
  };
}

/** Whether it was reported what a record led to within the repeat window. */
export function isRepeated(
  context: OrderContext,
  { state, settled_at: at, created_at: since }: JournalRecord,
): boolean {
  const after = twinRule(context, 'repeats')?.repeatedSince;
  return state === 'reported' && after !== undefined && Date.parse(at ?? since) >= after;
}

/** Keys of orders that have failed or were cancelled, as this command has read, with what is said once it orders again. */
export type Ended = Map<string, string>;

/** How earlier records of the same intent are taken, by the steps of one command. */
interface Earlier {
  /** By a request that the user wrote, with the command `api`. */
  readonly isByHand?: boolean | undefined;
  readonly ended?: Ended | undefined;
}

/** The attempt that is written with the intent. */
interface Claiming {
  readonly claim?: AttemptClaim;
}

type Recorded<N extends JournaledOperation> =
  | { readonly placed: Made<MadeBy[N]>; readonly isOvertaken?: never }
  /** `isOvertaken`: another process has decided about the same need meanwhile. */
  | { readonly placed?: never; readonly mayBeSent: boolean; readonly isOvertaken: boolean };

/**
 * Writes an intent down, with the money that it may spend, unless the same is owed already: then that one is settled, or
 * reported, in its place.
 * @throws ErrandError policy where the policy does not let it through; nothing is written then.
 * @throws ErrandError conflict for a repeated command, naming the order or the key under which it is being placed.
 */
export async function recordOnce<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  rule: RepeatRule,
  { isByHand, ended = new Map(), claim, ...consent }: Earlier & Consent & Claiming = {},
): Promise<Recorded<N>> {
  const gate = await gateOf(context, intent, rule, consent);
  let mayBeSent = false;
  let isOvertaken = false;
  const attempt = async (twins: TwinRule | undefined): Promise<Twin | undefined> => {
    const journal = await context.journal();
    const recorded = await passing(gate, () => journal.record(intent, twins, gate?.reserving, claim));
    mayBeSent = recorded.mayBeSent === true;
    isOvertaken = recorded.isOvertaken === true;
    return recorded.twin;
  };
  const { placed } = await pastTwins(context, intent, rule, { isByHand, ended }, attempt);
  if (placed) return { placed };
  if (isOvertaken) return { mayBeSent, isOvertaken };
  if (intent.operation === 'order.create') await checkKeyAge(context, intent, mayBeSent);
  for (const text of ended.values()) context.note(`${text}; ordering again`);
  return { mayBeSent, isOvertaken };
}

/** What keeps the policy from deciding sends nothing now; what the same intent may have led to before stands all the same. */
async function gateOf(
  context: OrderContext,
  intent: Intent,
  rule: RepeatRule,
  consent: Consent,
): Promise<Gate | undefined> {
  try {
    return await gateFor(context, [{ intent }], consent);
  } catch (error) {
    const earlier = error instanceof ErrandError ? await earlierOf(context, intent, rule) : undefined;
    if (!earlier || earlier === 'unknown' || !(error instanceof ErrandError)) throw error;
    const { key, order_id: id } = earlier;
    throw new ErrandError(id === null ? 'in_doubt' : error.category, error.message, {
      ...error.facts,
      idempotencyKey: key,
      outcome: id === null ? 'unknown' : 'applied',
      next: [{ command: journalCommand('resume', key, whereFlags(context)), when: 'to find out, safely' }],
      cause: error,
    });
  }
}

/** What an earlier command owes is settled before a policy is asked, which must not stand in its way. @throws as `recordOnce`. */
export async function settleOwed<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  earlier: Earlier,
): Promise<Made<MadeBy[N]> | undefined> {
  if (!mayHavePolicy(context)) return undefined;
  return (await settleEarlier(context, intent, 'owed', earlier)).placed;
}

/**
 * The same without writing the intent down. @returns what was placed in its place; else which records may still come in
 * between. @throws as `recordOnce`.
 */
export const settleEarlier = <N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  rule: RepeatRule,
  earlier: Earlier,
): Promise<{ readonly placed: Made<MadeBy[N]> | undefined; readonly rule: RepeatRule }> =>
  pastTwins(
    context,
    intent,
    rule,
    earlier,
    async (twins) => twins && (await context.journal()).look(intent, twins),
  );

async function pastTwins<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  rule: RepeatRule,
  { isByHand = false, ended = new Map() }: Earlier,
  attempt: (twins: TwinRule | undefined) => Promise<Twin | undefined>,
): Promise<{ readonly placed: Made<MadeBy[N]> | undefined; readonly rule: RepeatRule }> {
  const { clock, signal } = context;
  const deadline = new Deadline(clock, patienceMs);
  let left = rule;
  for (;;) {
    const twins = twinRule(context, left, ended);
    const twin = await known(context, intent, rule, () => attempt(twins));
    if (!twin) return { placed: undefined, rule: left };
    const { situation, record } = twin;
    if (situation === 'made') return { placed: await madeByKey(context, intent, record), rule: left };
    if (situation === 'damaged') throw damagedRecord(record);
    if (situation === 'other_key') throw sentWithAnother(record);
    if (situation === 'in_doubt') return { placed: await settleInDoubt(context, intent, record), rule: left };
    if (record.order_id === null) {
      if (!(await deadline.pause(pauseMs, signal))) throw beingPlaced(context, record);
      continue;
    }
    const now = await readState(context, twin, isByHand);
    if (now?.hasEnded) {
      await passOver(context, twin, now);
      // Only these keys: what another process orders in their place is a repeat.
      ended.set(record.key, endedText(record, now));
    } else if (situation === 'unreported') {
      return { placed: await showUnreported(context, intent, record, now), rule: left };
    } else if (left === 'shown') {
      return { placed: await resumeKnown(context, intent.operation, record), rule: left };
    } else if (await isAnotherMeant(context, record, now)) {
      left = 'owed';
    } else {
      throw context.interactive.yes ? declined(context, record) : repeated(context, record, now, isByHand);
    }
  }
}

/** @throws ErrandError unavailable where nobody knows whether the order still stands; then nothing is sent. */
async function readState(
  context: OrderContext,
  { situation, record }: Twin,
  isByHand: boolean,
): Promise<CurrentState | undefined> {
  try {
    return await currentState(context, record);
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    // It is still owed to the user, who is not to be told that it was placed.
    if (situation === 'unreported') await letGo(context, [{ key: record.key, baseUrl: record.base_url }]);
    throw stateUnknown(context, record, error, isByHand);
  }
}

/** Says what became of an order that has ended where that was owed: nobody had been told of it. */
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
    // The next command that looks at it says it once more.
    if (!(error instanceof ErrandError)) throw error;
  }
}

/** Where the journal cannot be written, what it holds of the intent is said. */
async function known<T>(
  context: OrderContext,
  intent: Intent,
  rule: RepeatRule,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    throw notRecorded(error, intent, await earlierOf(context, intent, rule));
  }
}

/** Unknown where the journal cannot be read. */
async function earlierOf(
  context: OrderContext,
  intent: Intent,
  rule: RepeatRule,
): Promise<JournalRecord | 'unknown' | undefined> {
  try {
    return (await context.journal()).earlier(intent, rule !== 'none');
  } catch (error) {
    if (error instanceof StorageError) return 'unknown';
    throw error;
  }
}

/** The same intent is in doubt: what became of it is what this command requested. */
async function settleInDoubt<N extends JournaledOperation>(
  context: OrderContext,
  { operation }: IntentOf<N>,
  record: JournalRecord,
): Promise<Made<MadeBy[N]>> {
  const { one } = thingOf(record.operation);
  const how = record.payment === null ? '' : ' with its own payment';
  context.note(
    `the same ${one} is in doubt since ${record.created_at}; settling that one${how} (${anotherOf(record)})`,
  );
  return resumeKnown(context, operation, record);
}

/** The same intent has led to something, and the user was never told. */
async function showUnreported<N extends JournaledOperation>(
  context: OrderContext,
  { operation }: IntentOf<N>,
  record: JournalRecord,
  now: CurrentState | undefined,
): Promise<Made<MadeBy[N]>> {
  const { one, made } = thingOf(record.operation);
  const { created_at: since, settled_at: at, order_id: id } = record;
  // Whoever runs the same command days later may well mean another one, and must not hear that it was placed.
  if (Date.parse(at ?? since) < context.clock.now() - keyLifeMs) throw repeated(context, record, now);
  context.note(
    `this ${one} was ${made} by the command that was interrupted at ${at}: ${id} (${anotherOf(record)})`,
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

/** What the key of an intent has led to, where that is the same. @throws ErrandError conflict where it is another. */
async function madeByKey<N extends JournaledOperation>(
  context: OrderContext,
  { operation, body }: IntentOf<N>,
  record: JournalRecord,
): Promise<Made<MadeBy[N]>> {
  const isSame = record.operation === operation && record.body_hash === contentHash(operation, body);
  if (!isSame) throw keyOfAnother(record, body);
  return resumeKnown(context, operation, record);
}

/** Nothing was sent now; what an earlier command has sent for the same intent stands all the same. */
function notRecorded(
  error: StorageError,
  { operation }: Intent,
  earlier: JournalRecord | 'unknown' | undefined,
): ErrandError {
  const { one } = thingOf(operation);
  if (!earlier || earlier === 'unknown') {
    const isUnsure = earlier === 'unknown' || error instanceof DamagedError;
    const sent = isUnsure
      ? 'nothing was sent now, and an earlier command may have ordered'
      : 'nothing was sent';
    const outcome = isUnsure ? 'unknown' : 'not_sent';
    const facts = { ...error.facts, outcome, cause: error } as const;
    return new StorageError(`${error.message}; ${sent}`, facts, error.category);
  }
  const { key, order_id: id, created_at: since } = earlier;
  const what = id === null ? `is in doubt since ${since}, as ${key}` : `exists already: ${id}`;
  const facts = {
    ...error.facts,
    idempotencyKey: key,
    outcome: error instanceof DamagedError || id === null ? 'unknown' : 'applied',
    cause: error,
  } as const;
  const message = `${error.message}; nothing was sent now, and the same ${one} ${what}`;
  return new StorageError(message, facts, error.category);
}
