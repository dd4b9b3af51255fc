import { type Check, ok, trouble } from '../check.ts';

/** Longer than this and a person waits, ms. */
const slowMs = 2000;

export const service: Check = {
  name: 'service',
  async run({ context: { settings }, probe }) {
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
    if (found.tookMs <= slowMs) return ok(`${value} responds in ${found.tookMs} ms`);
    return trouble(
      `${value} is slow: it responded in ${(found.tookMs / 1000).toFixed(1)} s`,
      'Give it time with --timeout 60s, or look at the network and the proxy.',
    );
  },
};
