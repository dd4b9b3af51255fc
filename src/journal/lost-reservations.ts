import { hashOf, recordOfRow } from './audit-record.ts';
import { type Reservation, unknownIntent } from './reservation-row.ts';

type RowFields = Readonly<Record<string, unknown>>;

/**
 * Reservations made up from the audit chain where some are lost: every intent that may have spent something and for
 * which none stands, with the most that it may have cost and the approval that it has used up. What it was for is not known any more. A record that is not
 * what was written tells nothing. Pure. @param rows of the chain. @param since ms since the epoch.
 */
export function lostReservations(
  rows: readonly RowFields[],
  there: readonly Reservation[],
  since: number,
): Reservation[] {
  const covered = new Set(
    there.flatMap(({ intents, baseUrl }) => intents.map((intent) => idOf(intent, baseUrl))),
  );
  const made = new Map<string, Reservation>();
  const approvals = new Map<string, string>();
  for (const row of rows.toSorted((one, other) => Number(one.number) - Number(other.number))) {
    const { hash, key, service, kind, ...record } = recordOfRow(row);
    if (hashOf({ key, service, kind, ...record }) !== hash) continue;
    const id = idOf(key, service);
    const known = made.get(id);
    const at = Date.parse(String(record.time));
    // It stands before the intent that it lets through, in the same transaction.
    if (kind === 'approval_used') approvals.set(id, String(Object(record.detail).approval));
    else if (kind === 'refused') made.delete(id);
    else if (kind === 'responded' && known) made.set(id, { ...known, orderId: String(record.order_id) });
    else if (kind === 'intent' && !covered.has(id) && at >= since && typeof record.amount_cents === 'number')
      made.set(id, {
        ...{ key: String(key), baseUrl: String(service), account: String(Object(record.detail).account) },
        ...{ state: 'held', at: known?.at ?? at, cents: record.amount_cents, counted: record.amount_cents },
        ...{ feeCents: 0, isRehearsal: false, orderId: undefined, pid: 0, started: '', override: undefined },
        approval: approvals.get(id),
        intents: [String(key), unknownIntent],
        facts: { retailers: [], metadata: [], products: [], address: '' },
      });
  }
  return [...made.values()];
}

const idOf = (key: unknown, service: unknown): string => JSON.stringify([key, service]);
