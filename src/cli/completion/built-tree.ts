import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from './tree.ts';

/**
 * The program's commands, from the file that the build wrote: the program itself, then each of its nouns and commands on a
 * line. Only those that the words may name are parsed: a TAB waits for it.
 */
export async function programTree(words: readonly string[]): Promise<Tree> {
  const [program = '', ...lines] = readFileSync(join(import.meta.dirname, 'commands.jsonl'), 'utf8').split(
    '\n',
  );
  const root: Tree = JSON.parse(program);
  const { children = [] } = root;
  const isNamed = ({ name, aliases = [] }: Tree): boolean =>
    [name, ...aliases].some((one) => words.includes(one));
  const needsAll = children.some((child) => child.mirrors && isNamed(child));
  return {
    ...root,
    children: children.map((child, index) =>
      needsAll || isNamed(child) ? JSON.parse(lines[index] ?? '') : child,
    ),
  };
}
