import type { Context } from '../../run/context.ts';

/** The message for the case that there is no policy. */
export const noPolicy = ({ settings }: Pick<Context, 'settings'>): string =>
  `there is no policy, so spending is not limited; \`errand policy init\` writes ${settings.policy.value}`;
