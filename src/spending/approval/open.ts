import type { Approvals } from '../../journal/approvals.ts';
import type { OrderContext } from '../../run/order-context.ts';

/** The approvals of this machine. Those for `terms` that a process had used which ended before it sent anything are free again. */
export async function openApprovals(
  { journal }: Pick<OrderContext, 'journal'>,
  terms: string,
): Promise<Approvals> {
  const { reservations } = await journal();
  const approvals = await reservations.approvals();
  const isPerhapsUnsent = approvals
    .withTerms(terms)
    .some(({ request }) => approvals.usesOf(request.id).some(({ orderId }) => orderId === undefined));
  if (isPerhapsUnsent) await reservations.giveBackAbandoned();
  return approvals;
}
