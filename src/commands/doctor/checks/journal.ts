import { owedLine, settlingCommands } from '../../../orders/owed.ts';
import { type Check, ok, trouble, troubleOf } from '../check.ts';

export const journal: Check = {
  name: 'journal',
  async run({ context }) {
    try {
      const owed = (await context.journal()).owed();
      const line = await owedLine(context, owed);
      if (line === undefined) return ok('the journal can be written, and no order is in doubt');
      const [first] = [...owed.inDoubt, ...owed.unreported];
      const [what = line] = line.split(';');
      return trouble(
        `${what} (the first since ${first?.created_at})`,
        `${(await settlingCommands(context, owed)).join(' and ')}: exactly one order comes of each.`,
      );
    } catch (error) {
      return troubleOf(error);
    }
  },
};
