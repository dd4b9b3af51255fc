import { defineCommand } from '../../cli/define.ts';

export const remove = defineCommand({
  name: 'remove',
  aliases: ['rm', 'delete'],
  summary: 'Remove a saved address',
  arguments: [{ name: 'name', completes: 'addresses', description: 'name of the address', required: true }],
  examples: [{ command: 'errand address remove home', note: 'orders already placed keep it' }],
  output: { nothing: true },
  related: ['address list'],
  async run(context, { name }) {
    const store = await context.store();
    await store.deleteAddress(name);
    return { kind: 'none', hints: [`removed the address ${name}`] };
  },
});
