import type { RecordKind } from '../format/result.ts';

/** Kinds of records that this machine can list by their ids without asking anyone. */
export type RecordSource = 'orders' | 'accounts' | 'batches' | 'returns' | 'approvals' | 'intents';

/** What this machine knows without asking anyone. */
export type SourceName =
  | RecordSource
  | 'profiles'
  | 'keys'
  | 'addresses'
  | 'retailers'
  | 'events'
  | 'maps'
  | 'uploads';

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
