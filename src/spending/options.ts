/** What every command takes that places orders. */
export const policyOptions = {
  overridePolicy: {
    kind: 'text',
    placeholder: 'reason',
    minLength: 1,
    maxLength: 500,
    description: 'at a terminal: place it though the policy refuses, and keep why',
  },
} as const;

/** What exit code 11 means for each of them. */
export const policyExit = 'the policy refuses it, or wants an approval; nothing was sent';
