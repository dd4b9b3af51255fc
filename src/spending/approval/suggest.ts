import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Policy } from '../policy/policy.ts';

/** The command that approves a request, as far as it can be known here. */
export const approveCommand = (context: OrderContext, { approvers }: Policy, id: string): string =>
  `errand approval approve ${id}${approvers.length > 0 ? ' --key ~/.ssh/id_ed25519' : ''}${whereFlags(context)}`;
