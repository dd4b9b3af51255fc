import { defineRootCommand } from '../../cli/define.ts';
import { observeOrders } from '../../orders/observed.ts';
import { exitCodes, StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { Facts } from '../../spending/reconcile/gather.ts';

const defaultDays = 30;
const dayMs = 24 * 3600 * 1000;

export const command = defineRootCommand({
  description: `Compares the journal and audit chain of this machine with the orders, returns and wallet of the account at the service. It changes no order; it records what each order cost, once, and the wallet balance in the audit chain. Each finding names the order or key, and a command that settles it or shows more. Fees, and refunds that no record shows, are computed from the rules of the service. Others may use the wallet too, and it shows only a balance, so the next reconcile checks it against this one, less what the orders of the account have cost since. A difference (such as a deposit) or an order made elsewhere is a note; with --exclusive it is a finding. Without --since it covers ${defaultDays} days, as long as the journal keeps settled records; an order in doubt always counts. Two identical orders are a finding within the duplicate window and a note within a day, unless one was made with --new or a key of its own. Fields of -o json: agrees, since, service, orders, incomplete, sums, elsewhere, wallet, audit, findings (finding, order_id, key, cents, message, command), notes.`,
  options: {
    since: {
      kind: 'date',
      edge: 'first',
      description: `orders from this time on (default: the last ${defaultDays} days)`,
    },
    exclusive: {
      kind: 'flag',
      description: 'nobody but this machine uses the account: what else it holds is a finding',
    },
  },
  examples: [
    { command: 'errand reconcile', note: 'exit 0 where all agrees, with the sums' },
    { command: 'errand reconcile --since 2026-11-01 --exclusive', note: 'an account of this machine alone' },
    {
      command: "errand reconcile -o json --query 'findings[].command'",
      note: 'what there is to do, for a script',
    },
  ],
  output: { record: 'Reconciliation' },
  operations: ['order.list', 'order.get', 'bulk.get', 'wallet.get'],
  readsOnly: true,
  exitCodes: { 7: 'something does not agree; each finding names what, and a command' },
  related: ['order explain', 'audit verify', 'order journal resume', 'spend'],
  async run(context, { since, exclusive = false }) {
    const sinceMs = since === undefined ? context.clock.now() - defaultDays * dayMs : Date.parse(since);
    const { gather } = await import('../../spending/reconcile/gather.ts');
    const { reconcile } = await import('../../spending/reconcile/reconcile.ts');
    const { columns } = await import('../../spending/reconcile/columns.ts');
    const { describes } = await import('../../orders/compare.ts');
    const facts = await gather(context, sinceMs, describes);
    const compared = reconcile(facts, exclusive);
    await observeOrders(
      context,
      [...facts.own.keys()].flatMap((id) => facts.orders.get(id) ?? []),
    );
    await recordWallet(context, facts, compared.wallet.unexplained);
    return {
      kind: 'record',
      record: { ...compared },
      columns,
      id: 'agrees',
      hints: compared.notes,
      exitCode: compared.agrees ? 0 : exitCodes.ended_badly,
    };
  },
});

/** Records the balance for the next comparison. If this write fails, the present comparison remains valid. */
async function recordWallet(context: Context, facts: Facts, difference: number | null): Promise<void> {
  if (context.previewsRequests) return;
  const { walletEntry } = await import('../../spending/reconcile/wallet-moves.ts');
  const { account, now, service, balance, made } = facts;
  const known = difference === null ? {} : { difference };
  const entry = walletEntry(balance, made, { account, now, ...known });
  if (!entry) return;
  const { profile } = context.settings;
  try {
    const { audit } = await context.journal();
    await audit.write({ ...entry, service, profile: profile.value });
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    context.note(`the balance could not be recorded for the next comparison: ${error.message}`);
  }
}
