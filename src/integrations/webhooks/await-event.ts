import type { EventLog, StoredEvent } from '../../journal/events.ts';
import type { Clock } from '../../platform/clock.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import { isTransient, poll } from '../../platform/poll.ts';
import { confirms, disagreement } from './agreement.ts';

/** Interval at which the log is polled, in ms. Each poll reads an index of a local file. */
const everyMs = 200;
/** Interval, in ms, at which an order that has not confirmed an event is read again. */
const rereadMs = 1_000;
/** How long, in ms, an event may be in transit if it was sent before its order ended. */
const underWayMs = 3_000;

type Json = Readonly<Record<string, unknown>>;

interface Awaited {
  readonly log: EventLog;
  readonly orderId: string;
  /** Base URL of the service that sends the event. */
  readonly baseUrl: string;
  /** All names that the awaited event may have. */
  readonly names: readonly string[];
  /** Description of what is awaited. */
  readonly what: string;
  /** Reads the order again, until aborted. If this is not set, events are accepted as they were received. */
  readonly reread: ((signal: AbortSignal) => Promise<Json>) | undefined;
  readonly outlookOf: (order: Json) => Outlook;
  /** Whether it is allowed that the service does not know the order yet. */
  readonly allowMissing: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long to wait, in ms. Unlimited if this is not set. */
  readonly timeoutMs: number | undefined;
  readonly note: (line: string) => void;
  /** Whether any listener on this machine may receive the event. */
  readonly isHeard: () => Promise<boolean>;
  /** Called once, if the awaited event has not arrived but may still arrive. */
  readonly waiting: () => Promise<void>;
}

/**
 * Waits until the log holds an event that has one of the names and is confirmed by rereading its order. Reads the order
 * at the start and after each of its other events, and stops once no matching event can come.
 * @returns the newest such event; undefined if the deadline passes first.
 * @throws ErrandError ended_badly if the order has ended and no such event can come; not_found for an unknown order,
 * unless `allowMissing` is set; any read error that waiting cannot fix.
 */
export function awaitEvent(awaited: Awaited): Promise<StoredEvent | undefined> {
  const { clock, signal, timeoutMs } = awaited;
  const deadline = new Deadline(clock, timeoutMs);
  const search = new Search(awaited, deadline);
  return poll(() => search.find(), { deadline, everyMs, signal });
}

class Search {
  readonly #awaited: Awaited;
  readonly #deadline: Deadline;
  readonly #reported = new Set<string>();
  #readAt = Number.NEGATIVE_INFINITY;
  /** The order as last read. */
  #order: Json | undefined;
  #isMissing = false;
  /** Number of events, of any name, that had arrived for the order when it was last read. */
  #readFor = 0;
  /** Number of awaited events that had arrived when the order was last asked to confirm them. */
  #confirmedFor = 0;
  #isWaiting = false;
  /** Time from which on no more events can be sent, in ms of the clock. */
  #overSince: number | undefined;

  constructor(awaited: Awaited, deadline: Deadline) {
    this.#awaited = awaited;
    this.#deadline = deadline;
  }

  async find(): Promise<StoredEvent | undefined> {
    const { names, waiting, reread } = this.#awaited;
    const received = this.#received(names);
    if (received.length > 0 && !reread) return received[0];
    const found = await this.#confirmed(received);
    if (found) return found;
    if (reread) await this.#check(received.length);
    if (!this.#isWaiting) await waiting();
    this.#isWaiting = true;
    return undefined;
  }

  #received(names?: readonly string[]): readonly StoredEvent[] {
    const { log, orderId, baseUrl } = this.#awaited;
    return [...log.list({ events: names, orderId })].filter((event) => event.base_url === baseUrl);
  }

