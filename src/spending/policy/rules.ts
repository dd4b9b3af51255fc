import type { Output } from '../../api/outputs/index.ts';
import { formatMoney } from '../../format/money.ts';
import { durationText } from '../../format/time.ts';
import { type Policy, type Rule, scopeText } from './policy.ts';

/** A rule of a policy in the format shown to users. */
export type ShownRule = Output<'PolicyRule'>;

/** All rules that apply, in the order of the file. Pure. */
export function rulesOf(policy: Policy): ShownRule[] {
  const { limits, retailers, countries, urls, duplicates, approveAbove, approveUploadAbove } = policy;
  const shown = (
    { rule, line }: Rule,
    value: string,
    { part, covers = 'each order' }: { readonly part?: string | undefined; readonly covers?: string } = {},
  ): ShownRule => ({
    rule,
    applies_to: part ?? null,
    covers,
    value,
    line,
    ...(policy.signer !== undefined && { signer: policy.signer }),
  });
  const names = [retailers, countries, urls].flatMap((one) =>
    one ? [shown(one, one.names.join(', '))] : [],
  );
  return [
    ...limits.map((limit) => {
      const value = limit.kind === 'quantity_per_line' ? String(limit.max) : formatMoney(limit.max);
      return shown(limit, value, { part: scopeText(limit.scope), covers: covered[limit.kind] });
    }),
    ...names,
    ...(duplicates
      ? [
          shown(
            duplicates,
            `${duplicates.action} the same ${duplicates.same.join(' and ')} within ${durationText(duplicates.withinMs)}`,
          ),
        ]
      : []),
    ...(approveAbove ? [shown(approveAbove, formatMoney(approveAbove.max))] : []),
    ...(approveUploadAbove
      ? [shown(approveUploadAbove, formatMoney(approveUploadAbove.max), { covers: 'a whole upload' })]
      : []),
  ].sort((a, b) => a.line - b.line);
}

/** For each kind of limit, what it adds up. */
const covered: Readonly<Record<Policy['limits'][number]['kind'], string>> = {
  per_order: 'each order',
  per_day: 'all orders of a day',
  per_month: 'all orders of a month',
  per_batch: 'a whole upload',
  quantity_per_line: 'each product of an order',
};

/** The terms of a policy other than its rules, in words. */
export function termsOf(policy: Policy): string[] {
  const { timeZone, rehearsals, overrides, approvers, duplicates, approvalMs } = policy;
  const isApproved =
    policy.approveAbove !== undefined ||
    policy.approveUploadAbove !== undefined ||
    duplicates?.action === 'approve';
  return [
    `days and months are those of ${timeZone}`,
    rehearsals === 'count'
      ? 'rehearsals (the sandbox and test keys) are held to the same limits, and counted apart'
      : 'rehearsals (the sandbox and test keys) are exempt',
    ...(isApproved ? [`an approval can be used for ${durationText(approvalMs)} after it was asked for`] : []),
    ...(approvers.length === 0 ? [] : [`approvers: ${approvers.map(({ name }) => name).join(', ')}`]),
    overrides === 'never'
      ? 'nobody may override it'
      : approvers.length > 0
        ? 'it is overridden with the signature of an approver, and a reason'
        : 'whoever sits at a terminal may override it, with a reason',
  ];
}
