import type { OperationName } from '../api/operations/index.ts';
import type { OutputForms, ResultOf } from '../format/output-forms.ts';
import type { OutputFormat, Result } from '../format/result.ts';
import type { Context } from '../run/context.ts';
import type { Arguments, Input, Options } from '../run/option.ts';

export interface Example {
  /** The whole command line, `errand` included. */
  readonly command: string;
  readonly note: string;
}

export interface ValueList {
  readonly title: string;
  readonly rows: Readonly<Record<string, string>>;
  /** Said below them. */
  readonly note?: string;
}

export interface Command<
  A extends Arguments = Arguments,
  O extends Options = Options,
  P extends OutputForms = OutputForms,
> {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** More than the summary, for the help. */
  readonly description?: string;
  /** Values that have a list of their own in the help, each with its meaning. */
  readonly lists?: readonly ValueList[];
  readonly arguments?: A;
  readonly options?: O;
  readonly examples: readonly Example[];
  /** What stdout holds with `-o json`: `errand schema output` shows its JSON Schema, and `run` returns nothing else. */
  readonly output: P;
  /** The operations it calls: its endpoint in the help, and what offers `--dry-run` and `--curl`. */
  readonly operations?: readonly OperationName[];
  /** It may call any operation: offers `--dry-run` and `--curl`. */
  readonly anyOperation?: true;
  /** Runs where its noun is named without a verb. */
  readonly isDefault?: true;
  /** The format without `-o` and without a preference; a table for most. */
  readonly defaultFormat?: OutputFormat;
  /** Whether it writes a CSV, to stdout or a file, whatever `-o` says: `--excel` is for that too. */
  readonly writesCsv?: (input: Input<A, O>) => boolean;
  /** Exit codes that mean something special here. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  readonly related?: readonly string[];
  /** Whether it changes nothing; by default where it calls operations that all read. */
  readonly readsOnly?: boolean | ((input: Input<A, O>) => boolean);
  /** It writes the configuration, and may begin it anew where it is broken. */
  readonly mendsConfig?: true;
  /** It looks for what is wrong with the settings: it is given their problems, and none ends it. */
  readonly diagnoses?: true;
  run(context: Context, input: Input<A, O>): Promise<ResultOf<NoInfer<P>>>;
}

/** A command whose argument and option types are known to nobody but itself. */
export type AnyCommand = Omit<Command, 'run' | 'readsOnly' | 'writesCsv'> & {
  readonly writesCsv?: (input: Readonly<Record<string, unknown>>) => boolean;
  readonly readsOnly?: boolean | ((input: Readonly<Record<string, unknown>>) => boolean);
  run(context: Context, input: Readonly<Record<string, unknown>>): Promise<Result>;
};

export interface Noun {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly verbs: readonly (AnyCommand | Noun)[];
}

/** A noun of the first level; its name and summary stand in `program.ts`, whose help loads no noun. */
export type RootNoun = Omit<Noun, 'name' | 'summary'>;

/** A command of the first level; its name and summary stand in `program.ts`. */
export type RootCommand = Omit<AnyCommand, 'name' | 'summary'>;

/** Defines a command as data; the types of `input` follow from `arguments` and `options`. */
export function defineCommand<
  const A extends Arguments,
  const O extends Options,
  const P extends OutputForms,
>(command: Command<A, O, P>): AnyCommand {
  // Input is produced by parse-option.ts from the same definition, so the erased type is the declared one.
  return command as unknown as AnyCommand;
}

/** Defines a command that stands beside the nouns. */
export function defineRootCommand<
  const A extends Arguments,
  const O extends Options,
  const P extends OutputForms,
>(command: Omit<Command<A, O, P>, 'name' | 'summary'>): RootCommand {
  // As above: the erased type is the declared one.
  return command as unknown as RootCommand;
}
