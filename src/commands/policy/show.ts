import { defineCommand } from '../../cli/define.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { loadPolicy, readPublished } from '../../spending/policy/load.ts';
import { noPolicy } from '../../spending/policy/none.ts';
import type { Policy } from '../../spending/policy/policy.ts';
import { examinePublished, type SignedPolicy } from '../../spending/policy/published.ts';

export const show = defineCommand({
  name: 'show',
  summary: 'The rules that orders are held to, and the file they stand in',
  description:
    'Where machines share a database, the policy that is published there, with its signer, and with a warning where the file of this machine differs. One whose signer this machine does not trust is shown too, with exit 11; one that is not what its signer signed is not.',
  examples: [
    { command: 'errand policy show', note: 'every rule, with its line' },
    { command: "errand policy show -o json --query '[].rule'", note: 'for a script' },
  ],
  output: { list: 'PolicyRule' },
  exitCodes: { 11: 'the policy cannot be used, so no order is sent' },
  readsOnly: true,
  related: ['policy check', 'policy usage', 'policy trust', 'help policy'],
  async run(context) {
    const { policy, published, problem } = await policyToShow(context);
    const { rulesOf, termsOf } = await import('../../spending/policy/rules.ts');
    return {
      kind: 'list',
      rows: policy ? rulesOf(policy) : [],
      columns: [
        { name: 'rule', path: 'rule', weight: 10 },
        { name: 'covers', path: 'covers', weight: 7 },
        { name: 'applies to', path: 'applies_to', weight: 8 },
        { name: 'value', path: 'value', weight: 9 },
        { name: 'line', path: 'line', kind: 'count', weight: 2 },
      ],
      id: 'rule',
      empty: policy ? `${policy.file} sets no rule` : noPolicy(context),
      hints: () => [
        ...(policy ? [`policy: ${policy.file}`, ...termsOf(policy)] : []),
        ...(published ? [publishedLine(published)] : []),
        ...(problem?.facts.next ?? []).map(({ command, when }) => `${command} — ${when}`),
      ],
      exitCode: () => (problem ? exitCodes.policy : 0),
    };
  },
});

const publishedLine = ({ by, at, number, signer }: SignedPolicy): string =>
  `published by ${by} on ${at}, as number ${number}, signed by ${signer}`;

interface Shown {
  readonly policy: Policy | undefined;
  readonly published?: SignedPolicy | undefined;
  /** Why this machine does not follow the published policy. */
  readonly problem?: ErrandError;
}

/**
 * Shows the published policy even if this machine has a different file, or does not trust the policy's signer. Either
 * of these blocks ordering.
 */
async function policyToShow(context: Context): Promise<Shown> {
  try {
    const policy = await loadPolicy(context);
    return { policy, published: (await examinePublished(context)).signed };
  } catch (error) {
    const { signed, problem } = await examinePublished(context);
    if (!(error instanceof ErrandError) || !signed) throw error;
    if (error.facts.code !== 'policy_differs' && error.facts.code !== problem?.facts.code) throw error;
    context.note(`warning: ${error.message}`);
    const policy = await readPublished(context, signed);
    return { policy, published: signed, ...(problem && { problem }) };
  }
}
