import type { Plan } from '../../api/schemas/plan-file.ts';
import type { Context } from '../../run/context.ts';
import type { ApprovablePlan } from '../../spending/approval/subject.ts';
import type { Meant } from '../../spending/policy/gate.ts';
import { gateFor } from '../../spending/through-policy.ts';

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

/**
 * Asks for the approval of a plan, once; it holds for all of its parts. @returns the command that approves it; undefined where
 * none is needed any more, or somebody has decided already. @throws ErrandError.
 */
export async function askApproval(
  context: Context,
  meant: readonly Meant[],
  plan: Approved,
): Promise<string | undefined> {
  const gate = await gateFor(context, meant, { plan: approvable(plan) });
  const verdict = await gate?.look();
  if (!gate || verdict?.outcome !== 'needs_approval') return undefined;
  const { PolicyRefusal } = await import('../../spending/policy/refusal.ts');
  try {
    await gate.reconsider(new PolicyRefusal(context, verdict));
    return undefined;
  } catch (error) {
    if (!(error instanceof PolicyRefusal)) throw error;
    return error.facts.next?.[0]?.command;
  }
}
