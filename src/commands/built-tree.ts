import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from '../cli/completion/tree.ts';

/**
 * The program's commands, from the files that the build wrote: the program with the heads of its nouns, and one for each
 * noun. Only those that the words may name are read: a TAB waits for it.
 */
export async function programTree(words: readonly string[]): Promise<Tree> {
  const root = read('errand');
  const { children = [] } = root;
  const isNamed = ({ name, aliases = [] }: Tree): boolean =>
    [name, ...aliases].some((one) => words.includes(one));
  const needsAll = children.some((child) => child.mirrors && isNamed(child));
  return {
    ...root,
    children: children.map((child) => (needsAll || isNamed(child) ? read(child.name) : child)),
  };
}

const read = (name: string): Tree =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'commands', `${name}.json`), 'utf8'));
