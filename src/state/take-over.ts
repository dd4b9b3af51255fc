import { ErrandError } from '../errors.ts';
import { journalCommand } from './journal-command.ts';
import type { Intent, JournalRecord } from './journal-record.ts';
import { isAlive } from './owner.ts';

/** Whether another process is alive and at work on a record. */
export const isOthers = ({ pid, process_started }: Pick<JournalRecord, 'pid' | 'process_started'>): boolean =>
  pid !== process.pid && isAlive({ pid, started: process_started });

/** @throws ErrandError conflict for an open record that a live process works on. */
export function checkFree(record: JournalRecord): void {
  if (!isOthers(record)) return;
  throw new ErrandError('conflict', `process ${record.pid} is at work on ${record.key}`, {
    idempotencyKey: record.key,
    outcome: 'not_sent',
    hint: 'Wait for it to end; the journal then tells what became of the order.',
  });
}

/** The very same is asked for by another process at this moment: impatience, more likely than a second intent. */
export const beingPlaced = ({ key, pid }: JournalRecord): ErrandError =>
  new ErrandError('conflict', `process ${pid} is placing the same order at this moment, as ${key}`, {
    idempotencyKey: key,
    outcome: 'not_sent',
    hint: 'Wait for it to end; --new orders another one on purpose.',
    next: [{ command: 'errand order journal list', when: 'to see whether it is still unanswered' }],
  });

/** @throws ErrandError conflict for an open record of another intent. @param hash of the intent's body. */
export function checkSameIntent(record: JournalRecord, intent: Intent, hash: string): void {
  if (record.body_hash !== hash || record.operation !== intent.operation) {
    const message = `${record.key} is in doubt for another order; it cannot be used for this one`;
    throw new ErrandError('conflict', message, {
      idempotencyKey: record.key,
      outcome: 'not_sent',
      next: [{ command: journalCommand('resume', record.key), when: 'to settle the other one' }],
    });
  }
  if (wasSentWithAnother(record, intent.keyMasked)) throw sentWithAnother(record);
}

/** An intent is paid for once: what may have been paid is resumed, and what was is done. */
export function checkUnpaid({ key, state, order_id }: JournalRecord): void {
  if (state !== 'open' && state !== 'settled') return;
  const why = state === 'open' ? 'is in doubt' : `has led to the order ${order_id}`;
  throw new ErrandError('conflict', `${key} ${why}; it is not paid for again`, {
    idempotencyKey: key,
    outcome: 'not_sent',
    next: [{ command: journalCommand('resume', key), when: 'to find out, or to see the order' }],
  });
}

/** Whether a record was sent with another key than the one in use, so perhaps for another account. What is paid by challenge needs no key. */
export const wasSentWithAnother = (record: JournalRecord, keyMasked: string): boolean =>
  record.payment === null && record.sent_with !== keyMasked;

/** Whether an order may have come of what was tried before with the key in use. */
export function mayHaveMade(before: JournalRecord, keyMasked: string): boolean {
  if (before.state === 'settled') return !wasSentWithAnother(before, keyMasked);
  return before.state === 'open' || before.state === 'forgotten';
}

/** Keys of a service are told apart by account: sent again for another one, an order that exists would be made twice. */
export const sentWithAnother = ({ key, sent_with: sentWith }: JournalRecord): ErrandError =>
  new ErrandError('conflict', `${key} is in doubt and was sent with another key, ${sentWith}`, {
    idempotencyKey: key,
    outcome: 'not_sent',
    hint: `Another account would make a second order of it: settle it with ${sentWith}.`,
    next: [
      {
        command: journalCommand('resume', key, ' --key-changed'),
        when: 'where only the key is new, and the account is the same',
      },
    ],
  });
