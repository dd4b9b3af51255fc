import { keyMode, maskKey } from '../../../config/keys.ts';
import { embeddedUrl, localProfile } from '../../../config/stored.ts';
import { ErrandError } from '../../../platform/errors.ts';
import { type Check, type Finding, ok, skipped, trouble, troubleOf } from '../check.ts';

const howToGet =
  'errand auth login, or store one: errand auth token < key.txt; for rehearsals: errand sandbox mint';

export const key: Check = {
  name: 'key',
  async run({ context, probe }) {
    const { apiKey, baseUrl, profile, shadowedKey } = context.settings;
    if (!apiKey) {
      const isLocal = profile.value === localProfile && baseUrl.value === embeddedUrl;
      return isLocal
        ? ok('none yet; the sandbox mints one when it is first needed')
        : trouble(`there is no key for ${baseUrl.value}`, howToGet);
    }
    const name = `${maskKey(apiKey.value)} from ${apiKey.from === 'profile' ? `profile ${apiKey.name}` : apiKey.name}`;
    const hidden: Finding[] = shadowedKey
      ? [
          trouble(
            `${apiKey.name} hides the key ${maskKey(shadowedKey)} that is stored for profile ${profile.value}`,
            `Unset ${apiKey.name} to use the stored one.`,
          ),
        ]
      : [];
    if (!(await probe()).reached)
      return [skipped(`${name}: the service cannot be reached, so it is not checked`), ...hidden];
    try {
      await (await context.client()).call('wallet.get', {});
      return [
        ok(`key accepted: ${name}${keyMode(apiKey.value) === 'live' ? '; it spends money' : ''}`),
        ...hidden,
      ];
    } catch (error) {
      const isRefused = error instanceof ErrandError && error.category === 'authentication';
      const found = isRefused
        ? trouble(`the service refuses ${name}: ${error.message}`, howToGet)
        : troubleOf(error);
      return [found, ...hidden];
    }
  },
};
