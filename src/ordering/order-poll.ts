import { limits } from '../contract/limits.ts';
import { ErrandError } from '../errors.ts';
import type { Client } from '../http/client.ts';
import type { Row } from '../output/result.ts';

/** Up to this many orders are looked up one by one when a watch begins; more are found in the list. */
const lookUpSingly = 20;
const pageSize = limits.orderListLimit.max;

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

  /** @param isListed whether an order is among those of the account; one that was paid for on its own is not. */
  constructor(client: Client, isListed: (id: string) => Promise<boolean>) {
    this.#client = client;
    this.#isListed = isListed;
  }

  /** First look: every order, in no order. Ids that the service does not know come back in `missing`. */
  async begin(ids: readonly string[]): Promise<{ orders: Row[]; missing: string[] }> {
    const { own, others } = await this.#parted(ids);
    const listed = own.length > lookUpSingly ? await this.#list(new Set(own), {}) : [];
    const seen = new Set(listed.map((order) => order.id));
    const singly = await this.#each([...own.filter((id) => !seen.has(id)), ...others]);
    return { orders: [...listed, ...singly.orders], missing: singly.missing };
  }

  /** The records of orders seen before. */
  async round(ids: ReadonlySet<string>): Promise<Row[]> {
    const [only] = ids;
    if (only !== undefined && ids.size === 1) return [await this.#read(only)];
    const { own, others } = await this.#parted([...ids]);
    const { orders } = await this.#each(others);
    return own.length === 0 ? orders : [...orders, ...(await this.#listSince(new Set(own)))];
  }

  /** Orders seen before, from the time on in which the first of them was created. */
  async #listSince(ids: ReadonlySet<string>): Promise<Row[]> {
    const times = [...ids].map((id) => this.#createdAt.get(id)).filter((time) => time !== undefined);
    const [first, last] = times.reduce(
      ([low, high], time) => [Math.min(low, time), Math.max(high, time)],
      [Number.POSITIVE_INFINITY, 0],
    );
    return this.#list(ids, {
      created_after: new Date(first).toISOString(),
      created_before: new Date(last + 1).toISOString(),
    });
  }

  /** Pages through the list until each wanted order has come, or the list ends. */
  async #list(
    wanted: ReadonlySet<string>,
    range: { created_after?: string; created_before?: string },
  ): Promise<Row[]> {
    const found = new Map<string, Row>();
    for (let offset = 0; ; offset += pageSize) {
      this.requests += 1;
      const { body } = await this.#client.call('order.list', {
        query: { ...range, limit: pageSize, offset },
      });
      for (const order of body.orders) if (wanted.has(order.id)) found.set(order.id, this.#remember(order));
      if (found.size === wanted.size || body.orders.length < pageSize) return [...found.values()];
    }
  }

  async #parted(ids: readonly string[]): Promise<{ own: string[]; others: string[] }> {
    const own: string[] = [];
    const others: string[] = [];
    for (const id of ids) ((await this.#isListed(id)) ? own : others).push(id);
    return { own, others };
  }

  async #each(ids: readonly string[]): Promise<{ orders: Row[]; missing: string[] }> {
    const orders: Row[] = [];
    const missing: string[] = [];
    for (const id of ids) {
      try {
        orders.push(await this.#read(id));
      } catch (error) {
        if (!(error instanceof ErrandError) || error.category !== 'not_found') throw error;
        missing.push(id);
      }
    }
    return { orders, missing };
  }

  async #read(id: string): Promise<Row> {
    this.requests += 1;
    return this.#remember((await this.#client.call('order.get', { path: { order_id: id } })).body);
  }

  #remember(order: Row & { readonly id: string }): Row {
    const createdAt = Date.parse(String(order.created_at));
    if (!Number.isNaN(createdAt)) this.#createdAt.set(order.id, createdAt);
    return order;
  }
}
