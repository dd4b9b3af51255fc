import type { Operation } from '../../src/api/operation.ts';
import { operations } from '../../src/api/operations/index.ts';
import type { RootCommand, RootNoun } from '../../src/cli/define.ts';
import { entries } from '../../src/commands/program.ts';

export interface Known {
  /** As it is typed, without `errand`. */
  readonly path: string;
  readonly command: RootCommand;
}

function commandsOf(path: string, part: RootCommand | RootNoun): Known[] {
  if (!('verbs' in part)) return [{ path, command: part }];
  return part.verbs.flatMap((verb) => commandsOf(`${path} ${verb.name}`, verb));
}

/** All commands of the program, in help order. */
export async function knownCommands(): Promise<Known[]> {
  const loaded = await Promise.all(entries.map(async (entry) => ({ entry, part: await entry.load() })));
  return loaded.flatMap(({ entry, part }) =>
    commandsOf(entry.name, 'noun' in part ? part.noun : part.command),
  );
}

/** Commands that list the rows of a single operation and need no arguments. */
export async function listCommands(): Promise<string[]> {
  return (await knownCommands()).filter(({ command }) => isList(command)).map(({ path }) => path);
}

function isList({ operations: names = [], arguments: args = [] }: RootCommand): boolean {
  const [name, ...more] = names;
  if (name === undefined || more.length > 0 || args.some(({ required }) => required)) return false;
  const { method, response, query = {} }: Operation = operations[name];
  const lists = method === 'GET' && response.type === 'json' && response.rows !== undefined;
  return lists && !Object.values(query).some(({ required }) => required);
}
