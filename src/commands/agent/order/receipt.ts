import { defineCommand } from '../../../cli/define.ts';
import type { Column } from '../../../format/result.ts';
import { ErrandError } from '../../../platform/errors.ts';
import { checkUuid } from '../../../run/ids.ts';

const receiptColumns: readonly Column[] = [
  { name: 'reference', path: 'reference', weight: 10 },
  { name: 'method', path: 'method', weight: 9 },
  { name: 'status', path: 'status', kind: 'status', weight: 8 },
  { name: 'paid', path: 'timestamp', kind: 'time', weight: 7 },
  { name: 'order', path: 'order_id', kind: 'id', weight: 6 },
];

export const receipt = defineCommand({
  name: 'receipt',
  summary: 'The receipt of an order that was paid for from here',
  description: 'Read from this machine; nothing is requested from the service.',
  arguments: [{ name: 'id', names: 'orders', description: 'id of the order', required: true }],
  examples: [{ command: 'errand agent order receipt $PAID -o json', note: 'with all that the method adds' }],
  output: { record: 'PaymentReceipt' },
  exitCodes: { 4: 'no receipt of that order is kept here' },
  related: ['agent order create', 'order get'],
  async run(context, { id }) {
    const journal = await context.journal();
    const saved = journal.grants.of(checkUuid('order id', id), context.settings.baseUrl.value)?.receipt;
    if (!saved) throw new ErrandError('not_found', `no receipt of ${id} is kept here`);
    return { kind: 'record', record: { ...saved, order_id: id }, columns: receiptColumns, id: 'order_id' };
  },
});
