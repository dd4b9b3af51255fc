import type { Shape } from '../../api/schemas/index.ts';
import { defineRootCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';

const columns: readonly Column<Shape<'Wallet'>>[] = [
  { name: 'spendable', path: 'spendable_balance', kind: 'money', weight: 9 },
  { name: 'balance', path: 'balance', kind: 'money' },
  { name: 'fee per order', path: 'order_fee_cents', kind: 'money', weight: 8 },
  { name: 'type', path: 'wallet_type' },
  { name: 'billed by invoice', path: 'billed_by_invoice', kind: 'flag' },
  { name: 'updated', path: 'updated_at', kind: 'time' },
];

export const command = defineRootCommand({
  examples: [
    { command: 'errand wallet', note: 'what can be spent' },
    { command: 'errand wallet -o json --query spendable_balance', note: 'the same in cents, for a script' },
  ],
  output: { record: 'wallet.get' },
  operations: ['wallet.get'],
  related: ['order create'],
  async run(context) {
    const client = await context.client();
    const { body } = await client.call('wallet.get', {});
    return { kind: 'record', record: body, columns };
  },
});
