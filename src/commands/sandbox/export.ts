import { isObject, own } from '../../api/json.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { ErrandError } from '../../platform/errors.ts';
import { controlled } from './controlled.ts';

const columns: readonly Column[] = [
  { name: 'seed', path: 'seed' },
  { name: 'now', path: 'clock.now' },
];

export const exportScenario = defineCommand({
  name: 'export',
  summary: 'Write the present state of the sandbox as a scenario file',
  description:
    'As YAML: `sandbox serve --scenario` begins with it again, with the same ids, times and records. Keys are named and never told: the next play makes new ones, passwords of accounts are placeholders, and webhook addresses have no credentials and no query. Not in it: batches (their orders are), the request log, usage, webhooks that were sent, orders paid by challenge. Works on the embedded sandbox, and on one that this machine serves.',
  examples: [
    { command: 'errand sandbox export > now.yaml', note: 'a state to begin tests with' },
    { command: 'errand sandbox export -o json --query orders[].state', note: 'the same as JSON' },
  ],
  output: { record: 'ScenarioDocument' },
  defaultFormat: 'yaml',
  readsOnly: true,
  related: ['sandbox serve', 'sandbox test', 'sandbox snapshot'],
  async run(context) {
    const sandbox = await controlled(context, 'export');
    const state = await sandbox.act('export', {});
    const scenario = own(state, 'scenario');
    if (!isObject(scenario) || scenario.version !== 1)
      throw new ErrandError('unexpected', 'the sandbox did not say how it stands');
    const leftOut = own(state, 'left_out');
    const omissions = Array.isArray(leftOut) ? leftOut.map(String) : [];
    return {
      kind: 'record',
      record: { ...scenario, version: 1 as const },
      columns,
      hints: omissions.map((what) => `left out: ${what}`),
    };
  },
});
