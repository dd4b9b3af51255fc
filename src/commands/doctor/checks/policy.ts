import { loadPolicy } from '../../../spending/policy/load.ts';
import { type Check, info, ok, troubleOf } from '../check.ts';

export const policy: Check = {
  name: 'policy',
  async run({ context }) {
    try {
      const found = await loadPolicy(context);
      return found
        ? ok(`orders are held to ${found.file}`)
        : info('no policy, so spending is not limited; `errand policy init` writes one');
    } catch (error) {
      return troubleOf(error);
    }
  },
};
