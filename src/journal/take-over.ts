import { ErrandError } from '../platform/errors.ts';
import { contentHash } from './content.ts';
import { journalCommand } from './journal-command.ts';
import { type Intent, isMade, isUnnoted, type JournalRecord, type Sender } from './journal-record.ts';
import { isAlive, isSelf, leaseMsOf, ownerText } from './owner.ts';

type Owned = Pick<JournalRecord, 'pid' | 'process_started'>;

/** Whether another live process owns a record. */
export const isOthers = ({ pid, process_started }: Owned): boolean =>
  !isSelf({ pid, started: process_started }) && isAlive({ pid, started: process_started });

/** Whether another process is sending the record now. */
export const isBeingSent = (record: JournalRecord | undefined): boolean =>
  record?.state === 'intended' && isOthers(record);

/**
 * Describes the owner of a record. `leaseS` counts the seconds until the lease of a dead owner expires; undefined if
 * the owner has no lease.
 */
export function workerOf({ pid, process_started: started }: Owned): {
  readonly who: string;
  readonly leaseS: number | undefined;
} {
  const owner = { pid, started };
  const leaseMs = leaseMsOf(owner);
  return {
    who: ownerText(owner),
    leaseS: leaseMs === undefined ? undefined : Math.max(0, Math.ceil(leaseMs / 1000)),
  };
}

/** Error code if another process owns the record. */
const atWorkCode = 'at_work';

/** Whether an operation was refused because another process owns the record. */
export const isAtWork = (error: unknown): error is ErrandError =>
  error instanceof ErrandError && error.facts.code === atWorkCode;

/** @throws ErrandError conflict if a live process owns the record. */
export function checkFree(record: JournalRecord): void {
  if (!isOthers(record)) return;
  const order = record.order_id === null ? '' : `, which is the order ${record.order_id}`;
  const { who, leaseS } = workerOf(record);
  throw new ErrandError('conflict', `${who} is at work on ${record.key}${order}`, {
    code: atWorkCode,
    idempotencyKey: record.key,
    outcome: record.order_id === null ? 'unknown' : 'applied',
    hint: `Wait for it to end, then run this command again: nothing is ordered twice.${
      leaseS === undefined ? '' : ` Should it be gone, its lease ends in ${leaseS} s.`
    }`,
  });
}

/** The error for a result that another process has reported since the record was read. */
export const reportedMeanwhile = ({ key, order_id: id }: JournalRecord): ErrandError =>
  new ErrandError('conflict', `another process has settled ${key}, which is the order ${id}`, {
    code: atWorkCode,
    idempotencyKey: key,
    outcome: 'applied',
  });

/**
 * Checks that an intent may use its key.
 * @param hash is the hash of the intent's content.
 * @param before is the existing record of the key.
 * @throws ErrandError conflict if the intent may not use the key.
 */
export function checkReuse(intent: Intent, hash: string, before: JournalRecord): void {
  if (before.state === 'damaged') throw damagedRecord(before);
  if (before.state === 'intended') {
    checkFree(before);
    checkSameIntent(before, intent, hash);
  }
  if (intent.payment) checkUnpaid(before);
}

/**
 * @param hash is the hash of the intent's content.
 * @throws ErrandError conflict if an in-doubt record belongs to another intent.
 */
function checkSameIntent(record: JournalRecord, intent: Intent, hash: string): void {
  // Recompute the hash, because earlier versions included the file name of a batch in the hash.
  const isSame = record.body_hash === hash || contentHash(record.operation, record.body) === hash;
  if (!isSame || record.operation !== intent.operation) {
    const message = `${record.key} is in doubt for another order; it cannot be used for this one`;
    throw new ErrandError('conflict', message, {
      idempotencyKey: record.key,
      outcome: 'not_sent',
      next: [{ command: journalCommand('resume', record.key), when: 'to settle the other one' }],
    });
  }
  if (wasSentWithOtherKey(record, intent)) throw sentWithOtherKey(record);
}

