import type { ApprovalRequest } from '../../journal/approval-row.ts';
import { ErrandError, type NextStep } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Finding, Verdict, VerdictOutcome } from './policy.ts';

/** The approval that was requested, and existing approvals that do not cover the order. */
export interface RequestedApproval {
  readonly request: ApprovalRequest;
  readonly isDenied: boolean;
  /** Commands to run. */
  readonly approve: string;
  readonly show: string;
  /** Reasons such as `approval 1a2b… is for another address`. */
  readonly others: readonly string[];
}

/** The policy does not permit the orders. Nothing was sent. */
export class PolicyDenial extends ErrandError {
  override readonly name = 'PolicyRefusal';
  readonly verdict: Verdict;

  constructor(context: OrderContext, verdict: Verdict, requested?: RequestedApproval) {
    const isRefused = verdict.outcome === 'refused';
    const what = verdict.orders === 1 ? 'this order' : 'these orders';
    const headline = isRefused ? `the policy refuses ${what}` : `the policy requires approval for ${what}`;
    const others = othersOf(requested)
      .map((other) => `; ${other}`)
      .join('');
    super('policy', `${headline}: ${reasons(verdict)}; nothing was sent${others}`, {
      code: isRefused ? 'policy_refused' : 'approval_required',
      outcome: 'not_sent',
      retryable: false,
      details: {
        policy: { ...verdict, rows: verdict.rows.slice(0, maxRows) },
        ...(requested && { approval: shownRequest(requested.request) }),
      },
      hint: hintOf(context, verdict, requested),
      next: [...(requested ? approvalSteps(context, requested) : []), ...policySteps(context, verdict)],
    });
    this.verdict = verdict;
  }
}

/** Maximum number of table rows that an error lists individually. */
const maxRows = 100;

/** The findings because of which the orders are not allowed. */
export const against = ({ outcome, rules }: Verdict): readonly Finding[] =>
  rules.filter((finding) => finding.outcome === outcome);

/** Reasons such as `limits.per_day: it takes …`, or `row 17, limits.per_day: …` for an upload. */
const reasons = (verdict: Verdict): string => against(verdict).map(findingText).join('; ');

export const findingText = ({ rule, applies_to: part, row, message }: Finding): string =>
  `${row === null ? '' : `row ${row}, `}${rule}${part === null ? '' : ` (${part})`}: ${message}`;

function hintOf({ argv }: OrderContext, verdict: Verdict, requested: RequestedApproval | undefined): string {
  const [first] = against(verdict);
  const where = `See ${verdict.policy}, line ${first?.line ?? 1}.`;
  if (!requested) return where;
  const { id, expires_at: until, override } = requested.request;
  if (requested.isDenied)
    return `${where} It will not be requested again before ${until}, but an approver can still approve it.`;
  const what = override === null ? `Approval ${id}` : `Approval ${id}, which overrules the policy,`;
  return `${where} ${what} was requested and is valid until ${until}. Once it is approved, ${argv ? 'run the same command again' : 'place the same order again, with the same key if you gave it one'}.`;
}

const othersOf = (requested: RequestedApproval | undefined): readonly string[] =>
  requested?.isDenied
    ? [`approval ${requested.request.id} was denied`, ...requested.others]
    : (requested?.others ?? []);

const shownRequest = ({ id, subject, total_cents, override, expires_at }: ApprovalRequest) => ({
  id,
  subject,
  total_cents,
  override,
  expires_at,
});

const approvalSteps = (context: OrderContext, { approve, show }: RequestedApproval): NextStep[] => [
  { command: show, when: 'to see what is to be approved' },
  { command: approve, when: 'for whoever may approve it' },
  ...(context.argv ? [{ command: typedCommand(context.argv), when: 'once it is approved' }] : []),
];

function policySteps(context: OrderContext, verdict: Verdict): NextStep[] {
  const where = whereFlags(context);
  const isPeriod = against(verdict).some(({ period }) => period !== null);
  return [
    ...(isPeriod
      ? [{ command: `errand policy usage${where}`, when: 'to see what each limit has left, and until when' }]
      : []),
    { command: `errand policy show${where}`, when: 'to see every rule' },
  ];
}

export const outcomeWords: Readonly<Record<VerdictOutcome, string>> = {
  allowed: 'allowed',
  warned: 'allowed, with a warning',
  needs_approval: 'needs an approval',
  refused: 'refused',
};

/** Maximum number of findings printed individually. */
const maxReported = 5;

/**
 * Formats a verdict, such as `policy: allowed; limits.per_day: $49.00 of $100.00 left for 2026-11-22`. The findings
 * that are not allowed follow. Pure.
 * @param isAsked tells whether the approval was already requested. Another line reports that.
 */
export function verdictLines({ outcome, rules, rows, approval }: Verdict, isAsked = false): string[] {
  const word = outcomeWords[outcome];
  if (outcome === 'allowed') {
    const left = rules.filter(({ period }) => period !== null).map(findingText);
    const approved = approval ? [`approved as ${approval.id}`] : [];
    return [`policy: ${[word, ...approved, ...left].join('; ')}`];
  }
  const reported = rows
    .slice(0, maxReported)
    .map((finding) => `policy: ${outcomeWords[finding.outcome]}: ${findingText(finding)}`);
  const more = rows.length - reported.length;
  return [
    ...reported,
    ...(more > 0 ? [`policy: … and ${more} more`] : []),
    ...(outcome === 'needs_approval' && !isAsked ? [`policy: ${approvalLine(approval)}`] : []),
  ];
}

/** How to proceed if an approval is needed. Pure. */
export const approvalLine = (approval: Verdict['approval']): string =>
  approval
    ? `approval ${approval.id} waits for a decision: errand approval show ${approval.id}`
    : 'placing it asks for an approval, which errand approval list then shows';
