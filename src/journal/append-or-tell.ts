import { ErrandError } from '../platform/errors.ts';
import type { AuditChain } from './audit.ts';
import type { AuditEntry } from './audit-entry.ts';

/** What of a run's context this needs. */
interface Teller {
  journal(): Promise<{ readonly audit: AuditChain }>;
  note(line: string): void;
}

/** Where the chain cannot be written that is said, and the work goes on. */
export async function appendOrTell(teller: Teller, entry: AuditEntry): Promise<void> {
  try {
    await (await teller.journal()).audit.write(entry);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    teller.note(`warning: not in the audit chain: ${error.message}`);
  }
}
