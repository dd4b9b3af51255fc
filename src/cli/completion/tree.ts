import type { Completable, Option, SourceName } from '../../run/option.ts';

/** What stands where a value is expected; nothing of it where every text will do. */
export interface Hint {
  readonly values?: readonly Candidate[];
  /** Values joined by commas. */
  readonly commas?: true;
  /** Values that this machine knows. */
  readonly from?: SourceName;
  /** A file, completed by the shell; with `values` or `from` only where none of them fits. */
  readonly files?: true;
}

/** A word that may stand, and what is said beside it. */
export interface Candidate {
  readonly value: string;
  readonly text?: string;
}

export interface TreeOption {
  /** `--output` before `-o`. */
  readonly flags: readonly string[];
  readonly text: string;
  /** What its value is; absent where it takes none. */
  readonly takes?: Hint;
  readonly repeats?: true;
}

interface TreeArgument {
  readonly takes: Hint;
  readonly variadic?: true;
}

/** The program, a noun or a verb, as far as completion needs to know it. Plain data: the build writes it down. */
export interface Tree {
  readonly name: string;
  readonly text: string;
  readonly aliases?: readonly string[];
  /** Of the command alone; those of the root stand anywhere. */
  readonly options?: readonly TreeOption[];
  readonly children?: readonly Tree[];
  /** The child that runs where none is named. */
  readonly fallback?: string;
  readonly arguments?: readonly TreeArgument[];
  /** Words after it walk the whole program, as those of `help` do. */
  readonly mirrors?: true;
  /** A command may be one word there: `order.list`. */
  readonly isDotted?: true;
}

/** What a value is, from the definition of its argument or option. */
export function hintOf({ names = [], completes = [], offers }: Completable): Hint {
  const kinds = [completes].flat().filter((kind) => kind !== 'commands');
  const from = kinds.find((kind) => kind !== 'files') ?? [names].flat().find((kind) => kind !== 'products');
  return {
    ...(offers && { values: candidates(offers) }),
    ...(from && { from }),
    ...(kinds.includes('files') && { files: true }),
  };
}

/** What the value of an option is: one of its own values, where it lists them. */
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
