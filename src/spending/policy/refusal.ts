import type { Context } from '../../context.ts';
import { ErrandError, type NextStep } from '../../errors.ts';
import { whereFlags } from '../../where-flags.ts';
import type { Finding, Verdict } from './verdict.ts';

/** The policy does not let orders through. Nothing was sent. */
export class PolicyRefusal extends ErrandError {
  override readonly name = 'PolicyRefusal';
  readonly verdict: Verdict;

  constructor(context: Context, verdict: Verdict) {
    const isRefused = verdict.outcome === 'refused';
    const what = verdict.orders === 1 ? 'this order' : 'these orders';
    const said = isRefused ? `the policy refuses ${what}` : `the policy wants an approval of ${what}`;
    super('policy', `${said}: ${reasons(verdict)}; nothing was sent`, {
      code: isRefused ? 'policy_refused' : 'approval_required',
      outcome: 'not_sent',
      retryable: false,
      details: { policy: { ...verdict, rows: verdict.rows.slice(0, mostRows) } },
      hint: hintOf(verdict),
      next: nextSteps(context, verdict),
    });
    this.verdict = verdict;
  }
}

/** Rows of a table that an error names one by one. */
const mostRows = 100;

/** The rules that stand in the way. */
export const against = ({ outcome, rules }: Verdict): readonly Finding[] =>
  rules.filter((finding) => finding.outcome === outcome);

/** `limits.per_day: it takes …`, or of an upload `row 17, limits.per_day: …`. */
const reasons = (verdict: Verdict): string => against(verdict).map(findingText).join('; ');

export const findingText = ({ rule, applies_to: part, row, message }: Finding): string =>
  `${row === null ? '' : `row ${row}, `}${rule}${part === null ? '' : ` (${part})`}: ${message}`;

function hintOf(verdict: Verdict): string {
  const [first] = against(verdict);
  const where = `It says so in ${verdict.policy}, line ${first?.line ?? 1}.`;
  return verdict.outcome === 'refused'
    ? where
    : `${where} A person at a terminal may overrule it with --override-policy 'reason', unless it says overrides: never.`;
}

function nextSteps(context: Context, verdict: Verdict): NextStep[] {
  const where = whereFlags(context);
  const isPeriod = against(verdict).some(({ period }) => period !== null);
  return [
    ...(isPeriod
      ? [{ command: `errand policy usage${where}`, when: 'to see what each limit has left, and until when' }]
      : []),
    { command: `errand policy show${where}`, when: 'to see every rule' },
  ];
}
