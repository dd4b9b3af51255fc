import { type IntentRow, isIntact, recordOf } from './intent-row.ts';
import { type Intent, isMade, isUnnoted, type JournalRecord } from './journal-record.ts';
import { isOthers, wasSentWithOtherKey } from './take-over.ts';

/** How to treat other records with the same content. */
export interface TwinRule {
  /**
   * If a record was reported at or after this time (ms since the epoch), running the same command counts as a repeat.
   * Undefined if a repeat is intended.
   */
  readonly repeatedSince: number | undefined;
  /** Keys of orders that have since failed or been cancelled. */
  readonly ended?: ReadonlySet<string> | undefined;
}

/**
 * A record with the same content under another idempotency key. Exception: for `made`, the record has the same key,
 * which the user chose, and it already has a result. `other_key`: sent with another API key, so the account is unknown.
 * `in_doubt` and `unreported`: this process has taken the record over. `at_work`: the record belongs to a live process.
 * `repeated`: the user has seen the record.
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

/** Whether a key chosen by the user already has a result, so that nothing is sent with it again. */
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
