import { type Check, type Finding, ok, trouble } from '../check.ts';
import { stuckIn } from '../stuck.ts';

/** Longer than this and a person waits, ms. */
const slowMs = 2000;

export const service: Check = {
  name: 'service',
  async run({ context, probe }) {
    const { settings } = context;
    const { value, name, from } = settings.baseUrl;
    const found = await probe();
    if (!found.reached) {
      const where = from === 'profile' || from === 'default' ? `profile ${settings.profile.value}` : name;
      return trouble(
        `${found.message} (the base URL is set by ${where})`,
        found.remedy ??
          'Look at the base URL, the network and the proxy; errand auth status shows what is set where.',
      );
    }
    const speed =
      found.tookMs <= slowMs
        ? ok(`${value} responds in ${found.tookMs} ms`)
        : trouble(
            `${value} is slow: it responded in ${(found.tookMs / 1000).toFixed(1)} s`,
            'Give it time with --timeout 60s, or look at the network and the proxy.',
          );
    const stuck = await stuckIn(context);
    return stuck.length === 0 ? speed : [speed, cannotGoOn(stuck)];
  },
};

const maxNamed = 3;

const cannotGoOn = (ids: readonly string[]): Finding => {
  const more = ids.length > maxNamed ? ` and ${ids.length - maxNamed} more` : '';
  return trouble(
    `the sandbox cannot bring ${ids.slice(0, maxNamed).join(', ')}${more} about: a newer errand may have written them`,
    'Update errand; they are tried again each hour of the sandbox (`errand sandbox advance 1h`).',
  );
};
