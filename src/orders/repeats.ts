import { ErrandError, StorageError } from '../errors.ts';
import type { OrderContext } from '../order-context.ts';
import { shellLine, shellWord, typedCommand } from '../shell-word.ts';
import type { Consent } from '../spending/options.ts';
import type { Gate } from '../spending/policy/gate.ts';
import { mayHavePolicy } from '../spending/policy/load.ts';
import { gateFor, passing } from '../spending/through-policy.ts';
import { anotherOf, anotherSentence, hasNew } from '../state/another.ts';
import { journalCommand } from '../state/journal-command.ts';
import type { Intent, JournalRecord } from '../state/journal-record.ts';
import { damagedRecord, sentWithAnother } from '../state/take-over.ts';
import type { Twin, TwinRule } from '../state/twins.ts';
import { Deadline } from '../wait/deadline.ts';
import { whereFlags } from '../where-flags.ts';
import type { IntentOf } from './intent.ts';
import { keyLifeMs } from './key-life.ts';
import { madeByKey } from './made-by-key.ts';
import { notRecorded } from './not-recorded.ts';
import type { JournaledOperation, MadeBy } from './order-record.ts';
import type { Made, Placing } from './placed.ts';
import { resumeKnown } from './resume.ts';
import { isKeyed, thingOf } from './things.ts';

/** How long a command waits for the id of the same order that another process is placing at this moment, ms. */
const patienceMs = 3_000;
const pauseMs = 40;

/**
 * Which records of the same intent stand in its way: none where a second one is meant, what is owed, also what was just
 * reported; `shown` shows that again, where a key would have done so.
 */
export type RepeatRule = 'none' | 'owed' | 'repeats' | 'shown';

/** A rule as the journal takes it, at this moment; undefined where nothing stands in the way. */
export function twinRule({ clock, settings }: OrderContext, rule: RepeatRule): TwinRule | undefined {
  const { value: windowMs } = settings.repeatWindowMs;
  if (rule === 'none') return undefined;
  return { repeatedSince: rule !== 'owed' && windowMs > 0 ? clock.now() - windowMs : undefined };
}

/** Whether it was reported what a record led to within the repeat window. */
export function isRepeated(
  context: OrderContext,
  { state, settled_at: at, created_at: since }: JournalRecord,
): boolean {
  const after = twinRule(context, 'repeats')?.repeatedSince;
  return state === 'reported' && after !== undefined && Date.parse(at ?? since) >= after;
}

type Recorded<N extends JournaledOperation> =
  | { readonly placed: Made<MadeBy[N]> }
  | { readonly placed?: never; readonly mayBeSent: boolean };

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
  { isByHand = false, ...consent }: Omit<Placing, 'isNew'> = {},
): Promise<Recorded<N>> {
  const gate = await gateOf(context, intent, rule, consent);
  let mayBeSent = false;
  const attempt = async (twins: TwinRule | undefined): Promise<Twin | undefined> => {
    const journal = await context.journal();
    const recorded = await passing(gate, () => journal.record(intent, twins, gate?.reserving));
    mayBeSent = recorded.mayBeSent === true;
    return recorded.twin;
  };
  const { placed } = await pastTwins(context, intent, { rule, isByHand }, attempt);
  return placed ? { placed } : { mayBeSent };
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
): Promise<Made<MadeBy[N]> | undefined> {
  if (!mayHavePolicy(context)) return undefined;
  return (await settleEarlier(context, intent, 'owed')).placed;
}

/**
 * The same without writing the intent down. @returns what was placed in its place; else which records may still come in
 * between. @throws as `recordOnce`.
 */
export const settleEarlier = <N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  rule: RepeatRule,
  isByHand = false,
): Promise<{ readonly placed: Made<MadeBy[N]> | undefined; readonly rule: RepeatRule }> =>
  pastTwins(
    context,
    intent,
    { rule, isByHand },
    async (twins) => twins && (await context.journal()).look(intent, twins),
  );

