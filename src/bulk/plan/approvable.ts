import type { Plan } from '../../contract/schemas/plan-file.ts';
import type { ApprovablePlan } from '../../spending/approval/subject.ts';

type Approved = Pick<
  Plan,
  'sha256' | 'file' | 'orders' | 'ceilings_cents' | 'fee_cents' | 'totals' | 'created_at'
>;

/** Groups that a person who approves is shown. */
const mostGroups = 20;

/** A plan as somebody approves it: the very file, to the byte, and all that it may spend. Pure. */
export function approvable({ sha256, file, orders, created_at, totals, ...plan }: Approved): ApprovablePlan {
  const of = (by: string): Record<string, number> =>
    Object.fromEntries(
      totals
        .filter((total) => total.by === by)
        .slice(0, mostGroups)
        .map(({ value, orders: count }) => [value, count]),
    );
  return {
    hash: sha256,
    cents: plan.ceilings_cents + plan.fee_cents * orders,
    summary: {
      file: file.name,
      planned_at: created_at,
      orders,
      retailers: of('retailer'),
      countries: of('country'),
    },
  };
}
