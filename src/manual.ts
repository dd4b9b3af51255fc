import type { Command as Commander } from 'commander';
import { type ManReference, manName, manPage, topicPage } from './cli/help/man-page.ts';
import { pageOf } from './cli/help/page.ts';
import { topics } from './cli/help/topics.ts';
import { describedProgram } from './commands/program.ts';

/** All man pages, keyed by file name. They are generated from the command definitions, and the build writes them. */
export async function manual(version: string): Promise<ReadonlyMap<string, string>> {
  const ofTopics = Object.keys(topics).map((name): ManReference => ({ name: `errand-${name}`, section: 7 }));
  const pages = commandsOf(await describedProgram()).map((command) => {
    const page = pageOf(command);
    const below = ownCommands(command).map(
      (one): ManReference => ({ name: manName(`${page.name} ${one.name()}`), section: 1 }),
    );
    const children = command.parent ? below : [...below, ...ofTopics];
    return [`${manName(page.name)}.1`, manPage(page, version, children)] as const;
  });
  const others = Object.entries(topics).map(
    ([name, topic]) => [`errand-${name}.7`, topicPage(name, topic, version)] as const,
  );
  return new Map([...pages, ...others]);
}

/** Skip the `help` subcommands, which need no page of their own. */
const ownCommands = (command: Commander): Commander[] =>
  command.commands.filter((one) => one.name() !== 'help');

const commandsOf = (command: Commander): Commander[] => [
  command,
  ...ownCommands(command).flatMap(commandsOf),
];
