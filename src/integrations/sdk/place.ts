import { issueText } from '../../api/validation.ts';
import { InterruptedError, MissingKeyError } from '../../http/errors.ts';
import type { Reference } from '../../journal/attempts.ts';
import { contentHash } from '../../journal/content.ts';
import type { Journal } from '../../journal/journal.ts';
import { isMade, type JournalRecord } from '../../journal/journal-record.ts';
import { isBeingSent, isOthers, wasSentWithOtherKey } from '../../journal/take-over.ts';
import { wholeCents } from '../../orders/input/whole-cents.ts';
import { letGo } from '../../orders/let-go.ts';
import { needOf } from '../../orders/needs/need.ts';
import { checkMetadata } from '../../orders/needs/options.ts';
import {
  namespaceProblem,
  referenceIn,
  referenceOf,
  referenceProblem,
  withReference,
} from '../../orders/needs/reference.ts';
import { adoptOrder, keyOfAnother } from '../../orders/submit/existing.ts';
import { asOrder, type Body, type KeyedBody, type Made, type Placed } from '../../orders/submit/intent.ts';
import { resumeKnown } from '../../orders/submit/resume.ts';
import { placeOrder as placeJournaled } from '../../orders/submit/submit.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { poll } from '../../platform/poll.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { aSignal, aText, aYesOrNo, checkOptions } from './checks.ts';
import { type ClientParts, partsOf } from './client-parts.ts';
import type { Client } from './client-types.ts';
import { inTurn, type Turn } from './in-turn.ts';
import type { OrderJournal } from './journal.ts';
import { type JournalParts, journalPartsOf } from './journal-parts.ts';
import { placingContext } from './placing-context.ts';
import { asThrown } from './thrown.ts';
import type { OrderCreate, OrderResponse } from './wire.ts';

export interface PlacedOrder {
  readonly order: OrderResponse;
  /**
   * Whether the order existed already, because it was placed by an earlier call or, with a reference, by another
   * machine.
   */
  readonly existed: boolean;
  /** Notes for people: a policy warning, an earlier order that has ended, or a field that the service changed. */
  readonly notes: readonly string[];
}

export interface ResumeOptions {
  /** Aborts the call. If the order was already sent by then, it is in doubt. Repeating the call settles it. */
  readonly signal?: AbortSignal | undefined;
}

/** None of `again`, `new` and `reference` can be combined with an `idempotency_key` of your own. */
export interface PlaceOptions extends ResumeOptions {
  /**
   * Your own name for what is bought, such as a requisition number. Whatever has this name is bought only once, even if
   * several machines order it. At most 200 characters. Everybody who may list the account's orders can see the name.
   */
  readonly reference?: string | undefined;
  /** Who assigns the references. With different values, two shops can each have an order 1001. */
  readonly namespace?: string | undefined;
  /** Whether to buy again after the earlier order was cancelled or returned. */
  readonly again?: boolean | undefined;
  /**
   * Places another order, regardless of earlier orders. It excludes `reference`, because a further order needs a
   * further reference.
   */
  readonly new?: boolean | undefined;
}

/**
 * Places an order once, however many calls and processes try. The intent is journaled and fsynced before anything is
 * sent, and is settled when the promise resolves. Waits for a concurrent call that is placing the order.
 *
 * With a `reference`, the live order that has it is returned if products, quantities and recipient are the same. With
 * an `idempotency_key` of your own, the order of that key is returned, whatever else was ordered. With neither, the
 * same products for the same recipient within 12 hours (10 minutes with a test key) are a duplicate.
 * @throws UsageError for an invalid order or option. Nothing was sent.
 * @throws DuplicateError if it was ordered before. Nothing was sent.
 * @throws PolicyError if the policy refuses the order or requires a person's approval. Nothing was sent.
 * @throws InDoubtError if the order may have been placed without confirmation, also after an abort. Make the same call
 * again, or call `resumeOrder`.
 * @throws ErrandError `conflict` if the key belongs to another order, service or account; `interrupted` after an abort;
 * `unavailable` if the state of an earlier order cannot be read; ServiceError and its subclasses if the service refuses
 * the order; StorageError if the journal cannot be written, in which case nothing was sent.
 */
