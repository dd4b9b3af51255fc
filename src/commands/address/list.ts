import { defineCommand } from '../../cli/define.ts';
import { addressColumns } from '../../orders/addresses/options.ts';

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List the saved addresses',
  examples: [{ command: 'errand address list', note: 'names to use with --ship-to' }],
  output: { list: 'SavedAddress' },
  readsOnly: true,
  related: ['address add', 'order create'],
  async run(context) {
    const store = await context.store();
    const preset = store.defaultAddress()?.name;
    const rows = store
      .addressNames()
      .map((name) => ({ name, default: name === preset, ...store.address(name) }));
    return {
      kind: 'list',
      rows,
      columns: addressColumns,
      id: 'name',
      empty: 'no address is saved: errand address add NAME',
    };
  },
});
