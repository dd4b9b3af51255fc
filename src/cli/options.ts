import { type Command as Commander, Option as CommanderOption } from 'commander';
import { own } from '../api/json.ts';
import { UsageError } from '../platform/errors.ts';
import type { Option, Options } from '../run/option.ts';
import { flagOf, parseInteger, parseOption } from '../run/parse-option.ts';
import { globalOptions } from './global-options.ts';

export const globalHeading = 'Global options:';

/**
 * Adds the global options to the program, so that they can stand before the noun, as in `errand -o json order list`.
 */
export function addGlobalOptions(root: Commander, now: () => number): void {
  addOptions(root, globalOptions, now, { heading: globalHeading });
  addNoInput(root);
}

/** Called when a single-value option is given twice. */
export type OnTwice = (message: string) => void;

/** Adds typed options to a command, under a heading of the help. */
export function addOptions(
  mounted: Commander,
  options: Options,
  now: () => number,
  { heading, onTwice = () => {} }: { readonly heading?: string; readonly onTwice?: OnTwice } = {},
): void {
  for (const [key, option] of Object.entries(options)) {
    for (const made of commanderOptions(key, option, now, onTwice)) {
      const group = heading ?? (option.group && `${option.group}:`);
      mounted.addOption(group ? made.helpGroup(group) : made);
    }
  }
}

function commanderOptions(
  key: string,
  option: Option,
  now: () => number,
  onTwice: OnTwice,
): CommanderOption[] {
  const flag = option.flag ?? flagOf(key);
  const short = option.short ? `-${option.short}, ` : '';
  if (option.kind === 'flag') return [new CommanderOption(short + flag, option.description)];
  if (option.kind === 'yes-no') {
    const no = new CommanderOption(`--no-${flag.slice(2)}`, `the opposite of ${flag}`);
    return [new CommanderOption(short + flag, option.description), no];
  }
  const made = new CommanderOption(`${short}${flag} <${placeholder(option)}>`, describe(option));
  if (option.flag) made.attributeName = () => key;
  const given: Given = {};
  const parserOf = (shown: string, parsed: Option) => (text: string, previous: unknown) => {
    if (given.as !== undefined && given.as !== flag) throw givenInBoth(flag);
    const value = parseOption(shown, parsed, text, previous, now());
    const lost = text === given.text ? undefined : lostBy(option, previous, value);
    if (lost !== undefined) onTwice(givenTwice([shown, lost].join(' ').trim()));
    Object.assign(given, { as: flag, text });
    return value;
  };
  made.argParser(parserOf(flag, option));
  // A date given by a hidden flag is an exact moment, not the end of a span.
  const earlier: Option = option.kind === 'date' ? { ...option, edge: undefined } : option;
  const hidden = (option.hiddenFlags ?? []).map((alias) => {
    const same = new CommanderOption(`${alias} <${placeholder(option)}>`).hideHelp();
    same.attributeName = () => made.attributeName();
    return same.argParser(parserOf(alias, earlier));
  });
  return option.kind === 'money'
    ? [made, centsVariant(key, flag, given, onTwice), ...hidden]
    : [made, ...hidden];
}

/**
 * The flag and raw text with which an option was last given. Raw texts are compared, because a relative time parses to
 * a different value each time.
 */
interface Given {
  as?: string;
  text?: string;
}

/**
 * Finds a value that a repeated option overrides.
 * @returns undefined if no value is overridden. For an option that takes pairs, the key of an overridden pair; for any
 * other option, an empty string.
 */
function lostBy({ kind }: Option, previous: unknown, value: unknown): string | undefined {
  if (previous === undefined || kind === 'texts' || kind === 'list') return undefined;
  if (kind !== 'pairs') return previous === value ? undefined : '';
  return Object.entries(Object(previous)).find(([key, text]) => own(value, key) !== text)?.[0];
}

const givenTwice = (what: string): string => `${what} is given twice with different values; give it once`;
const givenInBoth = (flag: string): UsageError =>
  new UsageError(`${flag} and ${flag}-cents say the same; give one`);

function centsVariant(key: string, flag: string, given: Given, onTwice: OnTwice): CommanderOption {
  const name = `${flag}-cents`;
  const variant = new CommanderOption(`${name} <n>`, `the same in cents`);
  variant.attributeName = () => key;
  variant.argParser((text: string, previous: unknown) => {
    if (given.as === flag) throw givenInBoth(flag);
    const value = parseInteger(name, text, { min: 0 });
    if (previous !== undefined && previous !== value) onTwice(givenTwice(name));
    given.as = name;
    return value;
  });
  return variant;
}

const placeholders = {
  text: 'text',
  integer: 'n',
  number: 'n',
  choice: 'value',
  texts: 'text',
  list: 'a,b',
  pairs: 'key=value',
  money: 'amount',
  date: 'date',
  duration: 'time',
} as const;

const placeholder = (option: Exclude<Option, { kind: 'flag' | 'yes-no' }>): string =>
  option.placeholder ?? placeholders[option.kind];

function describe(option: Option): string {
  const values =
    option.kind === 'choice' ? option.values : option.kind === 'text' ? option.suggests : undefined;
  if (values && !option.description.includes(values.join(', ')))
    return `${option.description} (${values.join(', ')})`;
  if (option.kind === 'list' && option.values) return `${option.description} (${option.values.join(', ')})`;
  if (option.kind === 'integer' && option.min !== undefined && option.max !== undefined) {
    return `${option.description} (${option.min} to ${option.max})`;
  }
  return option.description;
}

/** Lists `--help` with the shared options, so that it is not alone in its own section. */
export function addHelp(mounted: Commander): void {
  mounted.addHelpOption(new CommanderOption('-h, --help', 'show help').helpGroup(globalHeading));
}

/** Adds `--no-input` explicitly, since commander would treat it as the negation of an option `--input`. */
export function addNoInput(mounted: Commander): void {
  mounted.addOption(new CommanderOption('--no-input', 'never ask').helpGroup(globalHeading));
  mounted.addOption(
    new CommanderOption('--no-pager', 'print at once what is longer than the terminal').helpGroup(
      globalHeading,
    ),
  );
  mounted.setOptionValueWithSource('pager', undefined, undefined);
  // Commander presets `input` to true in each command, which would hide what was given before the noun.
  mounted.setOptionValueWithSource('input', undefined, undefined);
}
