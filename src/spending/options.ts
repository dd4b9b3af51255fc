import { readAmount } from '../api/amount.ts';
import type { ApprovablePlan } from './approval/subject.ts';

/** Options of all commands that place orders. */
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

/** The option that names an SSH key to sign with. */
export const signingKey = {
  kind: 'text',
  placeholder: 'file',
  completes: 'files',
  description: 'private key to sign with, or the .pub file of one that an agent holds',
} as const;

/** What the user contributes to orders that the policy alone does not allow. */
export interface Consent {
  /** Reason for overriding the policy, if the user wants to override it. */
  readonly overridePolicy?: string | undefined;
  /** Path of a file with an approval. */
  readonly approval?: string | undefined;
  /** How long to wait for an approval, in ms. By default, the command does not wait. */
  readonly waitApproval?: number | undefined;
  /** The plan to which the orders belong. A plan is approved as a whole. */
  readonly plan?: ApprovablePlan | undefined;
}

/** Extracts the consent from a command's options. */
export const consentOf = ({ overridePolicy, approval, waitApproval }: Consent): Consent => ({
  overridePolicy,
  approval,
  waitApproval,
});

/** Exit code 130 of commands that ask before they order. */
export const declinedExit = 'a question was answered with no, and nothing was ordered; or Ctrl-C';

/** What exit code 11 means for these commands. */
export const policyExit = 'the policy refuses it, or wants an approval; nothing was sent';

/** Whether the user has typed the amount shown to them, with or without the currency sign. */
export function isAmount(typed: string, cents: number): boolean {
  const read = readAmount(typed);
  return read.problem === undefined && read.cents === cents;
}
