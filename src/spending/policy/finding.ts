/** From the best to the worst. */
export const outcomes = ['allowed', 'warned', 'needs_approval', 'refused'] as const;
export type VerdictOutcome = (typeof outcomes)[number];

/** What one rule says, in fields as they are shown. Amounts in cents. */
export interface Finding {
  readonly rule: string;
  readonly line: number;
  /** The part of the orders that the rule is about; null for all of them. */
  readonly applies_to: string | null;
  readonly outcome: VerdictOutcome;
  readonly message: string;
  readonly limit_cents: number | null;
  /** Used before this. */
  readonly used_cents: number | null;
  /** What is left for others: after this where it is allowed, else before it. */
  readonly left_cents: number | null;
  /** `2026-11-22` or `2026-11` in the policy's time zone. */
  readonly period: string | null;
  /** When the period ends, ISO 8601. */
  readonly resets_at: string | null;
  /** The row of a table that it is about; null for a single order, and for a table as a whole. */
  readonly row: number | null;
}

/** What a policy says of orders that are meant. */
export interface Verdict {
  readonly outcome: VerdictOutcome;
  readonly policy: string;
  readonly orders: number;
  /** Ceilings and fees together. */
  readonly amount_cents: number;
  /** One for each rule that had to be looked at, the worst first. */
  readonly rules: readonly Finding[];
  /** Everything that is not allowed, row by row. */
  readonly rows: readonly Finding[];
  /** Of what needs an approval: the one that covers it, or the request that waits for a decision. */
  readonly approval?: { readonly id: string; readonly state: 'open' | 'approved' };
}
