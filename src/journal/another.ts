import { journalCommand } from './journal-command.ts';
import type { JournalRecord } from './journal-record.ts';

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
