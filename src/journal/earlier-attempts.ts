import { orderOfRow, rowReader } from '../api/bulk-row.ts';
import { objectsIn } from '../api/json.ts';
import { canonicalNeed, contentIn, type OrderContent } from '../format/canonical-need.ts';
import type { AttemptScope, EarlierAttempt, NewAttempt } from './attempts.ts';
import { type IntentRow, isIntact, recordOf } from './intent-row.ts';
import { type JournalRecord, wasSentWithTestKey } from './journal-record.ts';

/**
 * Converts journal records that are older than the table of attempts. Such a record identifies the account only by the
 * API key it was sent with. The resulting state is `unknown` or `intended`, because the outcome must be looked up
 * before the attempt can block anything. Skips rejected records, and records of a sandbox that was rolled back.
 */
export function* earlierAttempts(rows: Iterable<IntentRow>): Generator<EarlierAttempt> {
  for (const row of rows) {
    if (!isIntact(row)) continue;
    const record = recordOf(row);
    if (mayHaveMade(record)) yield* attemptsIn(record);
  }
}

const mayHaveMade = ({ state, code }: JournalRecord): boolean =>
  state !== 'refused' && !(state === 'forgotten' && (code === 'undone' || code === 'moved'));

/** The attempts that a record corresponds to; for a batch, one per row. */
export function* attemptsIn(record: JournalRecord): Generator<EarlierAttempt> {
  const { key, operation, body, order_id: id } = record;
  if (!ordering.includes(operation)) return;
  const scope: AttemptScope = {
    service: record.base_url,
    accounts: [record.account],
    isTest: wasSentWithTestKey(record),
  };
  const attempt: NewAttempt = {
    ...{ run: undefined, number: 1, key, operation, upload: undefined, orderId: undefined },
    state: record.state === 'intended' ? 'intended' : 'unknown',
    madeAt: Date.parse(record.created_at) || 0,
    seenAt: undefined,
  };
  const need = (content: OrderContent) => ({ reference: undefined, ...canonicalNeed(content) });
  if (operation !== 'bulk.create') {
    const content = contentIn(body, 'products');
    if (content) yield { scope, need: need(content), attempt: { ...attempt, orderId: id ?? undefined } };
    return;
  }
  const read = rowReader();
  for (const [index, cells] of objectsIn(body, 'rows').entries()) {
    const { plan, values, row } = read(textCells(cells));
    const content = contentIn({ ...orderOfRow(plan, values, row) }, 'products');
    const rowKey = row.cell('idempotency_key') || `${key} ${index}`;
    if (content) yield { scope, need: need(content), attempt: { ...attempt, key: rowKey, upload: key } };
  }
}

const ordering: readonly string[] = ['order.create', 'agent.order.create', 'bulk.create'];

const textCells = (cells: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, String(cell ?? '')]));
