import { isNear } from '../platform/near-words.ts';

interface Optioned extends Named<Optioned> {
  readonly options: readonly { readonly long?: string | undefined; readonly hidden: boolean }[];
}

/** Removed options, with the reason. */
const gone = [
  {
    flag: '--replace',
    of: ['sandbox', 'mint'],
    why: 'is not needed any more: a key that the profile has is kept beside the new one',
  },
] as const;

const unknownOption = /^unknown option '(--[^']+)'/;

/**
 * Adds suggestions to the error for an unknown option. Suggests options that contain the unknown option's words
 * (`--max-price` for `--price`), or else options with a similar spelling. Commander's own suggestion may merely share
 * some letters with the unknown option (`--profile`).
 */
export function withSuggestion(message: string, program: Optioned, argv: readonly string[]): string {
  const [, typed] = unknownOption.exec(message) ?? [];
  if (typed === undefined) return message;
  const before = gone.find(({ flag, of }) => flag === typed && of.every((word) => argv.includes(word)));
  if (before) return `${before.flag} ${before.why}`;
  const flags = [commandNamed(program, argv).command, program].flatMap(({ options }) =>
    options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])),
  );
  const [name = '', value] = typed.split('=');
  if (value !== undefined && flags.includes(name)) return `${name} takes true or false, not "${value}"`;
  const suggestions = suggestionsFor(name, [...new Set(flags)]);
  const plain = `unknown option '${typed}'`;
  if (suggestions.length === 0) return plain;
  return `${plain} (Did you mean ${suggestions.length > 1 ? 'one of ' : ''}${suggestions.join(', ')}?)`;
}

function suggestionsFor(typed: string, flags: readonly string[]): string[] {
  const near = flags.filter((flag) => isNear(typed, flag));
  if (near.length > 0) return near;
  const words = typed.slice(2).split('-');
  const holding = flags.filter((flag) => words.every((word) => flag.slice(2).split('-').includes(word)));
  // Do not suggest both an option and its `-cents` variant.
  return holding.filter((flag) => !holding.some((other) => flag === `${other}-cents`));
}

/** The parts of a command that name it. */
export interface Named<C> {
  name(): string;
  aliases(): readonly string[];
  readonly commands: readonly C[];
}

/** Finds the command that a line refers to, ignoring unknown words. */
export function commandNamed<C extends Named<C>>(
  program: C,
  argv: readonly string[],
): { readonly command: C; readonly words: readonly string[] } {
  let command = program;
  const words = [program.name()];
  for (const word of argv) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (!next) continue;
    command = next;
    words.push(next.name());
  }
  return { command, words };
}

/** Points to the help for a rejected command line. */
export function helpPointer<C extends Named<C>>(program: C, argv: readonly string[]): string {
  const { command, words } = commandNamed(program, argv);
  const what = command.commands.length > 0 ? 'lists the commands' : 'shows its arguments and flags';
  return `\`${words.join(' ')} --help\` ${what}.`;
}
