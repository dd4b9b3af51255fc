import { defineCommand } from '../../cli/define.ts';

export const explain = defineCommand({
  name: 'explain',
  summary:
    "Show an order's full history: who ordered, what the policy decided, what happened, and every cent",
  description:
    'Combines what this machine knows (audit chain, policy, events received) with what the service says (milestones, price, returns). An amount is observed if a record shows it, by rule if it only follows from how the service works. For an order that this machine never saw, only the part of the service is shown. For an order in doubt, give its idempotency key. An order with a reference shows which attempt it is. Fields of -o json: id, key, reference, attempt, attempts, service, status, summary, products, asked, why, policy, steps, milestones, price, money (payer, lines, sums, due), returns, events, open (what, command).',
  arguments: [
    {
      name: 'id',
      names: ['orders', 'intents'],
      description: 'id of the order, or the idempotency key of one that this machine has sent',
      required: true,
    },
  ],
  examples: [
    { command: 'errand order explain $ORDER', note: 'all of it on one page' },
    {
      command: "errand order explain $ORDER -o json --query 'money.sums'",
      note: 'what it cost, by who paid',
    },
    { command: "errand order explain $ORDER -o json --query 'open[].command'", note: 'what is left to do' },
  ],
  output: { record: 'OrderHistory' },
  operations: ['order.get', 'order.timeline', 'wallet.get'],
  readsOnly: true,
  related: ['order get', 'audit log', 'reconcile'],
  async run(context, { id }) {
    const { explain: explained } = await import('../../orders/explain/explain.ts');
    const { storyColumns, storyScreen } = await import('../../orders/explain/columns.ts');
    const { story, state } = await explained(context, id);
    return { kind: 'record', record: { ...story }, columns: storyColumns, screen: storyScreen(state) };
  },
});
