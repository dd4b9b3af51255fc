import { textIn } from '../../api/json.ts';
import type { AuditDetails } from '../../journal/audit-entry.ts';
import { audited } from '../../orders/audited.ts';
import type { Context } from '../../run/context.ts';

/** Changes a retailer account at the service, with its records in the audit chain. @param shortId of one that is there. */
export function auditedAccount<T>(
  context: Context,
  change: AuditDetails['account']['change'],
  shortId: string | null,
  work: () => Promise<T>,
): Promise<T> {
  const { profile, baseUrl } = context.settings;
  const subject = { profile: profile.value, service: baseUrl.value };
  let account = shortId;
  return audited(
    context,
    (step) => ({ kind: 'account', ...subject, detail: { ...step, change, account } }),
    async () => {
      const result = await work();
      account ??= textIn(result, 'short_id') ?? null;
      return result;
    },
  );
}
