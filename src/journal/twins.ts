import { type IntentRow, isIntact, recordOf } from './intent-row.ts';
import { type Intent, isMade, isUnnoted, type JournalRecord } from './journal-record.ts';
import { isOthers, wasSentWithOtherKey } from './take-over.ts';

/** How to treat other records with the same content. */
export interface TwinRule {
  /**
   * If a record was reported at this time (in ms since the epoch) or later, running the same command again counts as a
   * repeat. Undefined if a repeat is intended.
   */
  readonly repeatedSince: number | undefined;
  /** Keys of orders that have failed or were cancelled since. */
  readonly ended?: ReadonlySet<string> | undefined;
}

/**
 * A record that has the same content under another idempotency key. Exception: for `made`, the record has the same key,
 * which the user chose, and already has a result. `other_key`: the record was sent with another API key, so its account
 * is unknown. `in_doubt` and `unreported`: this process has taken over the record. `at_work`: another live process owns
 * the record. `repeated`: the user has seen the outcome of the record.
 */
export interface Twin {
  readonly situation: 'made' | 'damaged' | 'other_key' | 'in_doubt' | 'unreported' | 'at_work' | 'repeated';
  readonly record: JournalRecord;
}

/** Most urgent first. */
const situations = [
  'damaged',
  'other_key',
  'in_doubt',
  'unreported',
  'at_work',
  'repeated',
] as const satisfies readonly Twin['situation'][];

type Found = (typeof situations)[number];

/** Whether a key chosen by the user already has a result. If so, nothing is sent with the key again. */
export const isMadeByKey = (before: JournalRecord, intent: Intent): boolean =>
  intent.keyOrigin === 'chosen' &&
  isMade(before) &&
  before.order_id !== null &&
  !wasSentWithOtherKey(before, intent);

/** The most urgent duplicate. */
export function firstTwin(
  rows: readonly IntentRow[],
  intent: Intent,
  hash: string,
  rule: TwinRule,
): { readonly row: IntentRow; readonly situation: Found } | undefined {
  return rows
    .flatMap((row) => {
      const situation = situationOf(row, intent, hash, rule);
      return situation === undefined ? [] : [{ row, situation }];
    })
    .sort((a, b) => situations.indexOf(a.situation) - situations.indexOf(b.situation))[0];
}

function situationOf(
  row: IntentRow,
  intent: Intent,
  hash: string,
  { repeatedSince, ended }: TwinRule,
): Found | undefined {
  if (!isIntact(row)) return 'damaged';
  const record = recordOf(row);
  const { state, body_hash, settled_at: at, created_at: since, profile } = record;
  if (body_hash !== hash || (isMade(record) && ended?.has(record.key))) return undefined;
  const isRecent = repeatedSince !== undefined && Date.parse(at ?? since) >= repeatedSince;
  if (wasSentWithOtherKey(record, intent))
    return state === 'intended' && (profile === intent.profile || isUnnoted(record))
      ? 'other_key'
      : undefined;
  if (state === 'reported') return isRecent ? 'repeated' : undefined;
  if (state === 'responded') return isOthers(record) ? (isRecent ? 'at_work' : undefined) : 'unreported';
  return isOthers(record) ? 'at_work' : 'in_doubt';
}
