import type { RootCommand, RootNoun } from '../../src/cli/define.ts';
import { entries } from '../../src/program.ts';

export interface Known {
  /** As it is typed, without `errand`. */
  readonly path: string;
  readonly command: RootCommand;
}

function commandsOf(path: string, part: RootCommand | RootNoun): Known[] {
  if (!('verbs' in part)) return [{ path, command: part }];
  return part.verbs.flatMap((verb) => commandsOf(`${path} ${verb.name}`, verb));
}

/** Every command of the program, in the order of the help. */
export async function knownCommands(): Promise<Known[]> {
  const loaded = await Promise.all(entries.map(async (entry) => ({ entry, part: await entry.load() })));
  return loaded.flatMap(({ entry, part }) =>
    commandsOf(entry.name, 'noun' in part ? part.noun : part.command),
  );
}
