import type { OperationName } from '../api/operations/index.ts';
import type { OutputForms, ResultOf } from '../format/output-forms.ts';
import type { Column, OutputFormat, Result } from '../format/result.ts';
import type { Context } from '../run/context.ts';
import type { Arguments, Input, Options } from '../run/option.ts';

export interface Example {
  /** Full command line, including `errand`. */
  readonly command: string;
  readonly note: string;
}

export interface ValueList {
  readonly title: string;
  readonly rows: Readonly<Record<string, string>>;
  /** Printed below the rows. */
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
  /** Details beyond the summary, for the help. */
  readonly description?: string;
  /** Values listed separately in the help, with their meanings. */
  readonly lists?: readonly ValueList[];
  readonly arguments?: A;
  /** For a command without arguments: the flag, without dashes, that a stray argument probably belongs to. */
  readonly positional?: string;
  /** Columns of a list. `--fields` accepts their headings. */
  readonly columns?: readonly Column[];
  readonly options?: O;
  readonly examples: readonly Example[];
  /**
   * Shape of the JSON that `-o json` prints, and thus of every result of `run`. `errand schema output` shows its JSON
   * Schema.
   */
  readonly output: P;
  /**
   * Operations that the command calls. The help lists their endpoints. A command that calls any operation offers
   * `--dry-run` and `--curl`.
   */
  readonly operations?: readonly OperationName[];
  /** Whether the command may call any operation. If so, it offers `--dry-run` and `--curl`. */
  readonly anyOperation?: true;
  /**
   * Whether the command needs the key. If so, the profile's key command runs first. By default, the command needs the
   * key if an operation that it calls does.
   */
  readonly needsKey?: boolean;
  /** Whether the command runs when its noun is given without a verb. */
  readonly isDefault?: true;
  /** Output format if neither `-o` nor a preference sets one; a table for most commands. */
  readonly defaultFormat?: OutputFormat;
  /** Whether the command writes CSV to stdout or a file regardless of `-o`, so that `--excel` applies. */
  readonly writesCsv?: (input: Input<A, O>) => boolean;
  /** Exit codes with a special meaning for this command. */
  readonly exitCodes?: Readonly<Record<number, string>>;
  readonly related?: readonly string[];
  /** Whether the command is read-only. By default, it is read-only if all operations that it calls are. */
  readonly readsOnly?: boolean | ((input: Input<A, O>) => boolean);
  /** Whether the command writes the configuration and may replace a broken one. */
  readonly repairsConfig?: true;
  /**
   * Whether the command diagnoses the settings. If so, it receives the problems with the settings instead of failing
   * because of them.
   */
  readonly diagnoses?: true;
  run(context: Context, input: Input<A, O>): Promise<ResultOf<NoInfer<P>>>;
}

/** A command with its argument and option types erased. */
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

/** A top-level noun. Its name and summary are in `program.ts`, so that the help need not load the noun. */
export type RootNoun = Omit<Noun, 'name' | 'summary'>;

/** A top-level command; its name and summary are in `program.ts`. */
export type RootCommand = Omit<AnyCommand, 'name' | 'summary'>;

/** Defines a command as data; the type of `input` is inferred from `arguments` and `options`. */
export function defineCommand<
  const A extends Arguments,
  const O extends Options,
  const P extends OutputForms,
>(command: Command<A, O, P>): AnyCommand {
  // parse-option.ts builds the input from the same definition, so the erased type matches the declared one.
  return command as unknown as AnyCommand;
}

/** Defines a top-level command. */
export function defineRootCommand<
  const A extends Arguments,
  const O extends Options,
  const P extends OutputForms,
>(command: Omit<Command<A, O, P>, 'name' | 'summary'>): RootCommand {
  // The erased type matches the declared one, because parse-option.ts uses the same definition.
  return command as unknown as RootCommand;
}
