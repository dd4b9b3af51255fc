import type { Completable, Option, SourceName } from '../../run/option.ts';

/** Possible values at a position; empty if any text is valid. */
export interface Hint {
  readonly values?: readonly Candidate[];
  /** Possible values, keyed by the preceding argument. */
  readonly byBefore?: Readonly<Record<string, readonly Candidate[]>>;
  /** Whether several values may be given, separated by commas. */
  readonly commas?: true;
  /** Source of values known on this machine. */
  readonly from?: SourceName;
  /** Whether the shell completes a file name; with `values` or `from`, only if no candidate matches. */
  readonly files?: true;
}

/** A possible word and its description. */
export interface Candidate {
  readonly value: string;
  readonly text?: string;
}

export interface TreeOption {
  /** Long flag before short: `--output`, then `-o`. */
  readonly flags: readonly string[];
  readonly text: string;
  /** Hint for the option's value. Absent if the option takes no value. */
  readonly takes?: Hint;
  readonly repeats?: true;
}

interface TreeArgument {
  readonly takes: Hint;
  readonly variadic?: true;
}

/**
 * A node of the command tree (the program, a noun or a verb), reduced to what completion needs. It is plain data,
 * because the build serializes it.
 */
export interface Tree {
  readonly name: string;
  readonly text: string;
  readonly aliases?: readonly string[];
  /** The command's own options; the root's options apply everywhere. */
  readonly options?: readonly TreeOption[];
  readonly children?: readonly Tree[];
  /** Name of the child that runs if the line names no child. */
  readonly fallback?: string;
  readonly arguments?: readonly TreeArgument[];
  /** Whether the words after this command may name any command, as for `help`. */
  readonly mirrors?: true;
  /** Whether this command accepts another command's name as a single word, such as `order.list`. */
  readonly isDotted?: true;
}

/** Derives a completion hint from an argument or option definition. */
export function hintOf({ names = [], completes = [], offers, offersBy }: Completable): Hint {
  const kinds = [completes].flat().filter((kind) => kind !== 'commands');
  const from = kinds.find((kind) => kind !== 'files') ?? [names].flat().find((kind) => kind !== 'products');
  return {
    ...(offers && { values: candidates(offers) }),
    ...(offersBy && {
      byBefore: Object.fromEntries(
        Object.entries(offersBy).map(([before, values]) => [before, candidates(values)]),
      ),
    }),
    ...(from && { from }),
    ...(kinds.includes('files') && { files: true }),
  };
}

/** Hint for an option's value, made from the option's own values if it lists any. */
export function optionHint(option: Option): Hint {
  if (option.kind === 'choice') return { values: candidates(option.values) };
  if (option.kind === 'list')
    return { commas: true, ...(option.values && { values: candidates(option.values) }) };
  if (option.kind === 'text' && option.suggests) return { values: candidates(option.suggests) };
  return hintOf(option);
}

const candidates = (offers: NonNullable<Completable['offers']>): Candidate[] =>
  isList(offers)
    ? offers.map((value) => ({ value }))
    : Object.entries(offers).map(([value, { description: text }]) => ({ value, text }));

const isList = (offers: NonNullable<Completable['offers']>): offers is readonly string[] =>
  Array.isArray(offers);
