import type { RecordKind } from '../format/result.ts';

/** Kinds of records whose ids can be listed from local data. */
export type RecordSource = 'orders' | 'accounts' | 'batches' | 'returns' | 'approvals' | 'intents';

/** Values available from local data. */
export type SourceName =
  | RecordSource
  | 'profiles'
  | 'keys'
  | 'addresses'
  | 'retailers'
  | 'events'
  | 'maps'
  | 'standing'
  | 'cancellable'
  | 'returnable'
  | 'uploads';

/** Values that shell completion offers. A free text has none. */
export interface Completable {
  /**
   * Kinds of records whose ids this value may hold. On a terminal, the value may also be an id prefix or a row number,
   * and completion offers the ids that are known locally.
   */
  readonly names?: RecordKind | readonly RecordKind[];
  /**
   * Source of the values that are known locally. With `files`, files are offered only if nothing else matches. With
   * `commands`, the words of all commands are offered.
   */
  readonly completes?: SourceName | 'files' | 'commands' | readonly (SourceName | 'files')[];
  /** Fixed values, each with its description. */
  readonly offers?: readonly string[] | Readonly<Record<string, { readonly description: string }>>;
  /** Fixed values, keyed by the preceding argument. */
  readonly offersBy?: Readonly<Record<string, readonly string[]>>;
}

/** A positional argument. `ids` also accepts `-` to read from stdin, one per line. */
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
  /** The flag. Only needed if it is not the key in kebab-case. */
  readonly flag?: string;
  /** Other flags for the same option, hidden from the help. */
  readonly hiddenFlags?: readonly string[];
}

/** A typed option. Its flag is its key in kebab-case. `parse-option.ts` parses and validates each kind of option. */
export type Option =
  | (OptionBase & {
      readonly kind: 'text';
      readonly minLength?: number;
      readonly maxLength?: number;
      /** Known values. Other values are accepted too, unless the option is closed. */
      readonly suggests?: readonly string[];
      /** If set, only the known values and these values are accepted. */
      readonly isClosedBut?: readonly string[];
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
  /**
   * An amount of money, written with a currency sign or decimals. The matching `-cents` flag takes an integer. The
   * value is in cents.
   */
  | (OptionBase & { readonly kind: 'money'; readonly isCeiling?: true })
  /** A date or time. With `unixSeconds`, unix seconds are accepted too. The value is ISO 8601. */
  | (OptionBase & {
      readonly kind: 'date';
      readonly unixSeconds?: true;
      /**
       * Set if the option is the start or the end of a span of time. The option then also accepts a month. An end
       * includes the whole day or month that it names.
       */
      readonly edge?: 'first' | 'end' | undefined;
    })
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

/** Input of `run`. It has each argument and each option under its name, with its type. */
export type Input<A extends Arguments, O extends Options> = {
  readonly [E in A[number] as E['name']]: ArgumentValue<E>;
} & { readonly [K in keyof O]?: OptionValue<O[K]> };
