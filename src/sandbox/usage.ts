import type { OperationName } from '../contract/operations/index.ts';
import type { ParameterValues } from '../contract/parameters.ts';
import type { Service } from './handler.ts';
import { StoreError } from './store-error.ts';

/** Writes a call down for `GET /usage`, with whatever else is written next; no answer waits for it. */
export function noteCall(
  { store, report }: Pick<Service, 'store' | 'report'>,
  userId: string,
  now: number,
  endpoint: OperationName,
  { path, query }: { path: Readonly<Record<string, string>>; query: ParameterValues },
  count: number | undefined,
): void {
  if (!counted.has(endpoint)) return;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const write = () =>
    store.run(
      'INSERT INTO calls (user_id, at, endpoint, query, result_count, retailer, product_id) VALUES (?, ?, ?, ?, ?, ?, ?)',
      userId,
      now,
      endpoint,
      text(query.q ?? query.query),
      count ?? null,
      text(query.retailer),
      path.product_id ?? null,
    );
  store.grouped(write).catch((error: unknown) => report(error instanceof StoreError ? error.message : error));
}

/** What usage counts: calls that cost something to answer. Reads of orders are not among them. */
const counted: ReadonlySet<OperationName> = new Set<OperationName>([
  'search',
  'product.search',
  'product.get',
  'product.offers',
  'order.create',
]);
