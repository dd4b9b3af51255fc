import { ownOpenText } from '../../../journal/own-open.ts';
import { owedLine, settlingCommands } from '../../../orders/owed.ts';
import { DamagedError } from '../../../platform/errors.ts';
import { anotherService } from '../../../run/context-flags.ts';
import { type Check, ok, trouble, troubleOf } from '../check.ts';

export const journal: Check = {
  name: 'journal',
  async run({ context }) {
    try {
      const opened = await context.journal();
      await opened.checkWhole();
      const own = await opened.openInOwn();
      if (own.length > 0)
        return trouble(
          `${ownOpenText(own)}; the shared database does not know of it`,
          '`errand order journal move` takes all of it into the database; until then nothing is ordered.',
        );
      const owed = opened.owed();
      const line = await owedLine(context, owed);
      if (line === undefined) return ok('the journal can be written, and no order is in doubt');
      const [first] = [...owed.inDoubt, ...owed.unreported];
      const [what = line] = line.split(';');
      const { commands } = await settlingCommands(context, owed);
      return trouble(
        `${what} (the first since ${first?.created_at})`,
        commands.length === 0
          ? `It names ${anotherService}: where you know that service, give its --base-url or profile to \`errand order journal resume --all\`.`
          : `${commands.join(' and ')}: exactly one order comes of each.`,
      );
    } catch (error) {
      const steps = error instanceof DamagedError ? (error.facts.next ?? []) : [];
      const repair = steps.find(({ command }) => command.endsWith(' journal repair'));
      return troubleOf(
        error,
        repair && `\`${repair.command}\` keeps what is intact, and sets the rest aside.`,
      );
    }
  },
};
