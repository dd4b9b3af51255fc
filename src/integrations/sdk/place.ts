import { issueText } from '../../api/validation.ts';
import { InterruptedError, MissingKeyError } from '../../http/errors.ts';
import { contentHash } from '../../journal/content.ts';
import type { Journal } from '../../journal/journal.ts';
import { isMade, type JournalRecord } from '../../journal/journal-record.ts';
import { isBeingSent, isOthers, wasSentWithOtherKey } from '../../journal/take-over.ts';
import { wholeCents } from '../../orders/input/whole-cents.ts';
import { letGo } from '../../orders/let-go.ts';
import { adoptOrder, keyOfAnother } from '../../orders/submit/existing.ts';
import type { KeyedBody, Made, Placed } from '../../orders/submit/intent.ts';
import { resumeKnown } from '../../orders/submit/resume.ts';
import { placeOrder as placeJournaled } from '../../orders/submit/submit.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { poll } from '../../platform/poll.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { aSignal, checkOptions } from './checks.ts';
import { type ClientParts, partsOf } from './client-parts.ts';
import type { Client } from './client-types.ts';
import type { OrderJournal } from './journal.ts';
import { type JournalParts, journalPartsOf } from './journal-parts.ts';
import { placingContext } from './placing-context.ts';
import { asThrown } from './thrown.ts';
import type { OrderCreate, OrderResponse } from './wire.ts';

/** An order with its idempotency key: your own order number, at most 36 characters. */
export type KeyedOrder = Omit<OrderCreate, 'idempotency_key'> & { readonly idempotency_key: string };

export interface PlacedOrder {
  readonly order: OrderResponse;
  /** Whether an earlier call with the same key had already placed the order. */
  readonly existed: boolean;
  /** Notes for people: a policy warning, or a field that the service changed. */
  readonly notes: readonly string[];
}

