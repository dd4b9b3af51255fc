import { sha256 } from '../format/canonical.ts';
import type { AuditDetails, AuditEntry } from './audit-entry.ts';
import { addressHash } from './content.ts';
import type { IntentRow } from './intent-row.ts';
import type { Intent, PaymentNote } from './journal-record.ts';

/**
 * An intent as the audit chain tells of it. @param content its hash. @param recorded how many intents were, with it.
 * @param policy SHA-256 of the policy that held it. @param salt of the journal: without it a list of addresses would tell which one a hash stands for.
 */
export function intentEntry(
  intent: Intent,
  content: string,
  recorded: number,
  { again, salt, policy }: { readonly again: boolean; readonly salt: string; readonly policy: string | null },
): AuditEntry {
  const { operation, account, profile, baseUrl: service, key, body } = intent;
  const plain = addressHash(body);
  const address = plain === undefined ? null : sha256(`address ${salt} ${plain}`);
  const detail = { operation, account, content, address, again, recorded, policy };
  return { kind: 'intent', profile, service, key, cents: ceilingOf(body), detail };
}

type Plain = 'resumed' | 'responded' | 'given_up';

/** What became of an intent. */
export const stepEntry = (kind: Plain, row: IntentRow, orderId?: string): AuditEntry => ({
  kind,
  ...subjectOf(row),
  ...(orderId !== undefined && { orderId }),
  detail: { operation: String(row.operation) },
});

export const failureEntry = (kind: 'refused' | 'in_doubt', row: IntentRow, code: string): AuditEntry => ({
  kind,
  ...subjectOf(row),
  detail: { operation: String(row.operation), code: codeOf(code) },
});

/** An intent goes from a machine's own journal into a database that machines share. @param database as it is shown. */
export const movedEntry = (row: IntentRow, way: 'in' | 'out', database: string): AuditEntry => ({
  kind: way === 'in' ? 'moved_in' : 'moved_out',
  ...subjectOf(row),
  detail: { operation: String(row.operation), database },
});

export const paidEntry = (row: IntentRow, note: Paid): AuditEntry => ({
  ...subjectOf(row),
  ...paymentEntry(String(row.operation), note),
});

/** A payment by challenge, whatever it is for. */
export function paymentEntry(operation: string, note: Paid): Extract<AuditEntry, { kind: 'paid' }> {
  const detail: AuditDetails['paid'] = {
    operation,
    method: codeOf(note.method),
    challenge: note.challenge_id,
  };
  const amount = Number(note.amount);
  const cents = Number.isSafeInteger(amount) ? { cents: amount, currency: note.currency } : {};
  return { kind: 'paid', ...cents, detail };
}

type Paid = Pick<PaymentNote, 'method' | 'challenge_id' | 'amount' | 'currency'>;

function subjectOf({ profile, base_url: service, key, order_id: orderId }: IntentRow) {
  return {
    profile: String(profile),
    service: String(service),
    key: String(key),
    ...(orderId !== null && { orderId: String(orderId) }),
  };
}

/** A service's code may hold any text; what has not the form of one is not kept. */
export const codeOf = (code: string): string => (/^[a-z][a-z0-9_.-]{0,63}$/i.test(code) ? code : 'other');

/** What an order may cost, or all orders of a batch together; cents, undefined where that is not said. */
function ceilingOf({ max_price: price, rows }: Intent['body']): number | undefined {
  if (!Array.isArray(rows)) return centsOf(price);
  const ceilings = rows.map((row: unknown) => centsOf(Object(row).max_price));
  return ceilings.reduce(
    (sum, cents) => (sum === undefined || cents === undefined ? undefined : sum + cents),
    0,
  );
}

function centsOf(value: unknown): number | undefined {
  const cents = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof cents === 'number' && Number.isSafeInteger(cents) ? cents : undefined;
}
