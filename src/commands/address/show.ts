import { defineCommand } from '../../cli/define.ts';
import { addressColumns } from '../../orders/addresses/options.ts';
import { ErrandError } from '../../platform/errors.ts';
import { didYouMean } from '../../platform/near-words.ts';

export const show = defineCommand({
  name: 'show',
  aliases: ['get'],
  summary: 'Show one saved address',
  arguments: [{ name: 'name', completes: 'addresses', description: 'name of the address', required: true }],
  examples: [{ command: 'errand address show home -o json', note: 'as the service takes it' }],
  output: { record: 'SavedAddress' },
  readsOnly: true,
  related: ['address list'],
  async run(context, { name }) {
    const store = await context.store();
    const address = store.address(name);
    if (!address) {
      const known = store.addressNames();
      throw new ErrandError(
        'not_found',
        `there is no address "${name}"${known.length > 0 ? `; saved are ${known.join(', ')}` : ''}${didYouMean(name, known)}`,
      );
    }
    return { kind: 'record', record: { name, ...address }, columns: addressColumns, id: 'name' };
  },
});
