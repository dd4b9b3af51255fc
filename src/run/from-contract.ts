import type { Operation, Parameter } from '../api/operation.ts';
import type { QueryValues } from '../http/client.ts';
import { UsageError } from '../platform/errors.ts';
import type { Completable, Input, Option, Options } from './option.ts';
import { flagOf } from './parse-option.ts';
import { spanOptions } from './span.ts';

type OptionFor<P extends Parameter> = P extends { type: 'boolean' }
  ? { readonly kind: 'yes-no'; readonly description: string }
  : P extends { type: 'integer' | 'number' }
    ? { readonly kind: P['type']; readonly description: string }
    : P extends { type: 'date-time' }
      ? { readonly kind: 'date'; readonly description: string }
      : P extends { type: 'strings'; values: infer V extends readonly string[] }
        ? { readonly kind: 'list'; readonly description: string; readonly values: V }
        : P extends { type: 'strings' }
          ? { readonly kind: 'list'; readonly description: string }
          : P extends { values: readonly string[]; grows: true }
            ? { readonly kind: 'text'; readonly description: string; readonly suggests: readonly string[] }
            : P extends { values: infer V extends readonly string[] }
              ? { readonly kind: 'choice'; readonly description: string; readonly values: V }
              : { readonly kind: 'text'; readonly description: string };

/**
 * Builds the option for a query parameter. The option's kind, bounds, values and description come from the contract.
 */
export function optionFor<const P extends Parameter>(
  parameter: P,
  more: Completable & { readonly group?: string } = {},
): OptionFor<P> {
  // This cast is safe because `OptionFor` and `plainOption` read the same fields of the parameter.
  return { ...plainOption(parameter), ...more } as unknown as OptionFor<P>;
}

type Specs = Readonly<Record<string, Parameter>>;
/** Query parameters of an operation. */
export type QueryOfRow<O> = O extends { readonly query: infer Q extends Specs }
  ? Q
  : Readonly<Record<never, never>>;

type CamelCase<S extends string> = S extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : S;
type OptionName<K, R> = K extends keyof R ? R[K] & string : CamelCase<K & string>;

type OptionsFor<Q extends Specs, R> = { readonly [K in keyof Q as OptionName<K, R>]: OptionFor<Q[K]> };

/** Describes how an operation's query parameters appear as options. The keys are wire names. */
export interface Presentation<Q extends Specs = Specs> {
  readonly group?: string;
  /** Names of options that are not named like their parameter. */
  readonly rename?: { readonly [K in keyof Q]?: string };
  readonly completes?: { readonly [K in keyof Q]?: Completable['completes'] };
  /** Parameters that are the start or end of a span of time. Their options are described and parsed accordingly. */
  readonly edges?: { readonly [K in keyof Q]?: keyof typeof spanOptions };
  readonly hiddenFlags?: { readonly [K in keyof Q]?: readonly string[] };
  /** Words that may be typed instead of a parameter's values, each with the query that it stands for. */
  readonly words?: { readonly [K in keyof Q]?: ScreenWords<Q> };
}

export type ScreenWords<Q extends Specs = Specs> = Readonly<
  Record<string, { readonly [K in keyof Q]?: string }>
>;

type InputFor<O> = O extends Options ? Input<readonly [], O> : never;

interface QueryOptions<Q extends Specs, R> {
  readonly options: OptionsFor<Q, R>;
  /**
   * Converts option values to a query. Omits options that were not given.
   * @throws UsageError if only one option of a pair is given.
   */
  toQuery(input: InputFor<OptionsFor<Q, R>>): QueryValues<Q>;
}

/**
 * Builds the options for an operation's query parameters, and the function that converts option values back to a query.
 */
export function optionsFrom<
  const O extends Operation,
  const R extends { readonly [K in keyof QueryOfRow<O>]?: string } = Record<never, never>,
