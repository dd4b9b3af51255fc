import { contractVersion } from '../../../api/version.ts';
import { type Check, info, ok, skipped, trouble } from '../check.ts';

export const contract: Check = {
  name: 'contract',
  async run({ probe }) {
    const found = await probe();
    if (!found.reached) return skipped('the service cannot be reached, so its description is unknown');
    if (found.version === undefined) return info('the service gives no description of itself');
    if (found.version === contractVersion)
      return ok(`the service is of version ${contractVersion}, as errand knows it`);
    return trouble(
      `the service is of version ${found.version}; errand knows ${contractVersion}`,
      'errand schema diff lists what differs; update errand where it is the older one.',
    );
  },
};
