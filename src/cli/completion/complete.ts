import type { Candidate, Hint, Tree, TreeOption } from './tree.ts';

/** `words`: the candidates are complete; `files`: the shell completes file names. */
interface Completion {
  readonly mode: 'words' | 'files';
  readonly candidates: readonly Candidate[];
}

/** Looks up values known on this machine; never throws. */
export type CandidateLookup = (hint: Hint, cursor: Cursor) => Promise<readonly Candidate[]>;

const nothing: Completion = { mode: 'words', candidates: [] };

/** Completes the last word, which may be empty or partial. */
export async function complete(
  tree: Tree,
  words: readonly string[],
  lookup: CandidateLookup,
): Promise<Completion> {
  const partial = words.at(-1) ?? '';
  const cursor = readLine(tree, words.slice(0, -1));
  const { root, node, pending, ended } = cursor;
  if (pending) return values(cursor, pending.takes ?? {}, '', partial, [], lookup);
  if (!ended && partial.startsWith('-')) {
    const { option, before, value } = splitFlag(root, node, partial);
    if (value === undefined) return flags(cursor, partial);
    return option?.takes ? values(cursor, option.takes, before, value, [], lookup) : nothing;
  }
  if (!node) return nothing;
  const commands = cursor.given.length === 0 ? commandsOf(node, partial) : [];
  const found = await argument(cursor, partial, lookup);
  if (commands.length > 0) return { mode: 'words', candidates: [...commands, ...found.candidates] };
  const isDone = found.mode === 'words' && found.candidates.length === 0;
  return isDone && partial === '' && !ended && !node.children ? flags(cursor, partial) : found;
}

/**
 * Command names. Aliases are offered only after the user has begun to type the word, because the empty list would show
 * each command twice.
 */
function commandsOf({ children = [], isDotted }: Tree, partial: string): Candidate[] {
  const dot = isDotted ? partial.indexOf('.') : -1;
  if (dot >= 0) {
    const first = partial.slice(0, dot);
    const below = children.find(({ name, aliases = [] }) => name === first || aliases.includes(first));
    return commandsOf({ ...(below ?? { name: '', text: '' }), isDotted: true }, partial.slice(dot + 1)).map(
      ({ value, ...rest }) => ({ ...rest, value: `${first}.${value}` }),
    );
  }
  return children.flatMap(({ name, aliases = [], text }) => {
    const names = partial === '' ? [name] : [name, ...aliases];
    return names.filter((it) => it.startsWith(partial)).map((value) => ({ value, text }));
  });
}

async function argument(cursor: Cursor, partial: string, lookup: CandidateLookup): Promise<Completion> {
  const { node, given } = cursor;
  const fallback = node?.children?.find(({ name }) => name === node.fallback);
  const expected = (node?.children ? fallback : node)?.arguments ?? [];
  const last = expected.at(-1);
  const next = expected[given.length] ?? (last?.variadic ? last : undefined);
  return next ? values(cursor, next.takes, '', partial, given, lookup) : nothing;
}

function flags({ root, node, chosen }: Cursor, partial: string): Completion {
  const open = optionsAt(root, node).filter((option) => option.repeats || !chosen.has(option));
  const candidates = open.flatMap(({ flags: [long = '', ...shorts], text }: TreeOption) => {
    const names = long.startsWith(partial) ? [long] : shorts.filter((short) => short === partial);
    return names.map((value) => ({ value, text }));
  });
  return { mode: 'words', candidates };
}

/**
 * @param before is the part of the word before the value, such as `--status=`. @param given lists the values already
 * present.
 */
async function values(
  cursor: Cursor,
  hint: Hint,
  before: string,
  partial: string,
  given: readonly string[],
  lookup: CandidateLookup,
): Promise<Completion> {
  const comma = hint.commas ? partial.lastIndexOf(',') + 1 : 0;
  const [leading, sought] = [partial.slice(0, comma), partial.slice(comma)];
  const taken = new Set([...given, ...leading.split(',')]);
  const byBefore = hint.byBefore?.[given.at(-1) ?? ''] ?? [];
  const known = [...(hint.values ?? []), ...byBefore, ...(hint.from ? await lookup(hint, cursor) : [])];
  const candidates = known
    .filter(({ value }) => value.startsWith(sought) && !taken.has(value))
    .map((candidate) => ({ ...candidate, value: before + leading + candidate.value }));
  return { mode: hint.files && candidates.length === 0 ? 'files' : 'words', candidates };
}

/** State of a command line just before the word to complete. */
export interface Cursor {
  readonly root: Tree;
  /** The command named so far; undefined if unknown. */
  readonly node: Tree | undefined;
  /** Positional words after the command. */
  readonly given: readonly string[];
  /** The option that expects the next word as its value. */
  readonly pending: TreeOption | undefined;
  /** Whether `--` has ended the options. */
  readonly ended: boolean;
  /** Options that are already on the line, with their values if any. */
  readonly chosen: ReadonlyMap<TreeOption, string | undefined>;
}

/** Parses all words before the word to complete. Pure. Unknown words never throw. */
function readLine(root: Tree, words: readonly string[]): Cursor {
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

/** Advances the cursor by one positional word. */
function step(root: Tree, node: Tree | undefined, given: readonly string[], word: string) {
  const child = given.length === 0 ? childOf(node, word) : undefined;
  if (child) return { node: child.mirrors ? mirror(root, child) : child, given: [] };
  if (!node?.children) return { node, given: [...given, word] };
  const fallback = node.fallback === undefined ? undefined : childOf(node, node.fallback);
  return { node: fallback, given: [word] };
}

/**
 * Puts the whole command tree, without options and arguments, below a command whose words may name any command, such as
 * `help`.
 */
const mirror = (root: Tree, { name, text, options = [], children = [], isDotted }: Tree): Tree => ({
  name,
  text,
  options,
  ...(isDotted && { isDotted }),
  children: [
    // Omit commands that only print pages, because they have no output schema.
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

/** All options that are valid at a cursor: first those of the command, then the global ones. */
const optionsAt = (root: Tree, node: Tree | undefined): readonly TreeOption[] =>
  node && node !== root ? [...(node.options ?? []), ...(root.options ?? [])] : (root.options ?? []);

/**
 * Splits a word that starts with a dash into its option and, if there is one, the attached value (`--flag=value`,
 * `-ovalue`).
 */
function splitFlag(
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
