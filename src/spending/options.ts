import { readAmount } from '../api/amount.ts';
import type { ApprovablePlan } from './approval/subject.ts';

/** What every command takes that places orders. */
export const policyOptions = {
  approval: {
    kind: 'text',
    placeholder: 'file',
    completes: 'files',
    description: 'a signed approval that `approval export` wrote elsewhere',
  },
  waitApproval: {
    kind: 'duration',
    placeholder: 'duration',
    description: 'where an approval is needed, wait for it this long: 1h',
  },
  overridePolicy: {
    kind: 'text',
    placeholder: 'reason',
    minLength: 1,
    maxLength: 500,
    description:
      'place it though the policy refuses; the reason is kept in the audit log; at a terminal, or signed by an approver',
  },
} as const;

/** What orders may stand on that a policy does not simply allow. */
export interface Consent {
  /** Why the policy is overruled, where somebody wants that. */
  readonly overridePolicy?: string | undefined;
  /** A file with an approval. */
  readonly approval?: string | undefined;
  /** How long an approval is waited for, ms; without it nobody waits. */
  readonly waitApproval?: number | undefined;
  /** The plan that the orders are a part of: it is approved as a whole. */
  readonly plan?: ApprovablePlan | undefined;
}

/** Those of a command's options. */
export const consentOf = ({ overridePolicy, approval, waitApproval }: Consent): Consent => ({
  overridePolicy,
  approval,
  waitApproval,
});

/** What exit code 11 means for each of them. */
export const policyExit = 'the policy refuses it, or wants an approval; nothing was sent';

/** Whether somebody has typed an amount that was shown to them, with or without its sign. */
export function isAmount(typed: string, cents: number): boolean {
  const read = readAmount(typed);
  return read.problem === undefined && read.cents === cents;
}
