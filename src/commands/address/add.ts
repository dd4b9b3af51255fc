import { defineCommand } from '../../cli/define.ts';
import { addressTaken } from '../../config/addresses.ts';
import { addressColumns, addressFields, addressOptions } from '../../orders/addresses/options.ts';
import { readDocument } from '../../run/read-document.ts';

export const add = defineCommand({
  name: 'add',
  summary: 'Save an address',
  description:
    'A saved address is never replaced unasked; the example that the sandbox saved as home gives way.',
  arguments: [
    { name: 'name', completes: 'addresses', description: 'name to use with --ship-to', required: true },
  ],
  options: {
    ...addressOptions,
    file: {
      kind: 'text',
      placeholder: 'file|-',
      completes: 'files',
      description: 'the address as JSON or YAML; flags override it',
    },
    default: { kind: 'flag', description: 'ship there when --ship-to is not given' },
    replace: { kind: 'flag', description: 'in place of the address of that name' },
  },
  examples: [
    {
      command:
        "errand address add home --first-name Ada --last-name Byron --address-line1 '1 Main St' --city Austin --state TX --postal-code 78701 --country US --phone-number 5125550100",
      note: 'from flags',
    },
  ],
  output: { record: 'SavedAddress' },
  related: ['address update', 'address list', 'order create'],
  async run(context, { name, file, default: asDefault = false, replace = false, ...flags }) {
    const store = await context.store();
    const isReplaced = replace || (await isAgreed());
    const given = {
      ...(file === undefined ? {} : (await readDocument(context, '--file', file)).value),
      ...addressFields(flags),
    };
    const isPrompted = context.interactive.yes && file === undefined;
    const whole = isPrompted
      ? await (await import('../../orders/addresses/prompt.ts')).askAddress(context, given)
      : given;
    const { checkedAddress } = await import('../../orders/addresses/checked.ts');
    const address = checkedAddress(whole);
    await store.addAddress(name, address, { asDefault, replace: isReplaced });
    return { kind: 'record', record: { name, ...address }, columns: addressColumns, id: 'name' };

    /**
     * Asks whether to replace the existing address of that name.
     * @throws UsageError if the user does not agree.
     */
    async function isAgreed(): Promise<boolean> {
      if (!store.isTaken(name)) return false;
      if (!context.interactive.yes) throw addressTaken(name);
      const { first_name: first, last_name: last, address_line1: street } = store.address(name) ?? {};
      const question = `Replace ${name} (${first} ${last}, ${street})?`;
      if (await (await context.prompt()).confirm(context, question)) return true;
      throw addressTaken(name);
    }
  },
});
