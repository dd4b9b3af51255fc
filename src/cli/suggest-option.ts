import { commandNamed, type Named } from './where-to-look.ts';

interface Optioned extends Named<Optioned> {
  readonly options: readonly { readonly long?: string | undefined; readonly hidden: boolean }[];
}

const unknownOption = /^unknown option '(--[^']+)'/;

/**
 * The message of an unknown option with the options that are meant: those that hold its words (`--price` in
 * `--max-price`), else those that are a slip away. Commander alone suggests what shares some letters (`--profile`).
 */
export function withSuggestion(message: string, program: Optioned, argv: readonly string[]): string {
  const [, typed] = unknownOption.exec(message) ?? [];
  if (typed === undefined) return message;
  const flags = [commandNamed(program, argv).command, program].flatMap(({ options }) =>
    options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])),
  );
  const meant = meantBy(typed, [...new Set(flags)]);
  const plain = `unknown option '${typed}'`;
  if (meant.length === 0) return plain;
  return `${plain} (Did you mean ${meant.length > 1 ? 'one of ' : ''}${meant.join(', ')}?)`;
}

function meantBy(typed: string, flags: readonly string[]): string[] {
  const most = Math.max(1, Math.floor(typed.length / 4));
  const near = flags.filter(
    (flag) => Math.abs(flag.length - typed.length) <= most && distance(typed, flag) <= most,
  );
  if (near.length > 0) return near;
  const words = typed.slice(2).split('-');
  const holding = flags.filter((flag) => words.every((word) => flag.slice(2).split('-').includes(word)));
  // The twin in cents of an option is not meant beside it.
  return holding.filter((flag) => !holding.some((other) => flag === `${other}-cents`));
}

/** How many slips lie between two words: a letter left out, put in, changed, or two swapped. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const cost = (line: readonly number[], at: number): number => line[at] ?? Number.POSITIVE_INFINITY;
      current.push(
        Math.min(
          cost(last, column) + 1,
          cost(current, column - 1) + 1,
          cost(last, column - 1) + (isSame ? 0 : 1),
          isSwapped ? cost(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    before = last;
    last = current;
  }
  return last.at(-1) ?? 0;
}
