import { ErrandError } from '../platform/errors.ts';
import { contentHash } from './content.ts';
import { journalCommand } from './journal-command.ts';
import { type Intent, isMade, isUnnoted, type JournalRecord, type Sender } from './journal-record.ts';
import { isAlive, isSelf, leaseMsOf, ownerText } from './owner.ts';

type Owned = Pick<JournalRecord, 'pid' | 'process_started'>;

/** Whether another process is alive and at work on a record. */
export const isOthers = ({ pid, process_started }: Owned): boolean =>
  !isSelf({ pid, started: process_started }) && isAlive({ pid, started: process_started });

/** Whether another process is sending it at this moment. */
export const isBeingSent = (record: JournalRecord | undefined): boolean =>
  record?.state === 'intended' && isOthers(record);

/** Who works on a record, in words; and for how long that may seem so though it is gone, s, where that does not show by itself. */
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

/** The code of a refusal to touch what another process works on. */
const atWorkCode = 'at_work';

/** Whether something was refused because another process works on it. */
export const isAtWork = (error: unknown): error is ErrandError =>
  error instanceof ErrandError && error.facts.code === atWorkCode;

/** @throws ErrandError conflict for a record that a live process works on. */
export function checkFree(record: JournalRecord): void {
  if (!isOthers(record)) return;
  const order = record.order_id === null ? '' : `, which is the order ${record.order_id}`;
  const { who, leaseS } = workerOf(record);
  throw new ErrandError('conflict', `${who} is at work on ${record.key}${order}`, {
    code: atWorkCode,
    idempotencyKey: record.key,
    outcome: record.order_id === null ? 'unknown' : 'applied',
    hint: `Wait for it to end; the journal then says what became of the order.${
      leaseS === undefined ? '' : ` Should it be gone, its lease ends in ${leaseS} s.`
    }`,
  });
}

/** @throws ErrandError conflict for a key that cannot be used for an intent. @param hash of its content. @param before what the key stands for. */
export function checkReuse(intent: Intent, hash: string, before: JournalRecord): void {
  if (before.state === 'damaged') throw damagedRecord(before);
  if (before.state === 'intended') {
    checkFree(before);
    checkSameIntent(before, intent, hash);
  }
  if (intent.payment) checkUnpaid(before);
}

/** @throws ErrandError conflict for a record in doubt of another intent. @param hash of the intent's content. */
function checkSameIntent(record: JournalRecord, intent: Intent, hash: string): void {
  // The stored hash may be that of an earlier version, which took a file's name for a part of its content.
  const isSame = record.body_hash === hash || contentHash(record.operation, record.body) === hash;
  if (!isSame || record.operation !== intent.operation) {
    const message = `${record.key} is in doubt for another order; it cannot be used for this one`;
    throw new ErrandError('conflict', message, {
      idempotencyKey: record.key,
      outcome: 'not_sent',
      next: [{ command: journalCommand('resume', record.key), when: 'to settle the other one' }],
    });
  }
  if (wasSentWithAnother(record, intent)) throw sentWithAnother(record);
}

/** An intent is paid for once: what may have been paid is resumed, and what was is done. */
function checkUnpaid({ key, state, order_id }: JournalRecord): void {
  if (state === 'refused' || state === 'forgotten') return;
  const why = order_id === null ? 'is in doubt' : `has led to the order ${order_id}`;
  throw new ErrandError('conflict', `${key} ${why}; it is not paid for again`, {
    idempotencyKey: key,
    outcome: order_id === null ? 'unknown' : 'applied',
    next: [{ command: journalCommand('resume', key), when: 'to find out, or to see the order' }],
  });
}

/** Whether a record was sent with another key than the one in use, so perhaps for another account. */
export const wasSentWithAnother = (
  { account }: Pick<JournalRecord, 'account'>,
  sender: Pick<Sender, 'account'>,
): boolean => account !== sender.account;

/** Whether an order may have come of what was attempted before with the key in use. */
export function mayHaveMade(before: JournalRecord, sender: Sender): boolean {
  if (isMade(before)) return !wasSentWithAnother(before, sender);
  return before.state === 'intended' || before.state === 'forgotten';
}

/** Keys of a service are told apart by account: sent again for another one, an order that exists would be made twice. */
export function sentWithAnother(record: JournalRecord): ErrandError {
  const { key, operation, sent_with: sentWith } = record;
  if (isUnnoted(record)) return ofNobody(record);
  return new ErrandError('conflict', `${key} is in doubt and was sent with another key, ${sentWith}`, {
    idempotencyKey: key,
    outcome: 'unknown',
    hint: `Another account would make a second order of it: settle it with ${sentWith}. ${anotherSentence({ key, operation })}`,
    next: [
      {
        command: journalCommand('resume', key, ' --key-changed'),
        when: 'where only the key is new, and the account is the same',
      },
    ],
  });
}

/** An account that is known by its masked key alone may be any. */
const ofNobody = ({ key, created_at: since }: JournalRecord): ErrandError =>
  new ErrandError(
    'conflict',
    `${key} is in doubt since ${since}, and an earlier version of errand did not note whose it is; it is not sent`,
    { idempotencyKey: key, outcome: 'unknown', ...unsentAdvice(key) },
  );

/** What the record requested is no longer certain, so it is never sent again, and nothing takes its place unasked. */
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

/** What makes another one, for operations whose own command takes `--new`. */
const withNew: Readonly<Record<string, string>> = {
  'order.create': '`errand order create --new` orders another',
  'agent.order.create': '`errand agent order create --new` orders another',
  'legacy.retry': '`errand legacy retry --new` orders another',
  'return.create': '`errand return create --new` requests another',
};

/** Whether the operation's own command takes `--new`. */
export const hasNew = (operation: string): boolean => Object.hasOwn(withNew, operation);

/** How to make another one beside a record, in words that hold whatever command is running. */
export function anotherOf({ key, operation }: Pick<JournalRecord, 'key' | 'operation'>): string {
  return hasNew(operation)
    ? String(withNew[operation])
    : `to make another, give this one up first: \`${journalCommand('forget', key)}\``;
}

/** The same as a sentence. */
export function anotherSentence(record: Pick<JournalRecord, 'key' | 'operation'>): string {
  const text = anotherOf(record);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
