import { type Cursor, optionsAt, readLine, splitFlag } from './cursor.ts';
import type { Candidate, Hint, Tree, TreeOption } from './tree.ts';

/** Who completes: `words` the candidates; `files` the shell, with what it knows of the disk. */
export interface Completion {
  readonly mode: 'words' | 'files';
  readonly candidates: readonly Candidate[];
}

/** Looks up what this machine knows; never throws. */
export type LookUp = (hint: Hint, cursor: Cursor) => Promise<readonly Candidate[]>;

const nothing: Completion = { mode: 'words', candidates: [] };

/** Completes the last of the words, which may be empty or half typed. */
export async function complete(tree: Tree, words: readonly string[], lookUp: LookUp): Promise<Completion> {
  const partial = words.at(-1) ?? '';
  const cursor = readLine(tree, words.slice(0, -1));
  const { root, node, pending, ended } = cursor;
  if (pending) return values(cursor, pending.takes ?? {}, '', partial, [], lookUp);
  if (!ended && partial.startsWith('-')) {
    const { option, before, value } = splitFlag(root, node, partial);
    if (value === undefined) return flags(cursor, partial);
    return option?.takes ? values(cursor, option.takes, before, value, [], lookUp) : nothing;
  }
  if (!node) return nothing;
  const commands = cursor.given.length === 0 ? commandsOf(node, partial) : [];
  const found = await argument(cursor, partial, lookUp);
  if (commands.length > 0) return { mode: 'words', candidates: [...commands, ...found.candidates] };
  const isDone = found.mode === 'words' && found.candidates.length === 0;
  return isDone && partial === '' && !ended && !node.children ? flags(cursor, partial) : found;
}

/** Names of commands; an alias only once it has been begun, so that nothing stands twice in a list. */
function commandsOf({ children = [], isDotted }: Tree, partial: string): Candidate[] {
  const dot = isDotted ? partial.indexOf('.') : -1;
  if (dot >= 0) {
    const first = partial.slice(0, dot);
    const below = children.find(({ name, aliases = [] }) => name === first || aliases.includes(first));
    return commandsOf({ ...(below ?? { name: '', text: '' }), isDotted: true }, partial.slice(dot + 1)).map(
      ({ value, ...said }) => ({ ...said, value: `${first}.${value}` }),
    );
  }
  return children.flatMap(({ name, aliases = [], text }) => {
    const names = partial === '' ? [name] : [name, ...aliases];
    return names.filter((it) => it.startsWith(partial)).map((value) => ({ value, text }));
  });
}

async function argument(cursor: Cursor, partial: string, lookUp: LookUp): Promise<Completion> {
  const { node, given } = cursor;
  const fallback = node?.children?.find(({ name }) => name === node.fallback);
  const expected = (node?.children ? fallback : node)?.arguments ?? [];
  const last = expected.at(-1);
  const next = expected[given.length] ?? (last?.variadic ? last : undefined);
  return next ? values(cursor, next.takes, '', partial, given, lookUp) : nothing;
}

function flags({ root, node, chosen }: Cursor, partial: string): Completion {
  const open = optionsAt(root, node).filter((option) => option.repeats || !chosen.has(option));
  const candidates = open.flatMap(({ flags: [long = '', ...shorts], text }: TreeOption) => {
    const names = long.startsWith(partial) ? [long] : shorts.filter((short) => short === partial);
    return names.map((value) => ({ value, text }));
  });
  return { mode: 'words', candidates };
}

/** @param before what stands before the value in the same word: `--status=`. @param given values that stand already. */
async function values(
  cursor: Cursor,
  hint: Hint,
  before: string,
  partial: string,
  given: readonly string[],
  lookUp: LookUp,
): Promise<Completion> {
  const comma = hint.commas ? partial.lastIndexOf(',') + 1 : 0;
  const [kept, sought] = [partial.slice(0, comma), partial.slice(comma)];
  const taken = new Set([...given, ...kept.split(',')]);
  const known = [...(hint.values ?? []), ...(hint.from ? await lookUp(hint, cursor) : [])];
  const candidates = known
    .filter(({ value }) => value.startsWith(sought) && !taken.has(value))
    .map((candidate) => ({ ...candidate, value: before + kept + candidate.value }));
  return { mode: hint.files && candidates.length === 0 ? 'files' : 'words', candidates };
}
