import { hashOf, recordOfRow } from './audit-record.ts';
import { type IntentRow, lostChecksum, twinNumber } from './intent-row.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What the audit chain tells of and the table of intents no longer holds. */
export interface LostIntents {
  /** In doubt: rows that vouch for nothing, so that they are never sent, and stand in the way of the same. */
  readonly inDoubt: readonly IntentRow[];
  /** How many have led to something a short while ago. */
  readonly made: number;
}

const going = ['intent', 'resumed', 'in_doubt', 'paid'];
/** Kinds of records with which an intent is no longer in doubt. */
export const endingKinds: readonly string[] = ['responded', 'refused', 'given_up', 'moved_out'];

/**
 * Intents that were recorded and of which the table has no row any more. A record that is not what was written tells
 * nothing. Pure. @param rows of the chain, in any order. @param madeSince ISO 8601: what ended before may have been deleted.
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

/** What the chain knows of an intent; what it asked for is known by its hash alone. */
function rowOf({ key, service, profile, time, detail }: Fields): IntentRow {
  const { operation, account, content } = Object(detail);
  const row = {
    ...{ key: String(key), base_url: String(service), state: 'intended', operation: String(operation) },
    ...{ profile: String(profile), sent_with: '?', account: String(account), key_origin: 'made' },
    ...{ body_hash: String(content), order_id: null, code: null, message: null, pid: 0, process_started: '' },
    ...{ created_at: String(time), settled_at: null, payment: null, credential: null, live: 2, body: '{}' },
  };
  return { ...row, twin: twinNumber(row), checksum: lostChecksum };
}
