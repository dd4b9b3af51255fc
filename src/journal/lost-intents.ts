import type { AuditKind } from './audit-entry.ts';
import { hashOf, recordOfRow } from './audit-record.ts';
import { duplicateNumber, type IntentRow, lostChecksum } from './intent-row.ts';
import type { JournalRecord } from './journal-record.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Intents present in the audit chain but missing from the intents table. */
export interface LostIntents {
  /** Intents in doubt. Their rows get an invalid checksum, so that they are never sent but still block duplicates. */
  readonly inDoubt: readonly IntentRow[];
  /** Number of intents fulfilled recently. */
  readonly made: number;
}

const beginnings = ['intent', 'resumed', 'in_doubt', 'paid'] as const satisfies readonly AuditKind[];
const ends = ['responded', 'refused', 'given_up', 'moved_out'] as const satisfies readonly AuditKind[];
const going: readonly string[] = beginnings;
/** Kinds of audit records that end the doubt about an intent. */
export const endingKinds: readonly string[] = ends;

/** Kinds of audit records that tell an intent's story. */
export const storyKinds: readonly AuditKind[] = [...beginnings, ...ends];

/**
 * Finds recorded intents whose rows are missing from the table. Ignores audit records whose hash does not match. Pure.
 * @param rows holds the rows of the chain, in any order.
 * @param madeSince is in ISO 8601. The row of an intent that ended before this time may have been purged.
 */
export function lostIntents(
  rows: readonly Fields[],
  there: readonly IntentRow[],
  madeSince: string,
): LostIntents {
  const known = new Set(there.map(({ key, base_url: service }) => idOf(key, service)));
  const last = new Map<string, Story>();
  for (const row of rows.toSorted((one, other) => Number(one.number) - Number(other.number))) {
    const record = recordOfRow(row);
    const id = idOf(record.key, record.service);
    const { kind } = record;
    if (known.has(id) || typeof record.key !== 'string' || hashOf(record) !== record.hash) continue;
    if (kind === 'intent') last.set(id, { ...last.get(id), intent: record, isOpen: true });
    else if (going.includes(String(kind)) || endingKinds.includes(String(kind)))
      last.set(id, { ...last.get(id), isOpen: going.includes(String(kind)), end: record });
  }
  const stories = [...last.values()];
  return {
    inDoubt: stories.flatMap(({ intent, isOpen }) => (isOpen && intent ? [rowOf(intent)] : [])),
    made: stories.filter(({ isOpen, end }) => !isOpen && end?.kind === 'responded' && isSince(end)).length,
  };

  function isSince({ time }: Fields): boolean {
    return String(time) >= madeSince;
  }
}

interface Story {
  readonly intent?: Fields;
  readonly end?: Fields;
  readonly isOpen: boolean;
}

const idOf = (key: unknown, service: unknown): string => JSON.stringify([key, service]);

/** Rebuilds a row from the audit chain. The chain holds only a hash of the content. */
function rowOf({ key, service, profile, time, detail }: Fields): IntentRow {
  const { operation, account, content } = Object(detail);
  const row = {
    ...{ key: String(key), base_url: String(service), state: 'intended', operation: String(operation) },
    ...{ profile: String(profile), sent_with: '?', account: String(account), key_origin: 'made' },
    ...{ body_hash: String(content), order_id: null, code: null, message: null, pid: 0, process_started: '' },
    ...{ created_at: String(time), settled_at: null, payment: null, credential: null, live: 2, body: '{}' },
  };
  return { ...row, twin: duplicateNumber(row), checksum: lostChecksum };
}

/** Names a request in doubt whose record is gone. */
export const lostRecordText = ({ key, created_at: at }: Pick<JournalRecord, 'key' | 'created_at'>): string =>
  `the audit chain has ${key} in doubt since ${at}, and the journal's record of it is gone`;