  async #confirmed(received: readonly StoredEvent[]): Promise<StoredEvent | undefined> {
    const [latest] = received;
    if (!latest || (received.length === this.#confirmedFor && this.#hasJustRead)) return undefined;
    await this.#read();
    const order = this.#order;
    if (!order) return undefined;
    this.#confirmedFor = received.length;
    const found = received.find(({ event }) => confirms(event, order));
    if (!found) this.#reportOnce(`event ${latest.id} does not count: ${disagreement(latest.event, order)}`);
    return found;
  }

  /**
   * Ends the wait if the order has ended and the awaited event has not come.
   * @param receivedCount is the number of awaited events that have arrived.
   */
  async #check(receivedCount: number): Promise<void> {
    const { clock, names, isHeard } = this.#awaited;
    const isAnswered = this.#order !== undefined || this.#isMissing;
    if (!isAnswered || this.#readFor !== this.#received().length) {
      if (this.#hasJustRead) return;
      await this.#read();
    }
    const order = this.#order;
    if (!order) return;
    const outlook = this.#awaited.outlookOf(order);
    const coming = names.map((name) => stillComes(name, outlook));
    if (coming.includes('yes')) return;
    this.#overSince ??= clock.monotonic();
    const isLate = clock.monotonic() - this.#overSince >= underWayMs;
    if (!isLate && coming.includes('sent') && (await isHeard())) return;
    if (this.#received(names).length === receivedCount) throw this.#over(outlook);
  }

  #over({ state }: Outlook): ErrandError {
    const { what, orderId } = this.#awaited;
    return new ErrandError(
      'ended_badly',
      `no ${what} of order ${orderId} was received, and none can come any more: the order is ${state}`,
    );
  }

  get #hasJustRead(): boolean {
    return this.#awaited.clock.monotonic() - this.#readAt < rereadMs;
  }

  /** Reads the order. Undefined if that fails, or if the deadline passes first. */
  async #read(): Promise<void> {
    const { reread, allowMissing, clock, signal } = this.#awaited;
    const [late, over] = [new AbortController(), new AbortController()];
    this.#deadline.passed(over.signal).then(
      () => late.abort(),
      () => {},
    );
    this.#readFor = this.#received().length;
    this.#order = undefined;
    this.#isMissing = false;
    try {
      this.#order = await reread?.(late.signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#isMissing = allowMissing && isNotFound(error);
      if (late.signal.aborted || this.#isMissing) return;
      if (isNotFound(error)) throw unknownOrder(error);
      if (error instanceof ErrandError && !isTransient(error, true)) throw error;
      this.#reportOnce(
        `the order cannot be read, still trying: ${error instanceof Error ? error.message : String(error)}`,
      );
    } finally {
      over.abort();
      this.#readAt = clock.monotonic();
    }
  }

  #reportOnce(line: string): void {
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#awaited.note(line);
  }
}

const isNotFound = (error: unknown): error is ErrandError =>
  error instanceof ErrandError && error.category === 'not_found';

const unknownOrder = (cause: ErrandError): ErrandError =>
  new ErrandError('not_found', cause.message, {
    ...cause.facts,
    cause,
    hint: 'Check the id, and that the key belongs to the account that made the order; --allow-missing waits for it.',
  });

/**
 * Whether an event of an order can still arrive. `yes`: it can still be sent. `sent`: it can no longer be sent, but it
 * may have been sent earlier and still be in transit. `never`: it was not sent and never will be.
 */
type StillComes = 'yes' | 'sent' | 'never';

/** The part of an order's state on which its future events depend. */
interface Outlook {
  readonly status: string;
  readonly hasEnded: boolean;
  /** Description of the state. */
  readonly state: string;
}

const failures: readonly string[] = ['request_failed', 'order_failed', 'order.failed', 'order.cancelled'];
/** Final states of an order that was never accepted by a retailer. */
const neverPlaced: readonly string[] = ['order_failed', 'cancelled'];

/**
 * Whether an event can still come, given the state of its order. For an open order, any event can. For a placed order,
 * a case may still be opened long after the order has ended. Pure.
 */
function stillComes(event: string, { status, hasEnded }: Outlook): StillComes {
  if (!hasEnded) return 'yes';
  if (neverPlaced.includes(status))
    return failures.includes(event) || event === 'status_updated' || event === 'order.started'
      ? 'sent'
      : 'never';
  if (event === 'case_updated' || event.startsWith('return.')) return 'yes';
  return failures.includes(event) && status === 'order_placed' ? 'never' : 'sent';
}
