import { defineCommand } from '../../cli/define.ts';
import { parseDuration } from '../../wait/duration.ts';
import { checkEmbedded } from './embedded-only.ts';

export const advance = defineCommand({
  name: 'advance',
  summary: "Move the embedded sandbox's clock forward",
  arguments: [{ name: 'time', description: 'how far: 30s, 3d', required: true }],
  examples: [{ command: 'errand sandbox advance 3d', note: 'all that was due by then has happened' }],
  output: { record: 'SandboxTime' },
  related: ['order watch', 'sandbox serve'],
  async run(context, { time }) {
    checkEmbedded(context, 'advance');
    const ms = parseDuration(time, 'time');
    const { advanceSandbox } = await context.sandbox();
    const now = await advanceSandbox(context.settings.folders.state, ms, context.signal);
    const record = { now: new Date(now).toISOString(), advanced_ms: ms };
    return {
      kind: 'record',
      record,
      id: 'now',
      columns: [{ name: 'now', path: 'now' }],
    };
  },
});
