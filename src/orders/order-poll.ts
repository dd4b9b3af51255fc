import { numberIn, objectsIn } from '../api/json.ts';
import { limits } from '../api/limits.ts';
import type { Client } from '../http/client.ts';
import { ErrandError } from '../platform/errors.ts';
import type { IdentifiedOrder, OrderRecord } from './order-record.ts';

/** More orders than this are paged to when a watch begins; of fewer, those that are not among the newest are read singly. */
const fewOrders = 20;
const { max: pageSize, default: newest } = limits.orderListLimit;

interface CreatedWithin {
  readonly created_after?: string;
  readonly created_before?: string;
}

const hasId = (order: OrderRecord): order is IdentifiedOrder => typeof order.id === 'string';

interface PageQuery extends CreatedWithin {
  readonly limit: number;
  readonly offset?: number;
}

/**
 * The current records of many orders. One order is read by its id; several are read from the list, narrowed to the
 * time in which they were created, so that one request covers up to 500 of them.
 */
export class OrderPoll {
  readonly #client: Client;
  readonly #isListed: (id: string) => Promise<boolean>;
  readonly #createdAt = new Map<string, number>();
  /** Requests made so far. */
  requests = 0;
  /** Of the orders last looked up one by one, those that the service does not know. */
  missing: string[] = [];

  /** @param isListed whether an order is among those of the account; one that was paid for on its own is not. */
  constructor(client: Client, isListed: (id: string) => Promise<boolean>) {
    this.#client = client;
    this.#isListed = isListed;
  }

  /** First look: every order once, page by page, in no order. Ids that the service does not know are in `missing`. */
  async *begin(ids: readonly string[]): AsyncGenerator<readonly IdentifiedOrder[]> {
    const { own, others } = await this.#parted(ids);
    const left = new Set(own);
    if (own.length > fewOrders) yield* this.#list(left, {});
    else if (own.length > 1) yield (await this.#page(left, { limit: newest })).found;
    yield* this.#each([...left, ...others]);
  }

  /** The records of orders seen before, page by page. */
  async *round(ids: ReadonlySet<string>): AsyncGenerator<readonly IdentifiedOrder[]> {
    const [only] = ids;
    if (only !== undefined && ids.size === 1) return yield [await this.#read(only)];
    const { own, others } = await this.#parted([...ids]);
    yield* this.#each(others);
    const left = new Set(own);
    if (own.length > 0) yield* this.#list(left, this.#sinceTheFirst(own));
    yield* this.#each([...left]);
  }

  /** The time in which orders seen before were created, where any says so. */
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
   * Pages through the list until each pending order has come, or the list ends. A total counts more than a short page: the
   * service may give fewer than were requested. @param pending loses what has come.
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

  /** One page of the list, and the pending orders on it. */
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
