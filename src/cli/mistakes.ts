import { outputFormats } from '../format/result.ts';
import type { NextStep } from '../platform/errors.ts';
import { UsageError } from '../platform/errors.ts';
import { isNear, nearestWord } from '../platform/near-words.ts';
import { typedCommand } from '../platform/shell.ts';
import { commandNamed, helpPointer, type Named, withSuggestion } from './suggest-option.ts';

/** The parts of a mounted command that are needed to explain mistakes. */
export interface Mounted extends Named<Mounted> {
  readonly options: readonly { readonly long?: string | undefined; readonly hidden: boolean }[];
  readonly registeredArguments: readonly { name(): string; readonly description: string }[];
}

interface Facts {
  /** Flag to which a positional argument of this command belongs; undefined if there is none. */
  readonly positionalFlag: string | undefined;
  /** Names that `--fields` takes for this command. */
  readonly fields: readonly string[];
}

interface Program {
  readonly root: Mounted;
  readonly argv: readonly string[];
  /** The program with every verb, which takes a while to load. */
  whole(): Promise<Mounted>;
  facts(words: readonly string[]): Promise<Facts>;
}

/** Words that users know from other tools, with the equivalent commands of errand. */
const synonyms: Readonly<Record<string, readonly string[]>> = {
  buy: ['order create'],
  purchase: ['order create'],
  checkout: ['order create'],
  place: ['order create'],
  orders: ['order list'],
  watch: ['order watch'],
  follow: ['order watch'],
  cancel: ['order cancel'],
  refund: ['return create'],
  returns: ['return list'],
  find: ['search'],
  products: ['search'],
  upload: ['bulk upload'],
  import: ['bulk upload'],
  csv: ['bulk upload'],
  subscribe: ['standing add'],
  schedule: ['standing add'],
  repeat: ['standing add'],
  balance: ['wallet'],
  login: ['auth login'],
  signin: ['auth login'],
  logout: ['auth logout'],
  signout: ['auth logout'],
  whoami: ['auth status'],
  status: ['auth status', 'order list'],
  keys: ['auth list'],
  token: ['auth token'],
  addresses: ['address list'],
  profiles: ['profile list'],
  settings: ['config list'],
  preferences: ['config list'],
  limits: ['policy show'],
  budget: ['policy show'],
  init: ['quickstart'],
  start: ['quickstart'],
  tour: ['quickstart'],
  serve: ['sandbox serve'],
  events: ['webhook events'],
  server: ['sandbox serve'],
  // Suggest nothing for this word. No command opens anything, and commands with a similar spelling would mislead the
  // user.
  open: [],
};

/** Verbs that users know from other tools, with the equivalent verbs of errand in order of preference. */
const verbSynonyms: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(['buy', 'place', 'new', 'make', 'request'].map((word) => [word, ['create', 'add']])),
  add: ['create', 'set'],
  create: ['add', 'set'],
  ...Object.fromEntries(
    ['status', 'info', 'view', 'read', 'track'].map((word) => [word, ['get', 'show', 'status']]),
  ),
  ...Object.fromEntries(['stop', 'abort', 'undo'].map((word) => [word, ['cancel', 'remove', 'pause']])),
  ...Object.fromEntries(['delete', 'forget'].map((word) => [word, ['remove', 'delete', 'cancel']])),
  follow: ['watch'],
  find: ['list', 'search'],
  search: ['list'],
  all: ['list'],
  change: ['update', 'edit', 'set'],
  edit: ['update', 'set'],
};

const maxSuggestions = 4;
const minNearLength = 5;

/** @param error is the parser's error: its code, and its message without prefix. */
export async function mistakeOf(
  error: { readonly code: string; readonly message: string },
  program: Program,
): Promise<UsageError> {
  const { root, argv } = program;
  const plain = (message: string, next: readonly NextStep[] = []): UsageError =>
    new UsageError(message, {
      next,
      // Omit the hint after a suggestion, which already says what to do.
      hint: message.endsWith('?)') || next.length > 0 ? undefined : helpPointer(root, argv),
    });
  if (error.code === 'commander.unknownCommand') {
    const [, typed = ''] = /^unknown command '([^']*)'/.exec(error.message) ?? [];
    return plain(`unknown command '${typed}'${didYouMean(await linesFor(typed, program))}`);
  }
  if (error.code === 'commander.excessArguments') return excess(error.message, program, plain);
  if (error.code === 'commander.optionMissingArgument')
    return plain(await bareOption(error.message, program));
  if (error.code === 'commander.missingArgument') return plain(missingArgument(error.message, program));
  return plain(withSuggestion(error.message, root, argv));
}

