import { appendOrReport } from '../journal/append-or-report.ts';
import type { AuditEntry, AuditStep } from '../journal/audit-entry.ts';
import type { Intent } from '../journal/journal-record.ts';
import { ErrandError, StorageError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';

/**
 * Performs an action that is not a journal intent. Records in the audit chain that the action was sent, and its
 * outcome.
 * @throws StorageError if the chain is not writable; nothing is sent then.
 */
export async function audited<T>(
  context: OrderContext,
  entry: (step: AuditStep) => AuditEntry,
  work: () => Promise<T>,
): Promise<T> {
  if (context.previewsRequests) return work();
  await appendFirst(context, entry({ outcome: 'sent', code: null }));
  try {
    const result = await work();
    await appendOrReport(context, entry({ outcome: 'done', code: null }));
    return result;
  } catch (error) {
    if (error instanceof ErrandError) await appendOrReport(context, entry(failedStep(error)));
    throw error;
  }
}

/** Records that an attempt ended without a conclusive response. Does not inform the user; the caller does. */
export async function noteInDoubt(
  context: OrderContext,
  { key, baseUrl }: Pick<Intent, 'key' | 'baseUrl'>,
  { category, facts }: ErrandError,
): Promise<void> {
  try {
    await (await context.journal()).leaveInDoubt(key, baseUrl, facts.code ?? category);
  } catch (error) {
    // The intent stays in the journal. The fact that it is there marks it as in doubt.
    if (!(error instanceof ErrandError)) throw error;
  }
}

async function appendFirst(context: OrderContext, entry: AuditEntry): Promise<void> {
  try {
    await (await context.journal()).audit.write(entry);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    const message = `the audit chain cannot be written (${error.message}); nothing was sent now`;
    const facts = { ...error.facts, cause: error };
    throw new StorageError(message, facts, error.category);
  }
}

function failedStep({ category, facts }: ErrandError): AuditStep {
  const isCertain = facts.outcome === 'rejected' || facts.outcome === 'not_sent';
  return { outcome: isCertain ? 'refused' : 'unknown', code: facts.code ?? category };
}
