import type { Context } from '../context.ts';
import { ErrandError } from '../errors.ts';
import type { AuditEntry, AuditStep } from '../state/audit-entry.ts';
import type { Intent } from '../state/journal-record.ts';

/**
 * Does what is no intent of the journal, with its records in the audit chain: that it is sent, and how that ended.
 * A chain that cannot be written does not stop it: a cancellation saves money.
 */
export async function audited<T>(
  context: Context,
  entry: (step: AuditStep) => AuditEntry,
  work: () => Promise<T>,
): Promise<T> {
  if (context.previewsRequests) return work();
  await appendOrTell(context, entry({ outcome: 'sent', code: null }));
  try {
    const result = await work();
    await appendOrTell(context, entry({ outcome: 'done', code: null }));
    return result;
  } catch (error) {
    if (error instanceof ErrandError) await appendOrTell(context, entry(failedStep(error)));
    throw error;
  }
}

/** An attempt ended without a response that settles it. What that means for the user is said elsewhere. */
export async function noteInDoubt(
  context: Context,
  { key, baseUrl }: Pick<Intent, 'key' | 'baseUrl'>,
  { category, facts }: ErrandError,
): Promise<void> {
  try {
    await (await context.journal()).leaveInDoubt(key, baseUrl, facts.code ?? category);
  } catch (error) {
    // The intent stays in the journal as it is, and that it is in doubt is what matters.
    if (!(error instanceof ErrandError)) throw error;
  }
}

/** Where the chain cannot be written that is said, and the work goes on. */
export async function appendOrTell(context: Context, entry: AuditEntry): Promise<void> {
  try {
    await (await context.journal()).audit.write(entry);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    context.note(`warning: not in the audit chain: ${error.message}`);
  }
}

function failedStep({ category, facts }: ErrandError): AuditStep {
  const isCertain = facts.outcome === 'rejected' || facts.outcome === 'not_sent';
  return { outcome: isCertain ? 'refused' : 'unknown', code: facts.code ?? category };
}
