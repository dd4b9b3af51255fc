import { defineCommand } from '../../cli/define.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { fileOption } from '../../standing/file.ts';
import { fileFlag } from './result.ts';

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'Standing orders: next date, last outcome, spent so far',
  isDefault: true,
  options: {
    offline: { kind: 'flag', description: 'what the file says, without the service' },
    ...fileOption,
  },
  examples: [
    { command: 'errand standing list', note: 'all of them' },
    {
      command: "errand standing list --offline -o json --query '[].next_dates[0].date'",
      note: 'for a script',
    },
  ],
  output: { list: 'StandingOrderStatus' },
  operations: ['order.list'],
  related: ['standing show', 'standing run'],
  async run(context, { offline = false, standing }) {
    const [{ entriesOf, readEntryFile }, shown, { countAndRemember }, { RunMemory }] = await Promise.all([
      import('../../standing/file.ts'),
      import('../../standing/shown.ts'),
      import('../../standing/counting.ts'),
      import('../../standing/memory.ts'),
    ]);
    const file = readEntryFile(context, standing);
    const rows = [];
    const memory = new RunMemory(context);
    let isRead = !offline;
    for (const entry of await entriesOf(file)) {
      await shown.noteDoubt(context, entry, `${fileFlag(standing)}${whereFlags(context)}`);
      const orders = isRead ? await shown.ordersIfRead(context, entry) : undefined;
      // If the service has failed to respond once, do not wait for it again.
      isRead = orders !== undefined;
      rows.push({
        ...shown.shownEntry(
          countAndRemember(context, { file, memory, entry }).entry,
          file.path,
          offline ? context.clock.now() : context.serviceClock.now(),
          orders,
        ),
        last: shown.shownLast(orders),
        orders: orders ? orders.filter(({ state }) => state === 'placed').length : null,
        spent_cents: shown.spentOn(orders),
      });
    }
    return {
      kind: 'list',
      rows,
      columns: [
        ...shown.entryColumns,
        { name: 'last', path: 'last.date', weight: 4 },
        { name: 'outcome', path: 'last.state', kind: 'status', weight: 7 },
        { name: 'spent', path: 'spent_cents', kind: 'money', weight: 3 },
      ],
      id: 'name',
      empty: `no standing orders in ${file.path}: \`errand standing add\` makes one`,
    };
  },
});
