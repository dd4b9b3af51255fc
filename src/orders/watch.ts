import { numberIn, objectsIn } from '../api/json.ts';
import { limits } from '../api/limits.ts';
import type { Client } from '../http/client.ts';
import { Deadline, stopwatch } from '../platform/clock.ts';
import { ErrandError, type NextStep } from '../platform/errors.ts';
import {
  exitCodeOf,
  type Interruption,
  type Pace,
  tallyOf,
  untilStopped,
  type Verdict,
  type WatchSummary,
  watchWithSummary,
} from '../platform/poll.ts';
import { shellWord } from '../platform/shell.ts';
import {
  progressOf,
  progressText,
  type WatchLabels,
  type WatchProgress,
  watchingText,
} from '../platform/watch-progress.ts';
import type { Context } from '../run/context.ts';
import { typedIds, waitFlags } from '../run/context-flags.ts';
import { observeOrder } from './observed.ts';
import { orderKey } from './order-keys.ts';
import { hasId, type IdentifiedOrder } from './order-record.ts';
import { stateOf, type Until, verdictOf } from './watch-policy.ts';

export interface WatchOptions {
  readonly until: Until;
  /** Timeout, ms; undefined waits indefinitely. */
  readonly timeoutMs: number | undefined;
  readonly pace: Pace;
  readonly allowMissing: boolean;
}

export type WatchEvent =
  | { readonly type: 'ready'; readonly orders: number; readonly until: Until }
  | { readonly type: 'change'; readonly order: IdentifiedOrder; readonly verdict: Verdict }
  | Interruption
  | ({ readonly type: 'summary' } & WatchSummary);

/**
 * Watches orders until each has reached the target or failed, or until the deadline has passed. Yields one `change` for
 * each order with a new state. If the network fails for a while, yields a `gap` and continues. An interruption is
 * thrown after the `summary`.
 * @throws ErrandError not_found for an unknown id, and errors that polling cannot fix, such as a refused key.
 */
export async function* watchOrders(
  context: Context,
  ids: readonly string[],
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const { clock, signal } = context;
  const elapsedMs = stopwatch(clock);
  const deadline = new Deadline(clock, options.timeoutMs);
  const poll = new OrderPoll(
    await context.client(),
    async (id) => (await orderKey(context, id)) === undefined,
  );
  const states = new Map<string, string>();
  const verdicts = new Map<string, Verdict>(ids.map((id) => [id, 'waiting']));
  const pending = new Set(ids);
  let unseen: readonly string[] = ids;
  yield* watchWithSummary<WatchEvent>(
    { type: 'ready', orders: ids.length, until: options.until },
    {
      check: changes,
      isOver: () => pending.size === 0,
      hasResponded: () => states.size > 0,
      pace: options.pace,
      deadline,
      clock,
      signal,
    },
    summary,
  );

  async function* changes(): AsyncGenerator<WatchEvent> {
    for await (const orders of fetchOrders())
      for (const order of orders.filter(isChanged)) {
        await observeOrder(context, order);
        yield note(order);
      }
  }

  /** Yields every order once, page by page. Holds at most one page in memory. */
  async function* fetchOrders(): AsyncGenerator<readonly IdentifiedOrder[]> {
    // A gap may have ended the previous round before it was complete, so leave out the orders that it has shown.
    unseen = unseen.filter((id) => !states.has(id));
    const unknown = new Set(unseen);
    const seenBefore = new Set([...pending].filter((id) => !unknown.has(id)));
    if (unseen.length > 0) {
      yield* poll.begin(unseen);
      unseen = [...poll.missing];
      if (unseen.length > 0 && !options.allowMissing) throw notFound(unseen);
    }
    if (seenBefore.size > 0) yield* poll.round(seenBefore);
  }

  function isChanged(order: IdentifiedOrder): boolean {
    return states.get(order.id) !== stateOf(order);
  }

  function note(order: IdentifiedOrder): WatchEvent {
    const { id } = order;
    const verdict = verdictOf(order, options.until);
    states.set(id, stateOf(order));
    verdicts.set(id, verdict);
    if (verdict !== 'waiting') pending.delete(id);
    return { type: 'change', order, verdict };
  }

  function summary(): WatchEvent {
    return {
      type: 'summary',
      ...tallyOf(verdicts.values()),
      requests: poll.requests,
      elapsed_ms: elapsedMs(),
    };
  }
}

