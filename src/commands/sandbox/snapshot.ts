import type { ControlState } from '../../api/control.ts';
import { defineCommand } from '../../cli/define.ts';
import { controlled, mayBeThere } from './controlled.ts';

export const snapshot = defineCommand({
  name: 'snapshot',
  summary: 'Save a snapshot of the sandbox; without a name, list snapshots',
  description:
    'Of the embedded sandbox, or of one that this machine serves: in memory it keeps them until it ends.',
  arguments: [{ name: 'name', description: 'name of the snapshot' }],
  options: { force: { kind: 'flag', description: 'take one of that name anew' } },
  examples: [
    { command: 'errand sandbox snapshot before --force', note: 'keep it' },
    { command: 'errand sandbox snapshot', note: 'what is kept' },
  ],
  output: { list: 'SandboxSnapshot' },
  related: ['sandbox restore', 'sandbox advance'],
  async run(context, { name, force = false }) {
    const { snapshots } = await stateAfter();
    const matching = snapshots.filter((it) => name === undefined || it.name === name);
    return {
      kind: 'list',
      rows: matching.map((it) => ({ name: it.name, taken_at: it.taken_at })),
      columns: [
        { name: 'name', path: 'name', weight: 2 },
        { name: 'taken', path: 'taken_at', kind: 'time', isLocal: true, weight: 1 },
      ],
      id: 'name',
      empty: 'no snapshot was taken',
    };

    async function stateAfter(): Promise<Pick<ControlState, 'snapshots'>> {
      // Merely listing the snapshots must not create a sandbox.
      if (name === undefined && !(await mayBeThere(context))) return { snapshots: [] };
      const sandbox = await controlled(context, 'snapshot');
      return name === undefined ? sandbox.state : sandbox.act('snapshot', { name, force });
    }
  },
});
