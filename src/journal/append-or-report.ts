import { ErrandError } from '../platform/errors.ts';
import type { AuditChain } from './audit.ts';
import type { AuditEntry } from './audit-entry.ts';

/** The parts of a run's context that are needed here. */
interface Teller {
  journal(): Promise<{ readonly audit: AuditChain }>;
  note(line: string): void;
}

/** Appends to the audit chain. If that fails, reports the failure and continues. */
export async function appendOrReport(teller: Teller, entry: AuditEntry): Promise<void> {
  try {
    await (await teller.journal()).audit.write(entry);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    teller.note(`warning: not in the audit chain: ${error.message}`);
  }
}
