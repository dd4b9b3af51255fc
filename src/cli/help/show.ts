import type { Command as Commander } from 'commander';
import { UsageError } from '../../platform/errors.ts';
import type { Io } from '../../platform/streams.ts';
import { layOutPage, layOutTopic, styleOf } from './layout.ts';
import { type HelpSection, pageOf } from './page.ts';

/** Renders the help of a mounted command. */
export async function commandHelp(mounted: Commander, io: Io): Promise<string> {
  return layOutPage(pageOf(mounted), await styleOf(io));
}

/**
 * Renders the help for `errand help WORDS`.
 * @throws UsageError if there is no such command or topic.
 */
export async function namedHelp(root: Commander, words: readonly string[], io: Io): Promise<string> {
  const { topics } = await import('./topics.ts');
  const [first = '', ...more] = words;
  const topic: HelpSection | undefined =
    more.length === 0 && Object.hasOwn(topics, first) ? topics[first] : undefined;
  if (topic) return layOutTopic(topic, await styleOf(io));
  let found = root;
  for (const word of words) {
    const next = found.commands.find((command) => [command.name(), ...command.aliases()].includes(word));
    if (!next)
      throw new UsageError(
        `no command or topic "${words.join(' ')}"; topics: ${Object.keys(topics).join(', ')}`,
      );
    found = next;
  }
  return commandHelp(found, io);
}
