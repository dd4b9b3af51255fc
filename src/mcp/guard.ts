import type { Context } from '../context.ts';
import { ErrandError, UsageError } from '../errors.ts';
import { loadPolicy } from '../spending/policy/load.ts';
import { whereFlags } from '../where-flags.ts';

/**
 * Real money moves only where whoever started the server said so, and under a policy that limits a day. It is looked at
 * again with each call, since key, profile and policy may have changed meanwhile.
 * @throws UsageError without `--live`; ErrandError policy without such a limit. Nothing was sent.
 */
export async function checkLive(context: Context, isLive: boolean): Promise<void> {
  if (context.isRehearsal()) return;
  const where = whereFlags(context);
  const { profile, baseUrl } = context.settings;
  if (!isLive)
    throw new UsageError(
      `the profile ${profile.value} (${baseUrl.value}) has no test key, and errand mcp was started without --live`,
      {
        code: 'live_not_allowed',
        hint: 'An agent rehearses in the sandbox unless whoever starts errand mcp allows real orders.',
        next: [
          { command: 'errand mcp --profile local', when: 'to rehearse in the sandbox on this machine' },
          {
            command: `errand mcp --live${where}`,
            when: 'for real orders, under a policy with a limit for a day',
          },
        ],
      },
    );
  const policy = await loadPolicy(context);
  if (policy?.limits.some(({ kind, scope }) => kind === 'per_day' && scope === undefined)) return;
  const what = policy ? `${policy.file} has no limits.per_day for all orders` : 'there is no policy';
  throw new ErrandError('policy', `--live needs a policy that limits what a day may cost, and ${what}`, {
    code: 'policy_required',
    outcome: 'not_sent',
    retryable: false,
    hint: 'Without it an agent could spend all that is in the wallet.',
    next: policy
      ? [{ command: `errand policy show${where}`, when: 'to see what it limits' }]
      : [{ command: `errand policy init${where}`, when: 'to write one, and set limits.per_day in it' }],
  });
}
