import { AuditChain, intentEntry } from '../../src/journal/audit.ts';
import { nobody } from '../../src/journal/audit-entry.ts';
import { contentHash } from '../../src/journal/content.ts';
import { type IntentRow, newIntent, withChecksum } from '../../src/journal/intent-row.ts';
import { IntentTable } from '../../src/journal/intents.ts';
import { openJournalDatabase } from '../../src/journal/journal.ts';
import { writeReservationSum } from '../../src/journal/journal-facts.ts';
import type { Intent } from '../../src/journal/journal-record.ts';
import type { Mac } from '../../src/journal/mac.ts';
import { nobodyAtWork } from '../../src/journal/owner.ts';
import {
  type Reservation,
  ReservationTable,
  reservationOf,
  storedReservations,
} from '../../src/journal/reservation-row.ts';
import { orderHash } from '../../src/journal/reserved-money.ts';
import type { Database } from '../../src/platform/sqlite/database.ts';
import type { Workspace } from './workspace.ts';

/** What an attacker with write access to the journal but without an API key can do: write rows with valid checksums. */
export interface Forger {
  rows(): IntentRow[];
  /** Inserts a record in doubt. */
  insert(intent: Intent, more?: Partial<IntentRow>): void;
  /** Changes values of a row. */
  change(key: string, values: Partial<IntentRow>): void;
  /** Appends a matching audit entry in the old format, which does not say which policy applied. */
  enter(intent: Intent): void;
  /** Appends an audit entry exactly as the journal writes it for an intent that no policy held, but for its signature. */
  enterWhole(intent: Intent, mac?: Mac): void;
  /** Appends that an intent ended, as the journal writes it, but for its signature. */
  enterEnd(key: string, kind: 'refused' | 'responded' | 'given_up', orderId?: string): void;
  /** Signatures of the chain's intents. */
  macs(): string[];
  /** Deletes the reservations, and changes their count to match. */
  unreserve(): void;
  /** Changes the reservations, with valid checksums and sums. */
  reserve(change: (one: Reservation) => Reservation | Reservation[]): void;
  /** Appends that reserved orders count nothing, as the journal writes it, but for its signature. */
  enterCounted(): void;
  /** Deletes all rows, as the journal does with old ones. */
  sweep(): void;
}

/** Forges records in a workspace's journal, or in the database it shares. */
export async function forge(
  { environment: { ERRAND_STATE_DIR: folder = '', ERRAND_DATABASE_URL: url } }: Workspace,
  work: (forger: Forger) => void,
): Promise<void> {
  const shared = url === undefined ? undefined : { address: { url, shown: 'the database' } };
  const { database, localFallback } = await openJournalDatabase(folder, { shared });
  try {
    await database.refresh('anew');
    await database.transaction(() => {
      work(forgerOf(database));
    });
  } finally {
    localFallback?.close();
    await database.close();
  }
}

function forgerOf(database: Database): Forger {
  const table = new IntentTable(database);
  const audit = new AuditChain(database, Date.now, () => nobody);
  return {
    rows: () => table.all(),
    insert(intent, more = {}) {
      const row = newIntent(intent, contentHash(intent.operation, intent.body), nobodyAtWork, now());
      table.write(withChecksum({ ...row, ...more }), undefined);
    },
    change(key, values) {
      const row = table.all().find((one) => one.key === key);
      if (!row) throw new Error(`no row ${key}`);
      table.write(withChecksum({ ...row, ...values }), row);
    },
    enter({ operation, account, profile, baseUrl: service, key, body }) {
      const content = contentHash(operation, body);
      const detail = { operation, account, content, address: null, again: false, recorded: 1 };
      // @ts-expect-error an entry of an earlier version
      audit.append({ kind: 'intent', profile, service, key, cents: 0, detail });
    },
    enterWhole(intent, mac) {
      const content = contentHash(intent.operation, intent.body);
      const terms = { again: false, salt: '', policy: null };
      const entry = intentEntry(intent, content, table.tally.next(), terms);
      audit.append(entry, mac);
    },
    enterEnd(key, kind, orderId) {
      const row = table.all().find((one) => one.key === key);
      if (!row) throw new Error(`no row ${key}`);
      const subject = { profile: String(row.profile), service: String(row.base_url), key };
      const detail = { operation: String(row.operation) };
      audit.append(
        kind === 'refused'
          ? { ...subject, kind, detail: { ...detail, code: 'invalid' } }
          : { ...subject, kind, ...(orderId !== undefined && { orderId }), detail },
      );
    },
    macs: () =>
      database
        .all("SELECT detail FROM audit WHERE kind = 'intent' ORDER BY number")
        .map(({ detail }) => String(JSON.parse(String(detail)).mac)),
    unreserve() {
      database.run('DELETE FROM reservations');
      writeReservationSum(database, { rows: 0n, times: 0n });
    },
    reserve(change) {
      const found = database.all(storedReservations).flatMap((row) => reservationOf(row) ?? []);
      this.unreserve();
      new ReservationTable(database, table.tally).write(found.flatMap(change));
    },
    enterCounted() {
      for (const row of database.all(storedReservations)) {
        const detail = { account: String(row.account), orders: [[orderHash(String(row.key)), 0] as const] };
        audit.append({ kind: 'counted', service: String(row.base_url), detail });
      }
    },
    sweep() {
      database.run('DELETE FROM intents');
      table.tally.renew(table.tally.count(), []);
    },
  };
}

/** An intent modelled on an existing row: same account, service and profile. */
export function like(row: IntentRow | undefined, changes: Partial<Intent>): Intent {
  const body: Intent['body'] = JSON.parse(String(row?.body));
  const key = 'forged-0000';
  return {
    ...{ key, keyOrigin: 'made', operation: String(row?.operation), profile: String(row?.profile) },
    ...{ baseUrl: String(row?.base_url), account: String(row?.account), keyMasked: String(row?.sent_with) },
    body: { ...body, idempotency_key: key },
    ...changes,
  };
}

const now = (): string => new Date().toISOString();
