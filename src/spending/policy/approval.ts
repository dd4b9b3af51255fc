import type { Context } from '../../context.ts';
import { PolicyRefusal } from './refusal.ts';
import type { Verdict } from './verdict.ts';

/**
 * Lets orders through that a person has approved, within the transaction that reserves for them. Nothing can be approved
 * yet, so that none is let through. @throws PolicyRefusal.
 */
export function requireApproval(context: Context, verdict: Verdict): void {
  throw new PolicyRefusal(context, verdict);
}
