import { UsageError } from '../../errors.ts';
import { type AddressFields, addressFields, addressFlag, addressOptions } from '../address-options.ts';
import { defineCommand } from '../define.ts';
import { readDocument } from '../read-document.ts';
import { addressColumns } from './columns.ts';

export const add = defineCommand({
  name: 'add',
  aliases: ['set'],
  summary: 'Save an address, or change a saved one',
  arguments: [{ name: 'name', description: 'name to use with --ship-to', required: true }],
  options: {
    ...addressOptions,
    file: {
      kind: 'text',
      placeholder: 'file|-',
      description: 'the address as JSON or YAML; flags override it',
    },
    default: { kind: 'flag', description: 'ship there when --ship-to is not given' },
  },
  examples: [
    {
      command:
        "errand address add home --first-name Ada --last-name Byron --address-line1 '1 Main St' --city Austin --state TX --postal-code 78701 --country US --phone-number 5125550100",
      note: 'from flags',
    },
    { command: 'errand address add home --city Houston --postal-code 77002', note: 'change a saved one' },
  ],
  related: ['address list', 'order create'],
  async run(context, { name, file, default: asDefault = false, ...flags }) {
    const store = await context.store();
    const given = {
      ...(file === undefined ? {} : (await readDocument(context, '--file', file)).value),
      ...addressFields(flags),
    };
    const before = store.address(name);
    const address = { ...before, ...given };
    const { checkShape } = await import('../../contract/schemas/check.ts');
    const checked = checkShape('Address', await complete(address), 'body');
    if (!checked.value) throw new UsageError(refusal(checked.issues));
    const fields = Object.fromEntries(
      Object.entries(checked.value).flatMap(([field, value]) =>
        value === undefined ? [] : [[field, value] as const],
      ),
    );
    await store.setAddress(name, fields, asDefault);
    return { kind: 'record', record: { name, ...fields }, columns: addressColumns, id: 'name' };

    async function complete(fields: AddressFields): Promise<AddressFields> {
      if (!context.interactive.yes || file !== undefined || before) return fields;
      const { askAddress } = await import('../ask-address.ts');
      return askAddress(context, fields);
    }
  },
});

function refusal(issues: readonly { loc: readonly (string | number)[]; msg: string }[]): string {
  const lines = issues.map(
    ({ loc, msg }) => `${addressFlag(String(loc[1])) ?? loc.slice(1).join('.')}: ${msg}`,
  );
  return lines.length === 1 ? String(lines[0]) : `the address is not valid: ${lines.join('; ')}`;
}
