import type { Command as Commander } from 'commander';
import { UsageError } from '../../errors.ts';
import { paintFor } from '../../output/paint.ts';
import { layOutPage, layOutTopic } from './layout.ts';
import { type HelpSection, pageOf } from './page.ts';

/** The stream that help is written to. */
export interface HelpTarget {
  /** Columns. */
  readonly width: number;
  readonly color: boolean;
}

/** The help of a mounted command. */
export async function commandHelp(mounted: Commander, { width, color }: HelpTarget): Promise<string> {
  return layOutPage(pageOf(mounted), { width, paint: await paintFor(color) });
}

/**
 * The help of what `errand help WORDS` names.
 * @throws UsageError where there is neither such a command nor such a topic.
 */
export async function namedHelp(
  root: Commander,
  words: readonly string[],
  target: HelpTarget,
): Promise<string> {
  const { topics } = await import('./topics.ts');
  const [first = '', ...more] = words;
  const topic: HelpSection | undefined =
    more.length === 0 && Object.hasOwn(topics, first) ? topics[first] : undefined;
  if (topic) return layOutTopic(topic, { ...target, paint: await paintFor(target.color) });
  let found = root;
  for (const word of words) {
    const next = found.commands.find((command) => [command.name(), ...command.aliases()].includes(word));
    if (!next)
      throw new UsageError(
        `no command or topic "${words.join(' ')}"; topics: ${Object.keys(topics).join(', ')}`,
      );
    found = next;
  }
  return commandHelp(found, target);
}
