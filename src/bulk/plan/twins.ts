import type { Intent, JournalRecord } from '../../journal/journal-record.ts';
import { paidAccount } from '../../journal/journal-record.ts';
import { StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { ordersOf, type SpendingOrder } from '../../spending/policy/facts.ts';

/** How far back an order counts as a possible duplicate, ms. */
const withinMs = 7 * 24 * 3600 * 1000;

/** Operations that place orders. */
const ordering: readonly string[] = ['order.create', 'agent.order.create', 'bulk.create'];

/**
 * Finds, for each row, orders of the last week and preceding rows with the same product and address. A row sent before
 * does not count as its own duplicate. @returns duplicates by row key.
 */
export async function twinsOf(
  context: Context,
  rows: readonly SpendingOrder[],
  records: readonly JournalRecord[],
): Promise<Map<string, string[]>> {
  const { account } = await context.sender();
  const since = context.clock.now() - withinMs;
  const own = new Set(rows.map(({ key }) => key));
  const seen = new Map<string, string>();
  for (const record of records) {
    if (!ordering.includes(record.operation) || Date.parse(record.created_at) < since) continue;
    if (record.state === 'refused' || record.state === 'damaged') continue;
    if (record.account !== account && record.account !== paidAccount) continue;
    const numbers = await numbersOf(context, record);
    for (const order of ordersOf(intentOf(record), { feeCents: 0, isRehearsal: true, numbers }))
      if (!own.has(order.key))
        for (const likeness of likenessesOf(order)) seen.set(likeness, nameOf(record, order.row));
  }
  const twins = new Map<string, string[]>();
  for (const order of rows) {
    const likenesses = likenessesOf(order);
    const found = new Set(likenesses.flatMap((likeness) => seen.get(likeness) ?? []));
    if (found.size > 0) twins.set(order.key, [...found]);
    for (const likeness of likenesses) if (!seen.has(likeness)) seen.set(likeness, `row ${order.row}`);
  }
  return twins;
}

/** Spreadsheet row numbers of a batch, if known on this machine. */
async function numbersOf(
  context: Context,
  { operation, key }: Pick<JournalRecord, 'operation' | 'key'>,
): Promise<readonly number[] | undefined> {
  if (operation !== 'bulk.create') return undefined;
  try {
    return (await context.uploads()).layoutOf(key)?.numbers;
  } catch (error) {
    // The order is still a duplicate, just without a row number.
    if (error instanceof StorageError) return undefined;
    throw error;
  }
}

const likenessesOf = ({ facts: { products, address } }: SpendingOrder): string[] =>
  products.map((product) => `${product} ${address}`);

const intentOf = ({
  base_url: baseUrl,
  sent_with: keyMasked,
  key_origin,
  payment,
  ...record
}: JournalRecord): Intent => ({
  ...record,
  ...{ baseUrl, keyMasked, keyOrigin: key_origin },
  payment: payment ?? undefined,
});

/** Describes an earlier record's order. @param row the row's number, if the order is part of a batch. */
function nameOf(
  {
    operation,
    order_id: id,
    key,
    created_at: at,
  }: Pick<JournalRecord, 'operation' | 'order_id' | 'key' | 'created_at'>,
  row: number | undefined,
): string {
  const day = at.slice(0, 10);
  if (operation !== 'bulk.create') return `order ${id ?? `${key}, which is in doubt`} of ${day}`;
  return `row ${row} of ${id === null ? `${key}, which is in doubt` : `batch ${id}`} of ${day}`;
}
