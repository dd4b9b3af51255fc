import type { Verdict, VerdictOutcome } from './policy.ts';
import { findingText } from './refusal.ts';

export const outcomeWords: Readonly<Record<VerdictOutcome, string>> = {
  allowed: 'allowed',
  warned: 'allowed, with a warning',
  needs_approval: 'needs an approval',
  refused: 'refused',
};

/** Most findings that are told one by one. */
const mostTold = 5;

/** `policy: allowed; limits.per_day: $49.00 of $100.00 left for 2026-11-22`, then what is not allowed. Pure. */
export function verdictLines({ outcome, rules, rows, approval }: Verdict): string[] {
  const word = outcomeWords[outcome];
  if (outcome === 'allowed') {
    const left = rules.filter(({ period }) => period !== null).map(findingText);
    const approved = approval ? [`approved as ${approval.id}`] : [];
    return [`policy: ${[word, ...approved, ...left].join('; ')}`];
  }
  const told = rows
    .slice(0, mostTold)
    .map((finding) => `policy: ${outcomeWords[finding.outcome]}: ${findingText(finding)}`);
  const more = rows.length - told.length;
  return [
    ...told,
    ...(more > 0 ? [`policy: … and ${more} more`] : []),
    ...(outcome === 'needs_approval' ? [`policy: ${approvalLine(approval)}`] : []),
  ];
}

/** How to go on where an approval is needed. Pure. */
export const approvalLine = (approval: Verdict['approval']): string =>
  approval
    ? `approval ${approval.id} waits for a decision: errand approval show ${approval.id}`
    : 'placing it asks for an approval, which errand approval list then shows';
