import { ErrandError, type ErrorFacts } from '../../platform/errors.ts';
import type { Verdict } from '../../spending/policy/policy.ts';

/** The policy does not let an order through: nothing was sent. */
export class PolicyError extends ErrandError {
  override readonly name = 'PolicyError';
  /** Every rule that was looked at, and what it says. */
  readonly verdict: Verdict;
  /**
   * The id of the approval that was asked for, where a person may still say yes: `facts.next` has the command. Once it is
   * approved the same call, with the same key, goes through. No program can approve.
   */
  readonly approval: string | undefined;

  constructor(message: string, facts: ErrorFacts, verdict: Verdict, approval: string | undefined) {
    super('policy', message, facts);
    this.verdict = verdict;
    this.approval = approval;
  }
}
