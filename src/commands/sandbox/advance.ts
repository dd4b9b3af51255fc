import { defineCommand } from '../../cli/define.ts';
import { parseDuration } from '../../platform/duration.ts';
import { ErrandError } from '../../platform/errors.ts';
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
    let left = ms;
    let { now } = sandbox.state;
    // Repeat the request, because the sandbox may stop early to keep each response short.
    do {
      const state = await sandbox.act('advance', { ms: left });
      if (!(state.left_ms < left || state.left_ms === 0)) throw stuck(state.now);
      ({ now, left_ms: left } = state);
    } while (left > 0);
    const record = { now, advanced_ms: ms };
    return {
      kind: 'record',
      record,
      id: 'now',
      columns: [{ name: 'now', path: 'now' }],
    };
  },
});

const stuck = (now: string): ErrandError =>
  new ErrandError('unexpected', `the sandbox's clock does not move on; it is ${now} there`);