/**
 * Prevents a double payment.
 * @throws ErrandError conflict if the payment was made, or may have been made. Resuming the record then settles it
 * without another payment.
 */
function checkUnpaid({ key, state, order_id }: JournalRecord): void {
  if (state === 'refused' || state === 'forgotten') return;
  const why = order_id === null ? 'is in doubt' : `has led to the order ${order_id}`;
  throw new ErrandError('conflict', `${key} ${why}; it is not paid for again`, {
    idempotencyKey: key,
    outcome: order_id === null ? 'unknown' : 'applied',
    next: [{ command: journalCommand('resume', key), when: 'to find out, or to see the order' }],
  });
}

/** Whether a record was sent with another API key, and so perhaps for another account. */
export const wasSentWithOtherKey = (
  { account }: Pick<JournalRecord, 'account'>,
  sender: Pick<Sender, 'account'>,
): boolean => account !== sender.account;

/** Whether an earlier attempt with the same idempotency key may have produced an order. */
export function mayHaveMade(before: JournalRecord, sender: Sender): boolean {
  if (isMade(before)) return !wasSentWithOtherKey(before, sender);
  return before.state === 'intended' || before.state === 'forgotten';
}

/**
 * The error for a record that was sent with another API key. Idempotency keys are scoped to the account, so resending
 * under another account would place the order a second time.
 */
export function sentWithOtherKey(record: JournalRecord): ErrandError {
  const { key, operation, sent_with: sentWith } = record;
  if (isUnnoted(record)) return ofNobody(record);
  return new ErrandError('conflict', `${key} is in doubt and was sent with another key, ${sentWith}`, {
    idempotencyKey: key,
    outcome: 'unknown',
    hint: `Another account would make a second order of it: settle it with ${sentWith}. ${reorderSentence({ key, operation })}`,
    next: [{ command: journalCommand('forget', key), when: 'where that key is gone, and you have looked' }],
  });
}

/** The error for a record whose account is unknown. The masked key of such a record could belong to any account. */
const ofNobody = ({ key, created_at: since }: JournalRecord): ErrandError =>
  new ErrandError(
    'conflict',
    `${key} is in doubt since ${since}, and an earlier version of errand did not note whose it is; it is not sent`,
    { idempotencyKey: key, outcome: 'unknown', ...unsentAdvice(key) },
  );

/** The error for a damaged record. Its content is not reliable, so the record is never resent or silently replaced. */
export const damagedRecord = ({ key, created_at: since }: JournalRecord): ErrandError =>
  new ErrandError('conflict', `the journal's record ${key} is damaged; what it says is not sent`, {
    idempotencyKey: key,
    outcome: 'unknown',
    ...unsentAdvice(key),
    hint: `It was written about ${since}, and an order may have come of it: look before you order again.`,
  });

const unsentAdvice = (key: string) => ({
  hint: 'An order may have come of it: look before you order again.',
  next: [
    { command: 'errand order list', when: 'to see whether there is an order of it' },
    { command: journalCommand('forget', key), when: 'to give the record up once you have looked' },
  ],
});

/** How to repeat an operation on purpose, for operations whose command has `--new`. */
const withNew: Readonly<Record<string, string>> = {
  'order.create': '`errand order create --new` orders another',
  'agent.order.create': '`errand agent order create --new` orders another',
  'legacy.retry': '`errand legacy retry --new` orders another',
  'return.create': '`errand return create --new` requests another',
};

/** Whether the operation's command has `--new`. */
export const hasNew = (operation: string): boolean => Object.hasOwn(withNew, operation);

/** Explains how to repeat a record's operation on purpose, worded to suit any command. */
export function reorderHint({ key, operation }: Pick<JournalRecord, 'key' | 'operation'>): string {
  return hasNew(operation)
    ? String(withNew[operation])
    : `to make another, give this one up first: \`${journalCommand('forget', key)}\``;
}

/** Same as `reorderHint`, as a full sentence. */
export function reorderSentence(record: Pick<JournalRecord, 'key' | 'operation'>): string {
  const text = reorderHint(record);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
