import { defineCommand } from '../../cli/define.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { loadPolicy, loadPublished, readPublished } from '../../spending/policy/load.ts';
import { noPolicy } from '../../spending/policy/none.ts';
import type { Policy } from '../../spending/policy/policy.ts';

export const show = defineCommand({
  name: 'show',
  summary: 'The rules that orders are held to, and the file they stand in',
  description:
    'Where machines share a database, the policy that is published there, with a warning where the file of this machine differs.',
  examples: [
    { command: 'errand policy show', note: 'every rule, with its line' },
    { command: "errand policy show -o json --query '[].rule'", note: 'for a script' },
  ],
  output: { list: 'PolicyRule' },
  exitCodes: { 11: 'the policy cannot be used, so no order is sent' },
  readsOnly: true,
  related: ['policy check', 'policy usage', 'help policy'],
  async run(context) {
    const policy = await policyToShow(context);
    const published = await loadPublished(context);
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
      hints: () => [
        ...(policy ? [`policy: ${policy.file}`, ...termsOf(policy)] : []),
        ...(published ? [`published by ${published.by} on ${published.at}`] : []),
      ],
    };
  },
});

/** Shows the published policy even if this machine's file differs. Such a difference blocks ordering. */
async function policyToShow(context: Context): Promise<Policy | undefined> {
  try {
    return await loadPolicy(context);
  } catch (error) {
    const published = await loadPublished(context);
    if (!(error instanceof ErrandError) || error.facts.code !== 'policy_differs' || !published) throw error;
    context.note(`warning: ${error.message}`);
    return readPublished(context, published);
  }
}