function notFound(ids: readonly string[]): ErrandError {
  const message = ids.length === 1 ? `there is no order ${ids[0]}` : `there are no orders ${ids.join(', ')}`;
  return new ErrandError('not_found', message, {
    code: 'not_found',
    hint: 'Check the id, and that the key belongs to the account that made it; --allow-missing waits for it.',
  });
}

/**
 * Above this number of orders, a new watch pages through the list. Otherwise, it reads orders one by one, except those
 * on the first page of the list.
 */
const fewOrders = 20;
const { max: pageSize, default: defaultLimit } = limits.orderListLimit;

interface CreatedWithin {
  readonly created_after?: string;
  readonly created_before?: string;
}

interface PageQuery extends CreatedWithin {
  readonly limit: number;
  readonly offset?: number;
}

/**
 * Fetches the current records of many orders. A single order is read by id. Several orders are read from the list,
 * limited to the time range in which they were created, so that one request covers up to 500 orders.
 */
export class OrderPoll {
  readonly #client: Client;
  readonly #isListed: (id: string) => Promise<boolean>;
  readonly #createdAt = new Map<string, number>();
  requests = 0;
  /** Ids that the service did not know when they were last looked up one by one. */
  missing: string[] = [];

  /**
   * @param isListed tells whether the account's list has an order. The list lacks orders that were paid for without the
   * account.
   */
  constructor(client: Client, isListed: (id: string) => Promise<boolean>) {
    this.#client = client;
    this.#isListed = isListed;
  }

  /** First round: yields every order once, page by page, unordered. Unknown ids end up in `missing`. */
  async *begin(ids: readonly string[]): AsyncGenerator<readonly IdentifiedOrder[]> {
    const { own, others } = await this.#parted(ids);
    const left = new Set(own);
    if (own.length > fewOrders) yield* this.#list(left, {});
    else if (own.length > 1) yield (await this.#page(left, { limit: defaultLimit })).found;
    yield* this.#each([...left, ...others]);
  }

  /** Later rounds: yields orders seen before, page by page. */
  async *round(ids: ReadonlySet<string>): AsyncGenerator<readonly IdentifiedOrder[]> {
    const [only] = ids;
    if (only !== undefined && ids.size === 1) return yield [await this.#read(only)];
    const { own, others } = await this.#parted([...ids]);
    yield* this.#each(others);
    const left = new Set(own);
    if (own.length > 0) yield* this.#list(left, this.#sinceTheFirst(own));
    yield* this.#each([...left]);
  }

  /** Time range in which the given orders were created; empty if their creation times are unknown. */
  #sinceTheFirst(ids: readonly string[]): CreatedWithin {
    const times = ids.map((id) => this.#createdAt.get(id)).filter((time) => time !== undefined);
    if (times.length === 0) return {};
    const [first, last] = times.reduce(
      ([low, high], time) => [Math.min(low, time), Math.max(high, time)],
      [Number.POSITIVE_INFINITY, 0],
    );
    return { created_after: new Date(first).toISOString(), created_before: new Date(last + 1).toISOString() };
  }

  /**
   * Pages through the list until every pending order is found, or until the list ends. A page may have fewer rows than
   * requested, so a short page ends the list only if the service gives no total.
   * @param pending loses each order that is found.
   */
  async *#list(pending: Set<string>, range: CreatedWithin): AsyncGenerator<readonly IdentifiedOrder[]> {
    for (let offset = 0; pending.size > 0; ) {
      const { found, read, total } = await this.#page(pending, { ...range, limit: pageSize, offset });
      offset += read;
      yield found;
      if (read === 0) return;
      if (typeof total === 'number' ? offset >= total : read < pageSize) return;
    }
  }

  /** Reads one page of the list and returns the pending orders on that page. */
  async #page(pending: Set<string>, query: PageQuery) {
    this.requests += 1;
    const { body } = await this.#client.call('order.list', { query });
    const found = objectsIn(body, 'orders')
      .filter(hasId)
      .filter(({ id }) => pending.delete(id));
    return {
      found: found.map((order) => this.#remember(order)),
      read: body.orders.length,
      total: numberIn(body, 'total'),
    };
  }

  async #parted(ids: readonly string[]): Promise<{ own: string[]; others: string[] }> {
    const own: string[] = [];
    const others: string[] = [];
    for (const id of ids) ((await this.#isListed(id)) ? own : others).push(id);
    return { own, others };
  }

  async *#each(ids: readonly string[]): AsyncGenerator<readonly IdentifiedOrder[]> {
    this.missing = [];
    for (const id of ids) {
      try {
        yield [await this.#read(id)];
      } catch (error) {
        if (!(error instanceof ErrandError) || error.category !== 'not_found') throw error;
        this.missing.push(id);
      }
    }
  }

  async #read(id: string): Promise<IdentifiedOrder> {
    this.requests += 1;
    return this.#remember((await this.#client.call('order.get', { path: { order_id: id } })).body);
  }

  #remember(order: IdentifiedOrder): IdentifiedOrder {
    const createdAt = Date.parse(String(order.created_at));
    if (!Number.isNaN(createdAt)) this.#createdAt.set(order.id, createdAt);
    return order;
  }
}

