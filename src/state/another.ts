import { journalCommand } from './journal-command.ts';
import type { JournalRecord } from './journal-record.ts';

/** Commands whose --new makes another one, by operation. */
const withNew: Readonly<Record<string, string>> = {
  'order.create': 'errand order create',
  'agent.order.create': 'errand agent order create',
};

/** How to make another one beside a record, in words that hold whatever command is running. */
export function anotherOf({ key, operation }: Pick<JournalRecord, 'key' | 'operation'>): string {
  const command = Object.hasOwn(withNew, operation) ? withNew[operation] : undefined;
  return command === undefined
    ? `to make another, give this one up first: \`${journalCommand('forget', key)}\``
    : `\`${command} --new\` orders another`;
}

/** The same as a sentence. */
export function anotherSentence(record: Pick<JournalRecord, 'key' | 'operation'>): string {
  const text = anotherOf(record);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
