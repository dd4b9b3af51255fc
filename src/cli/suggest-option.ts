import { isNear } from '../platform/near-words.ts';
import { commandNamed, type Named } from './where-to-look.ts';

interface Optioned extends Named<Optioned> {
  readonly options: readonly { readonly long?: string | undefined; readonly hidden: boolean }[];
}

/** Options of before, with what has come of them. */
const gone = [
  {
    flag: '--replace',
    of: ['sandbox', 'mint'],
    why: 'is not needed any more: a key that the profile has is kept beside the new one',
  },
] as const;

const unknownOption = /^unknown option '(--[^']+)'/;

/**
 * The message of an unknown option with the options that are meant: those that hold its words (`--price` in
 * `--max-price`), else those that are a slip away. Commander alone suggests what shares some letters (`--profile`).
 */
export function withSuggestion(message: string, program: Optioned, argv: readonly string[]): string {
  const [, typed] = unknownOption.exec(message) ?? [];
  if (typed === undefined) return message;
  const before = gone.find(({ flag, of }) => flag === typed && of.every((word) => argv.includes(word)));
  if (before) return `${before.flag} ${before.why}`;
  const flags = [commandNamed(program, argv).command, program].flatMap(({ options }) =>
    options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])),
  );
  const meant = meantBy(typed, [...new Set(flags)]);
  const plain = `unknown option '${typed}'`;
  if (meant.length === 0) return plain;
  return `${plain} (Did you mean ${meant.length > 1 ? 'one of ' : ''}${meant.join(', ')}?)`;
}

function meantBy(typed: string, flags: readonly string[]): string[] {
  const near = flags.filter((flag) => isNear(typed, flag));
  if (near.length > 0) return near;
  const words = typed.slice(2).split('-');
  const holding = flags.filter((flag) => words.every((word) => flag.slice(2).split('-').includes(word)));
  // The twin in cents of an option is not meant beside it.
  return holding.filter((flag) => !holding.some((other) => flag === `${other}-cents`));
}
