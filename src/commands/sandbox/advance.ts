import { defineCommand } from '../../cli/define.ts';
import { parseDuration } from '../../wait/duration.ts';
import { controlled } from './controlled.ts';

export const advance = defineCommand({
  name: 'advance',
  summary: "Move the sandbox's clock forward",
  description:
    'Through all that is due on the way: webhooks are sent and sent again as they would have been. Works on the embedded sandbox, and on one that this machine serves and --base-url or the profile names.',
  arguments: [{ name: 'time', description: 'how far: 30s, 3d', required: true }],
  examples: [{ command: 'errand sandbox advance 3d', note: 'all that was due by then has happened' }],
  output: { record: 'SandboxTime' },
  related: ['order watch', 'sandbox serve'],
  async run(context, { time }) {
    const ms = parseDuration(time, 'time');
    const sandbox = await controlled(context, 'advance');
    let state = await sandbox.act('advance', { ms });
    // It comes back now and then, so that no wait for one response grows long.
    while ((state.left_ms ?? 0) > 0) state = await sandbox.act('advance', { ms: state.left_ms ?? 0 });
    const record = { now: state.now, advanced_ms: ms };
    return {
      kind: 'record',
      record,
      id: 'now',
      columns: [{ name: 'now', path: 'now' }],
    };
  },
});
