import { findingText } from './refusal.ts';
import type { Verdict, VerdictOutcome } from './verdict.ts';

export const outcomeWords: Readonly<Record<VerdictOutcome, string>> = {
  allowed: 'allowed',
  warned: 'allowed, with a warning',
  needs_approval: 'needs an approval',
  refused: 'refused',
};

/** Most findings that are told one by one. */
const mostTold = 5;

/** `policy: allowed; limits.per_day: $49.00 of $100.00 left for 2026-11-22`, then what is not allowed. Pure. */
export function verdictLines({ outcome, rules, rows }: Verdict): string[] {
  const word = outcomeWords[outcome];
  if (outcome === 'allowed') {
    const left = rules.filter(({ period }) => period !== null).map(findingText);
    return [`policy: ${[word, ...left].join('; ')}`];
  }
  const told = rows
    .slice(0, mostTold)
    .map((finding) => `policy: ${outcomeWords[finding.outcome]}: ${findingText(finding)}`);
  const more = rows.length - told.length;
  return more > 0 ? [...told, `policy: … and ${more} more`] : told;
}
