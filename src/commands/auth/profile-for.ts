import type { Profile } from '../../config/stored.ts';
import { type NextStep, UsageError } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell-word.ts';
import type { Context } from '../../run/context.ts';

/**
 * The profile in use, for what is stored in it: a key of one service in the profile of another would be sent there.
 * @param then what stores it for the service that is named. @throws UsageError.
 */
export function profileFor({ settings }: Context, kept: Profile | undefined, then: NextStep): Profile {
  const { profile, baseUrl } = settings;
  if (!kept) throw new UsageError(`there is no profile "${profile.value}"`);
  if (baseUrl.from === 'profile' || baseUrl.from === 'default' || baseUrl.value === kept.base_url)
    return kept;
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
