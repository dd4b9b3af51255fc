import { defineCommand } from '../../cli/define.ts';
import { fileOption } from '../../standing/file.ts';

export const show = defineCommand({
  name: 'show',
  summary: 'One standing order: what it buys, when, and what changes',
  description:
    'The next dates, the last order, and how the next differs from it. Where the dates have moved, it says which are left out because one close to them was bought.',
  arguments: [
    { name: 'name', completes: 'standing', description: 'name of the standing order', required: true },
  ],
  options: {
    offline: { kind: 'flag', description: 'what the file says, without the service' },
    ...fileOption,
  },
  examples: [{ command: 'errand standing show coffee', note: 'before the next run buys it' }],
  output: { record: 'StandingOrderDetail' },
  operations: ['order.list'],
  exitCodes: { 4: 'there is no such standing order' },
  related: ['standing list', 'standing edit', 'standing run'],
  async run(context, { name, offline = false, standing }) {
    const [{ entriesOf, entryNamed, readEntryFile }, shown, { countAndRemember }, { RunMemory }] =
      await Promise.all([
        import('../../standing/file.ts'),
        import('../../standing/shown.ts'),
        import('../../standing/counting.ts'),
        import('../../standing/memory.ts'),
      ]);
    const file = readEntryFile(context, standing);
    const written = entryNamed(await entriesOf(file), name, file.path);
    const { bodyOf } = await import('../../standing/place-due.ts');
    const body = await bodyOf(written);
    const orders = offline ? undefined : await shown.ordersIfRead(context, written);
    const now = offline ? context.clock.now() : context.serviceClock.now();
    const memory = new RunMemory(context);
    const counted = countAndRemember(context, { file, memory, entry: written });
    const { entry } = counted;
    const entryShown = shown.shownEntry(entry, file.path, now, orders);
    const changes = [
      ...shown.changesOf(entry, body, orders, { now, known: memory.entry(entry.id) }),
      ...shown.editText(counted),
    ];
    return {
      kind: 'record',
      record: {
        ...entryShown,
        last: shown.shownLast(orders),
        changes,
        former: [...entry.former],
        order: entry.order,
      },
      columns: [
        { name: 'name', path: 'name' },
        { name: 'state', path: 'state', kind: 'status' },
        { name: 'schedule', path: 'every', value: () => shown.scheduleText(entryShown) },
        { name: 'late', path: 'late' },
        { name: 'skip', path: 'skip' },
        {
          name: 'next',
          path: 'next_dates',
          value: () => entryShown.next_dates.map(shown.shownNext).join(', '),
        },
        { name: 'products', path: 'products' },
        { name: 'ceiling', path: 'max_price', kind: 'money' },
        { name: 'live', path: 'live', kind: 'flag' },
        { name: 'last order', path: 'last.order_id', kind: 'id', names: 'orders' },
        { name: 'last date', path: 'last.date' },
        { name: 'last outcome', path: 'last.state', kind: 'status' },
        { name: 'changes', path: 'changes', isProse: true, value: () => changes.join('; ') },
        { name: 'version', path: 'version' },
        { name: 'file', path: 'file' },
      ],
      id: 'id',
    };
  },
});