const didYouMean = (lines: readonly string[]): string =>
  lines.length === 0 ? '' : ` (Did you mean ${lines.length > 1 ? 'one of ' : ''}${lines.join(', ')}?)`;

/** The command lines that the user may have intended when typing a line with an unknown word. */
async function linesFor(typed: string, { root, argv, whole }: Program): Promise<string[]> {
  const { command, words } = commandNamed(root, argv.slice(0, Math.max(0, argv.indexOf(typed))));
  const word = typed.toLowerCase();
  const noun = words.slice(1);
  const names = command.commands.flatMap((one) => [one.name(), ...one.aliases()]);
  if (noun.length > 0) {
    const verb = verbSynonyms[word]?.find((one) => names.includes(one)) ?? nearestWord(word, names);
    return verb === undefined ? [] : [verb];
  }
  if (Object.hasOwn(synonyms, word)) return (synonyms[word] ?? []).map((line) => `errand ${line}`);
  const near = names.filter((name) => isNear(word, name));
  if (near.length > 0) return near;
  const leaves = leavesOf(await whole(), []);
  const same = leaves.filter(({ names: own }) => own.includes(word));
  // For a short word, suggest only exact matches, because too many words are similar to a short word.
  const isLong = word.length >= minNearLength;
  const alike =
    same.length > 0 || !isLong
      ? same
      : leaves.filter(({ names: own }) => own.some((one) => isNear(word, one)));
  return alike.slice(0, maxSuggestions).map(({ line }) => `errand ${line}`);
}

interface Leaf {
  readonly line: string;
  /** The verb, in every spelling. */
  readonly names: readonly string[];
}

function leavesOf(command: Mounted, words: readonly string[]): Leaf[] {
  if (command.commands.length === 0)
    return words.length < 2 ? [] : [{ line: words.join(' '), names: [command.name(), ...command.aliases()] }];
  return command.commands.flatMap((one) => leavesOf(one, [...words, one.name()]));
}

/**
 * Explains an argument given to a command that takes none. Names the flag to which the argument belongs, and suggests
 * the corrected command line.
 */
async function excess(
  message: string,
  { root, argv, facts }: Program,
  plain: (message: string, next?: readonly NextStep[]) => UsageError,
): Promise<UsageError> {
  const { words } = commandNamed(root, argv);
  const path = words.slice(1);
  const extra = extraWords(argv, path);
  const [first] = extra;
  if (first === undefined) return plain(message);
  const { positionalFlag: flag } = await facts(path);
  if (path.join(' ') === 'order create' && flag !== undefined && !isProduct(first))
    return plain(`\`order create\` takes products by --product, not "${extra.join(' ')}"`, [
      {
        command: typedCommand(['search', ...extra, '--pick']),
        when: 'to search for it, and order what you pick',
      },
    ]);
  if (flag === undefined) return plain(`\`errand ${path.join(' ')}\` takes no argument "${first}"`);
  const rewritten = argv.flatMap((word) => (extra.includes(word) ? [flag, word] : [word]));
  return plain(`"${first}" belongs to ${flag}`, [
    { command: typedCommand(rewritten), when: 'with its flag' },
  ]);
}

const isProduct = (word: string): boolean => /^@\d|:\/\/|\.[^\s/]{1,200}\//.test(word);

/** The words between the command's name and the first flag. */
const extraWords = (argv: readonly string[], path: readonly string[]): string[] => {
  const rest = argv.slice(argv.indexOf(path.at(-1) ?? '') + 1);
  const end = rest.findIndex((word) => word.startsWith('-'));
  const leading = end < 0 ? rest : rest.slice(0, end);
  return [...leading].filter((word) => word !== '');
};

async function bareOption(message: string, { root, argv, facts }: Program): Promise<string> {
  const [, usage = '', flag = ''] = /^option '(?:-\w, )?((--[a-z0-9-]{1,40})[^']{0,80})'/.exec(message) ?? [];
  const plain = `${flag} is without its value: ${usage}`;
  if (flag === '--output') return `-o takes one of ${outputFormats.join(', ')}`;
  if (flag !== '--fields') return plain;
  const { words } = commandNamed(root, argv);
  const { fields } = await facts(words.slice(1));
  return fields.length === 0 ? plain : `--fields takes some of ${fields.join(', ')}`;
}

function missingArgument(message: string, { root, argv }: Program): string {
  const [, name = ''] = /'([^']*)'$/.exec(message) ?? [];
  const { command, words } = commandNamed(root, argv);
  const what = command.registeredArguments.find((one) => one.name() === name)?.description;
  return `\`${words.join(' ')}\` needs <${name}>${what ? `: ${what}` : ''}`;
}
