import type { Tree, TreeOption } from './tree.ts';

/** Where a command line stands before its last word. */
export interface Cursor {
  readonly root: Tree;
  /** The command that the words name; undefined where they name none. */
  readonly node: Tree | undefined;
  /** Positional words after the command. */
  readonly given: readonly string[];
  /** The option whose value comes next. */
  readonly pending: TreeOption | undefined;
  /** Whether `--` has ended the options. */
  readonly ended: boolean;
  /** Options that stand, with their values where they take one. */
  readonly chosen: ReadonlyMap<TreeOption, string | undefined>;
}

/** Reads the words before the one that is completed. Pure; an unknown word never throws. */
export function readLine(root: Tree, words: readonly string[]): Cursor {
  let node: Tree | undefined = root;
  let pending: TreeOption | undefined;
  let ended = false;
  let given: string[] = [];
  const chosen = new Map<TreeOption, string | undefined>();
  for (const word of words) {
    if (pending) {
      chosen.set(pending, word);
      pending = undefined;
    } else if (!ended && word === '--') {
      ended = true;
    } else if (!ended && word.startsWith('-') && word !== '-') {
      const { option, value } = splitFlag(root, node, word);
      if (option) chosen.set(option, value);
      if (option?.takes && value === undefined) pending = option;
    } else {
      ({ node, given } = step(root, node, given, word));
    }
  }
  return { root, node, given, pending, ended, chosen };
}

/** What one more positional word leads to. */
function step(root: Tree, node: Tree | undefined, given: readonly string[], word: string) {
  const child = given.length === 0 ? childOf(node, word) : undefined;
  if (child) return { node: child.mirrors ? mirror(root, child) : child, given: [] };
  if (!node?.children) return { node, given: [...given, word] };
  const fallback = node.fallback === undefined ? undefined : childOf(node, node.fallback);
  return { node: fallback, given: [word] };
}

/** The whole program under a word that takes the name of any command, and nothing of what those take. */
const mirror = (root: Tree, { name, text, options = [], children = [], isDotted }: Tree): Tree => ({
  name,
  text,
  options,
  ...(isDotted && { isDotted }),
  children: [
    // What prints pages alone has no output of its own.
    ...(root.children ?? []).filter((one) => !isDotted || !one.mirrors).map(bare),
    ...children.map(bare),
  ],
});

const bare = ({ name, text, aliases = [], children = [] }: Tree): Tree => ({
  name,
  text,
  aliases,
  children: children.map(bare),
});

const childOf = (node: Tree | undefined, word: string): Tree | undefined =>
  node?.children?.find(({ name, aliases }) => name === word || aliases?.includes(word));

/** Every option that may stand at a cursor: the command's own, then the program's. */
export const optionsAt = (root: Tree, node: Tree | undefined): readonly TreeOption[] =>
  node && node !== root ? [...(node.options ?? []), ...(root.options ?? [])] : (root.options ?? []);

/** A word that begins with a dash: its option, and its value where it carries one (`--flag=value`, `-ovalue`). */
export function splitFlag(
  root: Tree,
  node: Tree | undefined,
  word: string,
): { readonly option: TreeOption | undefined; readonly before: string; readonly value: string | undefined } {
  const find = (flag: string) => optionsAt(root, node).find(({ flags }) => flags.includes(flag));
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  if (equals > 0) {
    return {
      option: find(word.slice(0, equals)),
      before: word.slice(0, equals + 1),
      value: word.slice(equals + 1),
    };
  }
  const short = /^-[A-Za-z]./.test(word) ? find(word.slice(0, 2)) : undefined;
  if (short?.takes) return { option: short, before: word.slice(0, 2), value: word.slice(2) };
  return { option: find(word), before: '', value: undefined };
}