export async function placeOrder(
  client: Client,
  journal: OrderJournal,
  order: OrderCreate,
  options: PlaceOptions = {},
): Promise<PlacedOrder> {
  checkOptions('placeOrder', options, placeRules);
  const checked = await checkedOrder(order);
  const reference = checkedReference(checked, options);
  const body = reference ? withReference(checked, reference) : checked;
  const { new: isNew = false, again = false, signal } = options;
  const key = body.idempotency_key ?? undefined;
  return settling(client, journal, { key, body, reference, signal }, async (context, of) => {
    if (key === undefined) return placeJournaled(context, body, { isNew, again, reference, door: 'library' });
    const keyed = { ...body, idempotency_key: key };
    const stored = of.journal.find(key, of.baseUrl);
    checkNowhereElse(of.journal, key, of.baseUrl);
    return (
      (stored && (await placedWithOtherKey(context, stored, keyed))) ??
      placeJournaled(context, keyed, { isNew: false })
    );
  });
}

/**
 * Settles an order in the journal, given only its key. Meant for orders that `unsettled()` lists after a crash. If the
 * order is known to be placed, reads it. Otherwise sends the same order again with the same key.
 * @throws as `placeOrder`; ErrandError `not_found` if the journal has no such key at this service.
 */
export async function resumeOrder(
  client: Client,
  journal: OrderJournal,
  key: string,
  options: ResumeOptions = {},
): Promise<PlacedOrder> {
  checkOptions('resumeOrder', options, resumeRules);
  const found = journalPartsOf(journal).journal.find(key, partsOf(client).baseUrl);
  const body =
    found?.operation === 'order.create' && found.state !== 'damaged' ? await asOrder(found) : undefined;
  const call = { key, body, reference: referenceIn(body?.metadata), signal: options.signal };
  return settling(client, journal, call, async (context, of) => {
    const record = of.journal.find(key, of.baseUrl);
    if (record && record.operation !== 'order.create')
      throw new UsageError(`${key} is not an order of a key: \`errand order journal\` settles it`);
    if (record) return resumeKnown(context, 'order.create', record);
    const [elsewhere] = of.journal.elsewhere(key, of.baseUrl);
    throw new ErrandError(
      'not_found',
      `the journal has no order ${key} at ${of.baseUrl}${elsewhere ? ', but one at another service' : ''}`,
      { outcome: 'not_sent' },
    );
  });
}

const resumeRules = { signal: aSignal };
const placeRules = {
  ...resumeRules,
  reference: aText('the name of what is bought, such as a requisition'),
  namespace: aText('the name of who numbers the references'),
  again: aYesOrNo,
  new: aYesOrNo,
};

/** How long, in ms, to wait for another process that is placing the same order. */
const waitTimeoutMs = 60_000;
const pollEveryMs = 50;
/**
 * Maximum number of attempts if several callers use the same new key at once. One caller wins. The next attempt of any
 * other caller then finds the winner's result, or waits for it.
 */
const maxTries = 3;

interface Of extends JournalParts {
  readonly baseUrl: string;
}

/** What is to be settled. */
interface Call {
  /** The key that the caller chose, or the key of an existing record. */
  readonly key: string | undefined;
  /** The order's body. Undefined if the journal does not contain the body. */
  readonly body: Body | undefined;
  readonly reference: Reference | undefined;
  readonly signal: AbortSignal | undefined;
}

type Work = (context: OrderContext, of: Of) => Promise<Made<Placed['order']>>;

