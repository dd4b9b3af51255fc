import type { JournalRecord } from './journal-record.ts';

/** What is open in the journal that a machine has of its own, in words. @param records at least one. */
export const ownOpenText = ({ length }: readonly JournalRecord[]): string =>
  `${length === 1 ? 'one order' : `${length} orders`} of this machine's own journal ${length === 1 ? 'is' : 'are'} in doubt or untold`;
