import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { loadPolicy } from '../../spending/policy/load.ts';

/**
 * Refuses to spend real money unless the server was started with `--live`. Checked on every call, because key and
 * profile may have changed.
 * @throws UsageError without `--live`. Nothing was sent in that case.
 */
export function checkLive(context: Context, isLive: boolean): void {
  if (isLive || context.isRehearsal()) return;
  const { profile, baseUrl } = context.settings;
  const names = shadowing(context);
  const unset =
    names.length === 0 ? '' : ` For the sandbox on this machine, unset ${names.join(' and ')} first.`;
  throw new UsageError(
    `the profile ${profile.value} (${baseUrl.value}) has no test key, and errand mcp was started without --live`,
    {
      code: 'live_not_allowed',
      outcome: 'not_sent',
      hint: `An agent rehearses in the sandbox unless whoever starts errand mcp allows real orders.${unset}`,
      next: [
        { command: 'errand mcp --profile local', when: 'to rehearse in the sandbox on this machine' },
        {
          command: `errand mcp --live${whereFlags(context)}`,
          when: 'for real orders, under a policy with a limit for a day',
        },
      ],
    },
  );
}

/** Environment variables that override the profile. */
const shadowing = ({ settings: { baseUrl, apiKey } }: Context): string[] =>
  [baseUrl, apiKey].flatMap((setting) => (setting?.from === 'environment' ? [setting.name] : []));

/**
 * Requires a daily limit for real orders. Checked before every order, because the policy may have changed.
 * @throws ErrandError policy for `--live` without such a limit. Nothing was sent in that case.
 */
export async function checkDayLimit(context: Context, isLive: boolean): Promise<void> {
  if (!isLive) return;
  const where = whereFlags(context);
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