export interface PlaceOptions {
  /** Aborts the call. If the order had already been sent, it is in doubt, and repeating the call settles it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Places exactly one order per key, however many calls and processes try. The intent is journaled and fsynced before
 * anything is sent, and is settled when the promise resolves. The same key with the same order returns the existing
 * order. Waits for a concurrent call that is placing the order.
 * @throws UsageError for an invalid order, or one without a key. Nothing was sent.
 * @throws PolicyError if the policy refuses the order or requires a person's approval. Nothing was sent.
 * @throws InDoubtError if the order may have been placed without confirmation, also after an abort. Call again with the
 * same key, or call `resumeOrder`.
 * @throws ErrandError `conflict` if the key belongs to another order, service or account; `interrupted` after an abort;
 * ServiceError and its subclasses if the service refuses the order; StorageError if the journal cannot be written, in
 * which case nothing was sent.
 */
export async function placeOrder(
  client: Client,
  journal: OrderJournal,
  order: KeyedOrder,
  options: PlaceOptions = {},
): Promise<PlacedOrder> {
  const body = await checkedOrder(order);
  return settling(client, journal, body.idempotency_key, options, async (context, of) => {
    const stored = of.journal.find(body.idempotency_key, of.baseUrl);
    checkNowhereElse(of.journal, body.idempotency_key, of.baseUrl);
    return (
      (stored && (await placedWithOtherKey(context, stored, body))) ??
      placeJournaled(context, body, { isNew: false })
    );
  });
}

/**
 * Settles a journaled order by its key alone. Meant for orders that `unsettled()` lists after a crash. Resends the same
 * order with the same key, or reads the order if it is known to be placed.
 * @throws as `placeOrder`; ErrandError `not_found` if the journal has no such key at this service.
 */
export async function resumeOrder(
  client: Client,
  journal: OrderJournal,
  key: string,
  options: PlaceOptions = {},
): Promise<PlacedOrder> {
  return settling(client, journal, key, options, async (context, of) => {
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

/** How long to wait for another process that is placing the same order, ms. */
const waitTimeoutMs = 60_000;
const pollEveryMs = 50;
/**
 * Maximum attempts when several callers use the same new key at once. One caller wins. Any other caller's next attempt
 * finds the winner's result or waits for it.
 */
const maxTries = 3;

interface Of extends JournalParts {
  readonly baseUrl: string;
}

async function settling(
  client: Client,
  journal: OrderJournal,
  key: string,
  options: PlaceOptions,
  work: (context: OrderContext, of: Of) => Promise<Made<Placed['order']>>,
): Promise<PlacedOrder> {
  checkOptions('placeOrder', options, { signal: aSignal });
  const { signal } = options;
  const used = partsOf(client);
  const stored = journalPartsOf(journal);
  if (used.apiKey === '') throw new MissingKeyError('an order needs an API key: createClient takes apiKey');
  return oneAtATime(JSON.stringify([stored.folder, used.baseUrl, key]), async () => {
    const notes: string[] = [];
    const note = (line: string): void => void notes.push(line);
    const context = placingContext({ client: used, journal: stored, key, signal, note });
    try {
      const { order, existed } = await whenFree(context, key, used, stored, work);
      await report(stored.journal, key, used.baseUrl, String(order.id));
      // Essential fields are validated; the others are typed by the contract.
      return { order: order as OrderResponse, existed, notes };
    } catch (error) {
      throw asThrown(error, { ...stored, intents: context.unreported() });
    } finally {
      await letGo(context);
    }
  });
}

async function whenFree(
  context: OrderContext,
  key: string,
  { baseUrl }: ClientParts,
  stored: JournalParts,
  work: (context: OrderContext, of: Of) => Promise<Made<Placed['order']>>,
): Promise<Made<Placed['order']>> {
  const { journal } = stored;
  const isFree = async (): Promise<true | undefined> => {
    if (!isBeingSent(journal.find(key, baseUrl))) return true;
    await journal.refresh();
    return isBeingSent(journal.find(key, baseUrl)) ? undefined : true;
  };
  const deadline = new Deadline(context.clock, waitTimeoutMs);
  for (let tries = 1; ; tries += 1) {
    await poll(isFree, { deadline, everyMs: pollEveryMs, signal: context.signal }).catch((error: unknown) => {
      if (!context.signal.aborted) throw error;
      throw new InterruptedError('interrupted', 'interrupted while another process places the order', {
        outcome: 'unknown',
        idempotencyKey: key,
      });
    });
    try {
      return await work(context, { ...stored, baseUrl });
    } catch (error) {
      const isRace = error instanceof ErrandError && error.category === 'conflict' && tries < maxTries;
      const owner = isRace ? journal.find(key, baseUrl) : undefined;
      if (!owner || !isOthers(owner)) throw error;
    }
  }
}

/** @throws UsageError naming each invalid field. */
async function checkedOrder(order: KeyedOrder): Promise<KeyedBody> {
  const { checkShape } = await import('../../api/schemas/check.ts');
  const { value, issues } = checkShape('OrderCreate', order, 'body');
  if (!value) {
    const lines = issues.map((issue) => issueText(issue, 'the order'));
    throw new UsageError(`the order is not valid: ${lines.join('; ')}`, {
      code: 'validation_error',
      details: { detail: issues },
    });
  }
  const { idempotency_key: key } = value;
  if (typeof key === 'string') return { ...wholeCents(value, undefined), idempotency_key: key };
  throw new UsageError(
    'idempotency_key: placeOrder needs one, the same whenever this order is placed again',
    {
      hint: 'Take your own number of the order, or make one and keep it with the order before you call.',
    },
  );
}

/** @throws ErrandError conflict if the key may belong to an order at another service. */
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
 * Handles an order placed with another API key. If this account can read the order, it is the same order.
 * @throws ErrandError conflict if this account cannot read the order, because placing it for another account would
 * create a second order.
 */
async function placedWithOtherKey(
  context: OrderContext,
  record: JournalRecord,
  body: KeyedBody,
): Promise<Placed | undefined> {
  if (!isMade(record) || record.order_id === null || !wasSentWithOtherKey(record, await context.sender()))
    return undefined;
  if (record.body_hash !== contentHash('order.create', body)) throw keyOfAnother(record, body);
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

/** If the write fails, the program still gets the order, and the journal only lists the order once more. */
async function report(journal: Journal, key: string, baseUrl: string, madeId: string): Promise<void> {
  try {
    await journal.report([{ key, baseUrl, operation: 'order.create', madeId }]);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
  }
}

const running = new Map<string, Promise<void>>();

/**
 * Runs work with the same name one after another, in call order. The journal distinguishes processes, but not the calls
 * within a process.
 */
async function oneAtATime<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = running.get(name);
  const result = (before ?? Promise.resolve()).then(work);
  const ended = result.then(
    () => {},
    () => {},
  );
  running.set(name, ended);
  try {
    return await result;
  } finally {
    if (running.get(name) === ended) running.delete(name);
  }
}
