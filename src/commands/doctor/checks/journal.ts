import { type Check, ok, trouble, troubleOf } from '../check.ts';

export const journal: Check = {
  name: 'journal',
  async run({ context }) {
    try {
      const opened = await context.journal();
      const count = opened.countInDoubt();
      if (count === 0) return ok('the journal can be written, and no order is in doubt');
      const [first] = opened.list();
      const what =
        count === 1 ? `an order is in doubt since ${first?.created_at}` : `${count} orders are in doubt`;
      return trouble(
        `${what}: it was sent and no answer came`,
        'errand order journal resume --all settles it; exactly one order comes of each.',
      );
    } catch (error) {
      return troubleOf(error);
    }
  },
};
