import { defineCommand } from '../../cli/define.ts';
import { addressColumns, addressFields, addressOptions } from '../../orders/addresses/options.ts';

export const update = defineCommand({
  name: 'update',
  aliases: ['set'],
  summary: 'Change fields of a saved address',
  arguments: [{ name: 'name', completes: 'addresses', description: 'name of the address', required: true }],
  options: {
    ...addressOptions,
    default: { kind: 'flag', description: 'ship there when --ship-to is not given' },
  },
  examples: [
    { command: 'errand address update home --city Houston --postal-code 77002', note: 'the rest stays' },
  ],
  output: { record: 'SavedAddress' },
  related: ['address show', 'address add'],
  async run(context, { name, default: asDefault = false, ...flags }) {
    const store = await context.store();
    const { checkedAddress } = await import('../../orders/addresses/checked.ts');
    const given = addressFields(flags);
    await store.changeAddress(name, (before) => checkedAddress({ ...before, ...given }), asDefault);
    return { kind: 'record', record: { name, ...store.address(name) }, columns: addressColumns, id: 'name' };
  },
});
