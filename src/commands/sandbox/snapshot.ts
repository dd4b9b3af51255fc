import { defineCommand } from '../../cli/define.ts';
import { checkEmbedded } from './embedded-only.ts';

export const snapshot = defineCommand({
  name: 'snapshot',
  summary: 'Save a snapshot of the embedded sandbox; without a name, list snapshots',
  arguments: [{ name: 'name', description: 'name of the snapshot' }],
  options: { force: { kind: 'flag', description: 'take one of that name anew' } },
  examples: [
    { command: 'errand sandbox snapshot before --force', note: 'keep it' },
    { command: 'errand sandbox snapshot', note: 'what is kept' },
  ],
  output: { list: 'SandboxSnapshot' },
  related: ['sandbox restore', 'sandbox advance'],
  async run(context, { name, force = false }) {
    checkEmbedded(context, 'snapshot');
    const { state } = context.settings.folders;
    const { sandboxSnapshots, snapshotSandbox } = await context.sandbox();
    if (name !== undefined) await snapshotSandbox(state, name, force, context.signal);
    const kept = sandboxSnapshots(state).filter((it) => name === undefined || it.name === name);
    return {
      kind: 'list',
      rows: kept.map((it) => ({ name: it.name, taken_at: new Date(it.takenAt).toISOString() })),
      columns: [
        { name: 'name', path: 'name', weight: 2 },
        { name: 'taken', path: 'taken_at', kind: 'time', isLocal: true, weight: 1 },
      ],
      id: 'name',
      empty: 'no snapshot was taken',
    };
  },
});
