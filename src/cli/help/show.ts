import type { Command as Commander } from 'commander';
import { UsageError } from '../../platform/errors.ts';
import { isNear } from '../../platform/near-words.ts';
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
    if (!next) throw unknownWord(words, word, [...namesOf(found), ...Object.keys(topics)], found === root);
    found = next;
  }
  return commandHelp(found, io);
}

const namesOf = (command: Commander): string[] =>
  command.commands.flatMap((one) => [one.name(), ...one.aliases()]);

function unknownWord(
  words: readonly string[],
  word: string,
  known: readonly string[],
  isFirst: boolean,
): UsageError {
  const near = known.filter((one) => isNear(word, one));
  const before = words.slice(0, words.indexOf(word));
  const lines = near.map((one) => ['errand help', ...before, one].join(' '));
  if (lines.length > 0)
    return new UsageError(
      `no command or topic "${words.join(' ')}" (Did you mean ${lines.length > 1 ? 'one of ' : ''}${lines.join(', ')}?)`,
    );
  const listed = isFirst
    ? '`errand --help` lists the commands, and the topics below them'
    : `\`errand ${before.join(' ')} --help\` lists the commands`;
  return new UsageError(`no command or topic "${words.join(' ')}"`, { hint: `${listed}.` });
}
