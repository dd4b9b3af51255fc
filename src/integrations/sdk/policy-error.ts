import { ErrandError, type ErrorFacts } from '../../platform/errors.ts';
import type { Verdict } from '../../spending/policy/policy.ts';

/** The policy blocked the order, so nothing was sent. */
export class PolicyError extends ErrandError {
  override readonly name = 'PolicyError';
  /** All rules that were checked, each with its result. */
  readonly verdict: Verdict;
  /**
   * Id of the approval that was requested, if a person may still approve the order; `facts.next` has the command. Once
   * the order is approved, the same call succeeds. No program can approve it.
   */
  readonly approval: string | undefined;

  constructor(message: string, facts: ErrorFacts, verdict: Verdict, approval: string | undefined) {
    super('policy', message, facts);
    this.verdict = verdict;
    this.approval = approval;
  }
}
