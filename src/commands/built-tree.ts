import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from '../cli/completion/tree.ts';

/**
 * Reads the command tree from files that the build has written: one file for the program, with a stub for each noun,
 * and one file per noun. Loads only the nouns that `words` may name, to keep TAB completion fast.
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
