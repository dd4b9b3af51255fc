import { expect } from 'vitest';
import { address } from '../../support/order-body.ts';
import type { ServiceResponse, TestService } from '../../support/service.ts';

export const second = 1000;
export const day = 24 * 3600 * second;
/** An id that does not exist. */
export const nobody = '00000000-0000-4000-8000-000000000000';

/** Reads a target, expecting success. @returns the body. */
export async function read(it: TestService, target: string): Promise<ServiceResponse['body']> {
  const { status, body, text } = await it.send('GET', target);
  expect(status, text).toBe(200);
  return body;
}

export function expectRefusal(response: ServiceResponse, status: number, code: string): void {
  expect([response.status, response.body.code], response.text).toEqual([status, code]);
  expect(response.body).toMatchObject({ message: expect.any(String), details: expect.any(Object) });
}

/** Expects a validation error at this location. */
export function expectInvalid(response: ServiceResponse, ...loc: (string | number)[]): void {
  expect(response.status, response.text).toBe(422);
  for (const issue of response.body.detail)
    expect(issue).toEqual({ loc: expect.any(Array), msg: expect.any(String), type: expect.any(String) });
  expect(response.body.detail.map((issue: { loc: unknown }) => issue.loc)).toContainEqual(loc);
}

/** Creates an order, lets `ms` pass, and reads it. */
export async function ordered(
  it: TestService,
  slug = 'test-success',
  ms = 12 * second,
  more: Record<string, unknown> = {},
): Promise<ServiceResponse['body']> {
  const made = await it.order(slug, more);
  expect(made.status, made.text).toBe(201);
  it.pass(ms);
  return read(it, `/orders/${made.body.id}`);
}

export const cancel = (it: TestService, id: string): Promise<ServiceResponse> =>
  it.send('POST', `/orders/${id}/cancel`);

export const line = (it: TestService, slug: string, quantity = 1) => ({ url: it.product(slug), quantity });

/** Triggers an event immediately. */
export async function fire(
  it: TestService,
  event: string,
  id?: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  const { status, text } = await it.send('POST', '/sandbox/trigger', { event, id, ...more });
  expect(status, text).toBe(200);
}

/** Requests a return of every item of an order. */
export const ask = (
  it: TestService,
  order: { id: string; items: readonly { id: string; quantity: number }[] },
  more: Record<string, unknown> = {},
): Promise<ServiceResponse> =>
  it.send('POST', '/returns', {
    order_id: order.id,
    items: order.items.map(({ id, quantity }) => ({ order_item_id: id, quantity })),
    reason: 'damaged',
    ...more,
  });

export const idsOf = (records: readonly { id: string }[]): string[] => records.map(({ id }) => id);

/** The ids of the orders that a query lists. */
export const listed = async (it: TestService, query: string): Promise<string[]> =>
  idsOf((await read(it, `/orders?${query}`)).orders);

/** A row of a bulk upload. */
export const bulkRow = (it: TestService, more: Record<string, string> = {}): Record<string, string> => ({
  product_url: it.product('test-success'),
  max_price: '4000',
  name: `${address.first_name} ${address.last_name}`,
  address_line1: address.address_line1,
  city: address.city,
  state: address.state,
  postal_code: address.postal_code,
  phone_number: address.phone_number,
  ...more,
});

export const upload = (it: TestService, ...rows: Record<string, string>[]): Promise<ServiceResponse> =>
  it.send('POST', '/orders/bulk', { rows });

/** Advances time until every row of a batch is placed or has failed. */
export async function placedBatch(it: TestService, id: string): Promise<ServiceResponse['body']> {
  for (let turn = 0; turn < 200; turn += 1) {
    const batch = await read(it, `/orders/bulk/${id}`);
    if (batch.placed_count + batch.failed_count === batch.row_count) return batch;
    it.pass(second / 10);
  }
  throw new Error('the batch was never placed');
}

export const addAccount = (it: TestService, more: Record<string, unknown> = {}): Promise<ServiceResponse> =>
  it.send('POST', '/managed-accounts', { email: 'ada@example.com', password: 'hunter2-hunter2', ...more });

/** A request to the legacy API: the key as user name, an empty password. */
export const legacy = (
  it: TestService,
  method: string,
  path: string,
  password = '',
): Promise<ServiceResponse> =>
  it.send(method, path, undefined, null, {
    authorization: `Basic ${Buffer.from(`${it.key}:${password}`).toString('base64')}`,
  });

/** The first search result at a retailer. */
export async function found(
  it: TestService,
  retailer: string,
  query = 'coffee',
): Promise<ServiceResponse['body']> {
  const [first] = (await read(it, `/products/search?query=${query}&retailer=${retailer}`)).results;
  expect(first).toBeDefined();
  return first;
}
