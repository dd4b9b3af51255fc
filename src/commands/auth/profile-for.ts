import type { Profile } from '../../config/stored.ts';
import { type NextStep, UsageError } from '../../platform/errors.ts';
import { shellLine, typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';

/**
 * Returns the active profile, in which a key is to be stored. Refuses if the run has selected a service other than the
 * profile's, because the key for that service would later be sent to the profile's service.
 * @param then is the command that stores the key for the selected service.
 * @throws UsageError.
 */
export function profileFor({ settings }: Context, saved: Profile | undefined, then: NextStep): Profile {
  const { profile, baseUrl } = settings;
  if (!saved) throw new UsageError(`there is no profile "${profile.value}"`);
  if (baseUrl.from === 'profile' || baseUrl.from === 'default' || baseUrl.value === saved.base_url)
    return saved;
  throw new UsageError(
    `${baseUrl.name} names another service than profile ${profile.value}, where the key would be stored`,
    {
      next: [
        {
          command: shellLine`errand profile set NAME --base-url ${baseUrl.value}`,
          when: 'to make a profile for it',
        },
        then,
      ],
    },
  );
}

/** Option of every command that stores a key. */
export const replaceOption = {
  replace: { kind: 'flag', description: 'in place of the one in use, which is forgotten' },
} as const;

/**
 * Asks for confirmation before stored secrets are deleted.
 * @param before lists these secrets of the profile, masked.
 * @throws UsageError if nobody agrees. Nothing is stored in that case.
 */
export async function agreeToReplace(
  context: Context,
  before: readonly string[],
  replace: boolean,
): Promise<void> {
  if (before.length === 0 || replace) return;
  const { value: profile } = context.settings.profile;
  const secrets = before.join(' and ');
  const question = `Replace ${secrets} of profile ${profile}?`;
  if (context.interactive.yes && (await (await context.prompt()).confirm(context, question))) return;
  throw new UsageError(`profile ${profile} has ${secrets} already; nothing was stored`, {
    next: [{ command: typedCommand([...context.argv, '--replace']), when: 'to store another in its place' }],
  });
}