>(
  operation: O,
  { rename, ...shown }: Omit<Presentation<QueryOfRow<O>>, 'rename'> & { readonly rename?: R } = {},
): QueryOptions<QueryOfRow<O>, R> {
  const names = Object.entries(operation.query ?? {}).map(([parameter, spec]) => {
    const { group, completes, hiddenFlags, words, edges }: Presentation = shown;
    const edge = edges?.[parameter];
    const screen = words?.[parameter];
    const option = {
      ...optionFor(spec, {
        ...(group !== undefined && { group }),
        ...(completes?.[parameter] !== undefined && { completes: completes[parameter] }),
      }),
      ...(edge && spanOptions[edge]),
      ...(hiddenFlags?.[parameter] && { hiddenFlags: hiddenFlags[parameter] }),
      ...(screen && { suggests: Object.keys(screen), isClosedBut: spec.values ?? [] }),
    };
    return { parameter, name: nameFor(parameter, rename), option, screen };
  });
  // This cast is safe because the types above mirror how these lines treat each name.
  return {
    options: Object.fromEntries(names.map(({ name, option }) => [name, option])),
    toQuery(input: Readonly<Record<string, unknown>>) {
      const given = names.filter(({ name }) => input[name] !== undefined);
      checkPairs(operation, new Map(given.map(({ parameter, name }) => [parameter, name])), rename);
      const query = Object.fromEntries(given.map(({ parameter, name }) => [parameter, input[name]]));
      for (const { parameter, name, screen } of given) {
        const meant = screen?.[String(query[parameter])];
        if (meant) replaceWord(query, { parameter, name, meant }, rename);
      }
      return query;
    },
  } as unknown as QueryOptions<QueryOfRow<O>, R>;
}

/**
 * Replaces a word by the query that it stands for.
 * @throws UsageError if a parameter of that query is given as well.
 */
function replaceWord(
  query: Record<string, unknown>,
  {
    parameter,
    name,
    meant,
  }: { parameter: string; name: string; meant: Readonly<Record<string, string | undefined>> },
  rename: Readonly<Record<string, string | undefined>> | undefined,
): void {
  const word = query[parameter];
  delete query[parameter];
  for (const [other, value] of Object.entries(meant)) {
    if (query[other] !== undefined)
      throw new UsageError(
        `${flagOf(name)} ${word} and ${flagOf(nameFor(other, rename))} exclude each other`,
      );
    query[other] = value;
  }
}

const nameFor = (parameter: string, rename: Readonly<Record<string, string | undefined>> = {}): string =>
  rename[parameter] ?? parameter.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function checkPairs(
  { rules = [] }: Operation,
  given: ReadonlyMap<string, string>,
  rename: Readonly<Record<string, string | undefined>> | undefined,
): void {
  for (const rule of rules) {
    if (!('together' in rule)) continue;
    const missing = rule.together.find((parameter) => !given.has(parameter));
    const present = rule.together.map((parameter) => given.get(parameter)).find((name) => name !== undefined);
    if (missing === undefined || present === undefined) continue;
    throw new UsageError(`${flagOf(present)} needs ${flagOf(nameFor(missing, rename))}`);
  }
}

function plainOption(parameter: Parameter): Option {
  const { description, values, grows, min, max, minLength, maxLength } = parameter;
  switch (parameter.type) {
    case 'boolean':
      return { kind: 'yes-no', description };
    case 'integer':
    case 'number':
      return {
        kind: parameter.type,
        description,
        ...(min !== undefined && { min }),
        ...(max !== undefined && { max }),
      };
    case 'date-time':
      return { kind: 'date', description };
    case 'strings':
      return { kind: 'list', description, ...(values && { values }) };
    default:
      if (values && !grows) return { kind: 'choice', description, values };
      return {
        kind: 'text',
        description,
        ...(values && { suggests: values, isClosedBut: [] }),
        ...(minLength !== undefined && { minLength }),
        ...(maxLength !== undefined && { maxLength }),
      };
  }
}
