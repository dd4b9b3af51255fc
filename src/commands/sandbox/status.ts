import { defineCommand } from '../../cli/define.ts';

export const status = defineCommand({
  name: 'status',
  summary: 'Whether the sandbox has been claimed',
  examples: [{ command: 'errand sandbox status -o json --query claimed', note: 'true or false' }],
  output: { record: 'sandbox.status' },
  operations: ['sandbox.status'],
  related: ['sandbox mint'],
  async run(context) {
    const { body } = await (await context.client()).call('sandbox.status', {});
    return {
      kind: 'record',
      record: body,
      id: 'claimed',
      columns: [
        { name: 'claimed', path: 'claimed', kind: 'flag' },
        { name: 'by', path: 'claimed_by_email' },
        { name: 'hint', path: 'hint' },
      ],
    };
  },
});
