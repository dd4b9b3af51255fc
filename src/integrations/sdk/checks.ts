import { isObject } from '../../api/json.ts';
import { UsageError } from '../../platform/errors.ts';
import { nearestWord } from '../../platform/near-words.ts';

/**
 * Returns the known name that equals `name`.
 * @throws UsageError suggesting the nearest known name.
 */
export function knownName<N extends string>(name: unknown, known: readonly N[], what: string): N {
  const found = known.find((one) => one === name);
  if (found !== undefined) return found;
  const near = typeof name === 'string' ? (inOtherCase(name, known) ?? nearestWord(name, known)) : undefined;
  throw new UsageError(
    `there is no ${what} ${shown(name)}; ${near ? `did you mean "${near}"?` : `known: ${listText(known)}`}`,
  );
}

const inOtherCase = (name: string, known: readonly string[]): string | undefined =>
  known.find((one) => one.toLowerCase() === name.toLowerCase());

const maxListed = 12;
const listText = (names: readonly string[]): string =>
  `${names.slice(0, maxListed).join(', ')}${names.length > maxListed ? ', …' : ''}`;

const shown = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : typeof value);

/** @throws UsageError naming the function, the option and the accepted values. */
export function checkOptions<K extends string>(
  where: string,
  given: unknown,
  rules: Readonly<Record<K, Rule>>,
): void {
  if (typeof given !== 'object' || given === null)
    throw new UsageError(`${where} takes an object of options`);
  const known = Object.keys(rules) as K[];
  for (const name of Object.keys(given)) knownName(name, known, `option of ${where} called`);
  for (const name of known) {
    const { takes, is, isRequired = false }: Rule = rules[name];
    const value: unknown = Reflect.get(given, name);
    if (value === undefined ? !isRequired : is(value)) continue;
    throw new UsageError(
      value === undefined ? `${where} needs ${name}: ${takes}` : `${name} of ${where} takes ${takes}`,
    );
  }
}

/** Describes the values that an option accepts, and checks a value. */
export interface Rule {
  readonly takes: string;
  readonly is: (value: unknown) => boolean;
  readonly isRequired?: boolean;
}

export const aText = (takes: string): Rule => ({
  takes,
  is: (value) => typeof value === 'string' && value !== '',
});
export const aCount = (takes: string): Rule => ({
  takes,
  is: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0,
});
export const aTime = (takes: string): Rule => ({
  takes,
  is: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 1,
});
export const aFunction = (takes: string): Rule => ({ takes, is: (value) => typeof value === 'function' });
export const aYesOrNo: Rule = { takes: 'true or false', is: (value) => typeof value === 'boolean' };
export const aSignal: Rule = { takes: 'an AbortSignal', is: (value) => 'aborted' in Object(value) };
export const anObject: Rule = { takes: 'an object', is: isObject };
export const aRecordOfTexts: Rule = {
  takes: 'an object of texts',
  is: (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'string'),
};
export const required = (rule: Rule): Rule => ({ ...rule, isRequired: true });
