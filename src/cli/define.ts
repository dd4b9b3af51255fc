import type { Context } from '../context.ts';
import type { OperationName } from '../contract/operations/index.ts';
import type { OutputForms, ResultOf } from '../output/output-forms.ts';
import type { OutputFormat, RecordKind, Result } from '../output/result.ts';
import type { SourceName } from './completion/sources.ts';

/** What a TAB offers for a value; nothing where every text will do. */
export interface Completable {
  /**
   * Records that the value is the id of: on a terminal a beginning of it and the number of a row are taken too, and a TAB
   * offers those that this machine knows.
   */
  readonly names?: RecordKind | readonly RecordKind[];
  /** Values that this machine knows; `files` only where none of the others fits; `commands` are the words of any command. */
  readonly completes?: SourceName | 'files' | 'commands' | readonly (SourceName | 'files')[];
  /** A fixed list of values, each with what is shown beside it. */
  readonly offers?: readonly string[] | Readonly<Record<string, { readonly description: string }>>;
}

/** A positional argument. `ids` also reads `-` from stdin, one a line. */
export interface Argument extends Completable {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  readonly variadic?: boolean;
}

export interface OptionBase extends Completable {
  readonly description: string;
  readonly short?: string;
  readonly group?: string;
  /** Shown in the help as `--flag <placeholder>`. */
  readonly placeholder?: string;
  /** The flag, where it is not the key in kebab-case. */
  readonly flag?: string;
}

/** A typed option; its flag is its key in kebab-case. Each kind is parsed and refused in `parse-option.ts`. */
export type Option =
  | (OptionBase & {
      readonly kind: 'text';
      readonly minLength?: number;
      readonly maxLength?: number;
      /** Values that are known; others are taken too. */
      readonly suggests?: readonly string[];
    })
  | (OptionBase & { readonly kind: 'integer'; readonly min?: number; readonly max?: number })
  /** A number with or without decimals. */
  | (OptionBase & { readonly kind: 'number'; readonly min?: number; readonly max?: number })
  | (OptionBase & { readonly kind: 'choice'; readonly values: readonly string[] })
  | (OptionBase & { readonly kind: 'flag' })
  /** `--flag` and `--no-flag`. */
  | (OptionBase & { readonly kind: 'yes-no' })
  /** Repeated. */
  | (OptionBase & { readonly kind: 'texts' })
  /** Comma-separated, and may be repeated. */
  | (OptionBase & { readonly kind: 'list'; readonly values?: readonly string[] })
  /** `key=value`, repeated. */
  | (OptionBase & { readonly kind: 'pairs' })
  /** Money with a sign or decimals; its `-cents` twin takes an integer. Value in cents. */
  | (OptionBase & { readonly kind: 'money'; readonly isCeiling?: true })
  /** A date or a time, with `unixSeconds` in unix seconds too; value ISO 8601. */
  | (OptionBase & { readonly kind: 'date'; readonly unixSeconds?: true })
  /** `30s`, `5m`; value in ms. */
  | (OptionBase & { readonly kind: 'duration' });

export type Options = Readonly<Record<string, Option>>;
export type Arguments = readonly Argument[];

interface ValueOfKind {
  text: string;
  integer: number;
  number: number;
  choice: string;
  flag: boolean;
  'yes-no': boolean;
  texts: string[];
  list: string[];
  pairs: Record<string, string>;
  money: number;
  date: string;
  duration: number;
}

type OptionValue<O extends Option> = O extends { kind: 'choice'; values: readonly (infer V)[] }
  ? V
  : ValueOfKind[O['kind']];

type ArgumentValue<A extends Argument> = A extends { variadic: true }
  ? string[]
  : A extends { required: true }
    ? string
    : string | undefined;

/** What `run` gets: each argument and each option by its name, typed. */
export type Input<A extends Arguments, O extends Options> = {
  readonly [E in A[number] as E['name']]: ArgumentValue<E>;
} & { readonly [K in keyof O]?: OptionValue<O[K]> };

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
