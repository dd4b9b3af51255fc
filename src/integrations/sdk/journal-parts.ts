import type { Journal } from '../../journal/journal.ts';
import { UsageError } from '../../platform/errors.ts';
import type { OrderSettings } from '../../run/order-context.ts';

/** The parts of a journal that other modules of this entry point need. */
export interface JournalParts {
  readonly journal: Journal;
  readonly folder: string;
  readonly policy: string | undefined;
  readonly policySigner: string | undefined;
  readonly program: string;
  readonly database: OrderSettings['database'];
  isClosed: boolean;
}

const parts = new WeakMap<object, JournalParts>();

export const setJournalParts = (journal: object, of: JournalParts): void => void parts.set(journal, of);

/** @throws UsageError for a journal that was not created by openJournal. */
export function journalPartsOf(journal: object): JournalParts {
  const found = typeof journal === 'object' && journal !== null ? parts.get(journal) : undefined;
  if (found && !found.isClosed) return found;
  if (found) throw new UsageError(`the journal in ${found.folder} is closed`);
  throw new UsageError('the journal is not one that openJournal opened');
}