async function pastTwins<N extends JournaledOperation>(
  context: OrderContext,
  intent: IntentOf<N>,
  { rule, isByHand }: { readonly rule: RepeatRule; readonly isByHand: boolean },
  attempt: (twins: TwinRule | undefined) => Promise<Twin | undefined>,
): Promise<{ readonly placed: Made<MadeBy[N]> | undefined; readonly rule: RepeatRule }> {
  const { clock, signal } = context;
  const deadline = new Deadline(clock, patienceMs);
  let left = rule;
  for (;;) {
    const twins = twinRule(context, left);
    const twin = await known(context, intent, rule, () => attempt(twins));
    if (!twin) return { placed: undefined, rule: left };
    if (twin.situation === 'made')
      return { placed: await madeByKey(context, intent, twin.record), rule: left };
    if (twin.situation === 'damaged') throw damagedRecord(twin.record);
    if (twin.situation === 'other_key') throw sentWithAnother(twin.record);
    if (twin.situation === 'in_doubt' || twin.situation === 'unreported')
      return { placed: await settleTwin(context, intent, twin), rule: left };
    const { order_id: id } = twin.record;
    if (id !== null) {
      if (left === 'shown')
        return { placed: await resumeKnown(context, intent.operation, twin.record), rule: left };
      if (!(await isAnotherMeant(context, twin.record, id)))
        throw context.interactive.yes
          ? declined(context, twin.record, id)
          : repeated(context, twin.record, id, isByHand);
      left = 'owed';
    } else if (!(await deadline.pause(pauseMs, signal))) throw beingPlaced(context, twin.record);
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

/** The same intent is in doubt, or was placed and never reported: what became of it is what this command requested. */
async function settleTwin<N extends JournaledOperation>(
  context: OrderContext,
  { operation }: IntentOf<N>,
  { situation, record }: Twin,
): Promise<Made<MadeBy[N]>> {
  const { one, made } = thingOf(record.operation);
  const { created_at: since, settled_at: at, order_id: id } = record;
  if (situation === 'in_doubt') {
    const how = record.payment === null ? '' : ' with its own payment';
    context.note(
      `the same ${one} is in doubt since ${since}; settling that one${how} (${anotherOf(record)})`,
    );
    return resumeKnown(context, operation, record);
  }
  // Whoever runs the same command days later may well mean another one, and must not hear that it was placed.
  if (Date.parse(at ?? since) < context.clock.now() - keyLifeMs) throw repeated(context, record, id ?? '');
  context.note(
    `this ${one} was ${made} by the command that was interrupted at ${at}: ${id} (${anotherOf(record)})`,
  );
  return resumeKnown(context, operation, record);
}

async function isAnotherMeant(context: OrderContext, record: JournalRecord, id: string): Promise<boolean> {
  if (!context.interactive.yes) return false;
  const { one, made } = thingOf(record.operation);
  context.note(`the same ${one} was ${made} at ${record.settled_at}: ${id}`);
  return context.confirm('Order another one?');
}

/** Who answers no knows why nothing more is made. */
function declined(context: OrderContext, { operation }: JournalRecord, id: string): ErrandError {
  const { one, made, get } = thingOf(operation);
  return new ErrandError('interrupted', `no second ${one} was ${made}`, {
    outcome: 'not_sent',
    next: [
      { command: `${get} ${shellWord(id)}${whereFlags(context)}`, when: 'to see the first' },
      { command: `${typedCommand(context.argv ?? [])} --new`, when: `for another ${one}` },
    ],
  });
}

/** @param isByHand where the running command is `api`, which takes `--new` for every operation, and no key. */
export function repeated(
  context: OrderContext,
  record: JournalRecord,
  id: string,
  isByHand = false,
): ErrandError {
  const { key, operation, settled_at: at, body } = record;
  const { one, made, get, id: idName } = thingOf(operation);
  // A command may retry several orders; the others of it are not meant.
  const again =
    operation === 'legacy.retry' && !isByHand
      ? `${shellLine`errand legacy retry ${String(body.order_id)}`}${whereFlags(context)}`
      : typedCommand(context.argv ?? []);
  return new ErrandError(
    'conflict',
    `the same ${one} was ${made} at ${at}: ${id}; no second one was ${made}`,
    {
      details: { [idName]: id, [`${made}_at`]: at },
      idempotencyKey: key,
      outcome: 'applied',
      retryable: false,
      hint: `An identical ${one} within a short time is refused as a repeated command (\`errand config set repeat-window\`).`,
      next: [
        { command: `${get} ${shellWord(id)}${whereFlags(context)}`, when: 'to see it' },
        ...(isKeyed(operation) && !isByHand
          ? [
              {
                command: `${again} --idempotency-key ${shellWord(key)}`,
                when: 'in a job that may be retried: the same key is always the same order',
              },
            ]
          : []),
        ...(isByHand || hasNew(operation) ? [{ command: `${again} --new`, when: `for another ${one}` }] : []),
      ],
    },
  );
}

/** The very same is being placed by another process at this moment: impatience, more likely than a second intent. */
const beingPlaced = (context: OrderContext, { key, pid, operation }: JournalRecord): ErrandError =>
  new ErrandError(
    'conflict',
    `process ${pid} is placing the same ${thingOf(operation).one} at this moment, as ${key}`,
    {
      idempotencyKey: key,
      outcome: 'unknown',
      hint: `Wait for it to end. ${anotherSentence({ key, operation })}`,
      next: [
        {
          command: journalCommand('resume', key, whereFlags(context)),
          when: 'to see what became of it, once the other process has ended',
        },
      ],
    },
  );