async function settling(client: Client, journal: OrderJournal, call: Call, work: Work): Promise<PlacedOrder> {
  const { key, body, signal } = call;
  const used = partsOf(client);
  const { baseUrl } = used;
  const stored = journalPartsOf(journal);
  if (used.apiKey === '') throw new MissingKeyError('an order needs an API key: createClient takes apiKey');
  return inTurn(turnsOf(call, [stored.folder, baseUrl]), async () => {
    const notes: string[] = [];
    const note = (line: string): void => void notes.push(line);
    const hash = body && contentHash('order.create', body);
    const unreported = () =>
      stored.journal.run
        .all()
        .filter(
          (intent) =>
            intent.baseUrl === baseUrl &&
            (key === undefined ? intent.contentHash === hash : intent.key === key),
        );
    const context = placingContext({ client: used, journal: stored, unreported, signal, note });
    try {
      const { order, existed } = await whenFree(context, key, used, stored, work);
      await report(stored.journal, key, baseUrl, String(order.id));
      // Only the essential fields are validated here. For the other fields, there are the types of the contract.
      return { order: order as OrderResponse, existed, notes };
    } catch (error) {
      throw asThrown(error, { ...stored, intents: context.unreported(), now: used.serviceClock.now() });
    } finally {
      await letGo(context);
    }
  });
}

/**
 * The earlier calls of this process for which a call has to wait. A call with neither key nor reference is compared
 * with all earlier orders for its recipient. Any other call is compared only with those of the same key or reference.
 */
function turnsOf({ key, body, reference }: Call, of: readonly string[]): readonly Turn[] {
  const turn = (kind: string, value: string, isShared = false): Turn => ({
    name: JSON.stringify([...of, kind, value]),
    isShared,
  });
  return [
    ...(key === undefined ? [] : [turn('key', key)]),
    ...(reference ? [turn('reference', reference.text)] : []),
    ...(body
      ? [turn('recipient', needOf(body).recipient, key !== undefined || reference !== undefined)]
      : []),
  ];
}

/**
 * Waits while another process is placing the same order.
 * @param key is the order's key. Undefined if the order is identified by its need.
 */
async function whenFree(
  context: OrderContext,
  key: string | undefined,
  { baseUrl }: ClientParts,
  stored: JournalParts,
  work: Work,
): Promise<Made<Placed['order']>> {
  const { journal } = stored;
  const deadline = new Deadline(context.clock, waitTimeoutMs);
  let busy = key;
  for (let tries = 1; ; tries += 1) {
    if (busy !== undefined) await waitFor(context, journal, { key: busy, baseUrl }, deadline);
    try {
      return await work(context, { ...stored, baseUrl });
    } catch (error) {
      if (!(error instanceof ErrandError) || error.category !== 'conflict' || tries >= maxTries) throw error;
      busy = key ?? error.facts.idempotencyKey;
      const owner = busy === undefined ? undefined : journal.find(busy, baseUrl);
      // If an order was placed in the meantime, it is a duplicate, unless it has the key that the caller chose.
      if (!owner || !(key === undefined ? isBeingSent(owner) : isOthers(owner))) throw error;
    }
  }
}

/**
 * Waits until no other process is sending the record with a given key.
 * @throws InterruptedError if aborted.
 */
async function waitFor(
  context: OrderContext,
  journal: Journal,
  { key, baseUrl }: { readonly key: string; readonly baseUrl: string },
  deadline: Deadline,
): Promise<void> {
  const isFree = async (): Promise<true | undefined> => {
    if (!isBeingSent(journal.find(key, baseUrl))) return true;
    await journal.refresh();
    return isBeingSent(journal.find(key, baseUrl)) ? undefined : true;
  };
  await poll(isFree, { deadline, everyMs: pollEveryMs, signal: context.signal }).catch((error: unknown) => {
    if (!context.signal.aborted) throw error;
    throw new InterruptedError('interrupted', 'interrupted while another process places the order', {
      outcome: 'unknown',
      idempotencyKey: key,
    });
  });
}

