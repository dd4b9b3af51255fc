import { defineCommand } from '../../cli/define.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { noPolicy } from '../../spending/policy/none.ts';

export const show = defineCommand({
  name: 'show',
  summary: 'The rules that orders are held to, and the file they stand in',
  examples: [
    { command: 'errand policy show', note: 'every rule, with its line' },
    { command: "errand policy show -o json --query '[].rule'", note: 'for a script' },
  ],
  output: { list: 'PolicyRule' },
  exitCodes: { 11: 'the policy cannot be used, so no order is sent' },
  readsOnly: true,
  related: ['policy check', 'policy usage', 'help policy'],
  async run(context) {
    const policy = await loadPolicy(context);
    const { rulesOf, termsOf } = await import('../../spending/policy/rules.ts');
    return {
      kind: 'list',
      rows: policy ? rulesOf(policy) : [],
      columns: [
        { name: 'rule', path: 'rule', weight: 10 },
        { name: 'applies to', path: 'applies_to', weight: 8 },
        { name: 'value', path: 'value', weight: 9 },
        { name: 'line', path: 'line', kind: 'count', weight: 2 },
      ],
      id: 'rule',
      empty: policy ? `${policy.file} sets no rule` : noPolicy(context),
      hints: () => (policy ? [`policy: ${policy.file}`, ...termsOf(policy)] : []),
    };
  },
});
