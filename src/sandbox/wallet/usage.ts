import type { OperationName } from '../../api/operations/index.ts';
import type { ParameterValues } from '../../api/parameters.ts';
import { type Noting, noteLater } from '../server/caller.ts';

/** Writes a call down for `GET /usage`, with whatever else is written next; no response waits for it. */
export function noteCall(
  service: Noting,
  userId: string,
  now: number,
  endpoint: OperationName,
  { path, query }: { path: ParameterValues; query: ParameterValues },
  count: number | undefined,
): void {
  if (!counted.has(endpoint)) return;
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  noteLater(service, () =>
    service.store.run(
      'INSERT INTO calls (user_id, at, endpoint, query, result_count, retailer, product_id) VALUES (?, ?, ?, ?, ?, ?, ?)',
      userId,
      now,
      endpoint,
      text(query.q ?? query.query),
      count ?? null,
      text(query.retailer),
      text(path.product_id),
    ),
  );
}

/** What usage counts: calls that cost something to serve. Reads of orders are not among them. */
const counted: ReadonlySet<OperationName> = new Set<OperationName>([
  'search',
  'product.search',
  'product.get',
  'product.offers',
  'order.create',
]);
