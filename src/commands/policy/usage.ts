import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { noPolicy } from '../../spending/policy/none.ts';
import { shownUsage } from '../../spending/policy/settle.ts';

const columns: readonly Column[] = [
  { name: 'rule', path: 'rule', weight: 10 },
  { name: 'applies to', path: 'applies_to', weight: 7 },
  { name: 'period', path: 'period', weight: 6 },
  { name: 'limit', path: 'limit_cents', kind: 'money', weight: 8 },
  { name: 'used', path: 'used_cents', kind: 'money', weight: 9 },
  { name: 'of that open', path: 'open_cents', kind: 'money', weight: 4 },
  { name: 'left', path: 'left_cents', kind: 'money', weight: 9 },
  { name: 'share', path: 'used_share', kind: 'share', weight: 8.5 },
];

export const usage = defineCommand({
  name: 'usage',
  summary: 'What each limit of a day or month has left, with a chart',
  description:
    '"of that open" is reserved for orders whose cost or outcome is not known yet. --refresh reads it first.',
  options: {
    refresh: { kind: 'flag', description: 'read first what open orders came to' },
    live: { kind: 'flag', description: 'of real orders, though this profile rehearses' },
  },
  examples: [
    { command: 'errand policy usage', note: 'as far as this machine knows' },
    { command: 'errand policy usage --refresh -o json', note: 'with what the orders came to' },
  ],
  needsKey: true,
  output: { list: 'PolicyUsage' },
  exitCodes: { 11: 'the policy cannot be used, so no order is sent' },
  readsOnly: true,
  related: ['policy show', 'order list'],
  async run(context, { refresh = false, live = false }) {
    const policy = await loadPolicy(context);
    const isRehearsal = !live && context.isRehearsal();
    const rows = policy ? await shownUsage(context, policy, { refresh, isRehearsal }) : [];
    return {
      kind: 'list',
      rows,
      columns,
      id: 'rule',
      empty: policy ? `${policy.file} sets no limit for a day or a month` : noPolicy(context),
      hints: () =>
        policy
          ? [
              `counted: ${isRehearsal ? 'rehearsals (the sandbox and test keys)' : 'real orders'}; policy: ${policy.file}`,
            ]
          : [],
    };
  },
});