/** @throws UsageError naming each invalid field. */
async function checkedOrder(order: OrderCreate): Promise<Body> {
  const { checkShape } = await import('../../api/schemas/check.ts');
  const { value, issues } = checkShape('OrderCreate', order, 'body');
  if (value) return wholeCents(value, undefined);
  const lines = issues.map((issue) => issueText(issue, 'the order'));
  throw new UsageError(`the order is not valid: ${lines.join('; ')}`, {
    code: 'validation_error',
    details: { detail: issues },
  });
}

/**
 * @throws UsageError if an option is invalid, or cannot be combined with another option or with the key of the order.
 */
function checkedReference(
  body: Body,
  { reference, namespace = '', again = false, new: isNew = false }: PlaceOptions,
): Reference | undefined {
  checkMetadata(body, 'give it as `reference`');
  const named = { reference: reference !== undefined, again, new: isNew };
  if (body.idempotency_key != null)
    for (const [name, isGiven] of Object.entries(named))
      if (isGiven) throw new UsageError(`idempotency_key and ${name} exclude each other; give one`);
  if (again && isNew) throw new UsageError('again and new exclude each other; give one');
  if (reference === undefined) {
    if (namespace !== '') throw new UsageError('namespace needs a reference');
    return undefined;
  }
  if (isNew)
    throw new UsageError('new and reference exclude each other; another order has another reference');
  const problem = referenceProblem(reference);
  if (problem !== undefined) throw new UsageError(`reference ${problem}`);
  const ofNamespace = namespaceProblem(namespace);
  if (ofNamespace !== undefined) throw new UsageError(`namespace ${ofNamespace}`);
  return referenceOf(reference, namespace);
}

/** @throws ErrandError conflict if the key may belong to an order at a different service. */
function checkNowhereElse(journal: Journal, key: string, baseUrl: string): void {
  const other = journal
    .elsewhere(key, baseUrl)
    .find(({ state }) => state !== 'refused' && state !== 'forgotten');
  if (!other) return;
  const what =
    other.order_id === null ? 'and may have been placed there' : `and is the order ${other.order_id}`;
  throw new ErrandError(
    'conflict',
    `${key} was sent to another service, ${what}; nothing was sent to ${baseUrl}`,
    {
      idempotencyKey: key,
      outcome: 'not_sent',
      retryable: false,
      hint: 'Use a key of its own for each order, and a folder of its own for each service.',
    },
  );
}

/**
 * Handles an order that was placed with another API key. If this account can read the order, that is the order to
 * return.
 * @throws ErrandError conflict if this account cannot read the order, because placing the order for another account
 * would create a second order.
 */
async function placedWithOtherKey(
  context: OrderContext,
  record: JournalRecord,
  body: KeyedBody,
): Promise<Placed | undefined> {
  if (!isMade(record) || record.order_id === null || !wasSentWithOtherKey(record, await context.sender()))
    return undefined;
  if (record.body_hash !== contentHash('order.create', body)) throw keyOfAnother(context, record, body);
  try {
    return await adoptOrder(context, await context.client(), body, record.order_id);
  } catch (error) {
    if (!(error instanceof ErrandError) || error.facts.outcome !== 'rejected') throw error;
    const { key, order_id: id, sent_with: sentWith } = record;
    const message = `${key} is the order ${id}, which was placed with the key ${sentWith}; this account has no such order`;
    throw new ErrandError('conflict', message, {
      idempotencyKey: key,
      outcome: 'not_sent',
      retryable: false,
      hint: 'Use a key of its own for each order.',
      cause: error,
    });
  }
}

/** If the write fails, the program still gets the order. The journal then merely lists the order once more. */
async function report(
  journal: Journal,
  key: string | undefined,
  baseUrl: string,
  madeId: string,
): Promise<void> {
  const operation = 'order.create';
  const done =
    key === undefined
      ? journal.run.all().filter((intent) => intent.baseUrl === baseUrl && intent.madeId === madeId)
      : [{ key, baseUrl, operation, madeId }];
  try {
    await journal.report(done);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
  }
}