interface Followed<E> {
  /** Without duplicates. */
  readonly ids: readonly string[];
  readonly labels: WatchLabels;
  /** The command as the user typed it, without ids: `errand order watch`. */
  readonly command: string;
  /** Flags after the ids, such as ` --until placed`; empty if none. */
  readonly flags: string;
  /** Whether some ids may not exist yet; such ids are not abbreviated. */
  readonly mayBeMissing?: boolean;
  readonly events: AsyncGenerator<E>;
  /** The verdict on one of the ids that an event contains. */
  readonly verdictIn: (event: E) => readonly [id: string, verdict: Verdict] | undefined;
}

/** A watch in progress, and the messages for a watch that ends early. */
export class Following<E> {
  readonly #context: Context;
  readonly #followed: Followed<E>;
  readonly #verdicts: Map<string, Verdict>;

  constructor(context: Context, followed: Followed<E>) {
    this.#context = context;
    this.#followed = followed;
    this.#verdicts = new Map(followed.ids.map((id) => [id, 'waiting']));
  }

  /** Yields the events. If interrupted, throws an error that says what was seen so far and how to continue. */
  events(): AsyncGenerator<E> {
    return untilStopped(this.#counted(), this.#context.signal, () => ({
      message: `stopped watching; ${this.#summary()}`,
      next: this.#next(),
    }));
  }

  /** Status line below a live table. @param room is the available width in columns. */
  line(elapsedMs: number, room: number): string {
    return watchingText(this.#progress(), this.#followed.labels, elapsedMs, room);
  }

  /** `2 of 3`: how many have ended; empty for a single id. */
  countText(): string {
    const verdicts = [...this.#verdicts.values()];
    const ended = verdicts.filter((verdict) => verdict !== 'waiting').length;
    return verdicts.length === 1 ? '' : `${ended} of ${verdicts.length}`;
  }

  /** Returns the exit code; reports a timeout the same way as an interruption. */
  conclude(summary: WatchSummary): number {
    if (summary.waiting > 0 && !this.#context.signal.aborted) {
      const { command, when } = this.#next();
      this.#context.note(`--timeout passed; ${this.#summary()}`);
      this.#context.note(`${when}: ${command}`);
    }
    return exitCodeOf(summary);
  }

  #summary(): string {
    return progressText(this.#progress(), this.#followed.labels);
  }

  #progress(): WatchProgress {
    return progressOf(tallyOf(this.#verdicts.values()));
  }

  #next(): NextStep {
    const open = [...this.#verdicts].flatMap(([id, verdict]) => (verdict === 'waiting' ? [id] : []));
    const { command, flags, mayBeMissing = false } = this.#followed;
    const ids = (mayBeMissing ? open : typedIds(this.#context, open)).map(shellWord).join(' ');
    return { command: `${command} ${ids}${flags}${waitFlags(this.#context)}`, when: 'to go on watching' };
  }

  async *#counted(): AsyncGenerator<E> {
    for await (const event of this.#followed.events) {
      const found = this.#followed.verdictIn(event);
      if (found) this.#verdicts.set(...found);
      yield event;
    }
  }
}
