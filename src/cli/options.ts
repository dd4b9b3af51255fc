import { type Command as Commander, Option as CommanderOption } from 'commander';
import { UsageError } from '../errors.ts';
import type { Option, Options } from './define.ts';
import { globalOptions } from './global-options.ts';
import { flagOf, parseInteger, parseOption } from './parse-option.ts';

/** Adds the global options before the noun: `errand -o json order list`. */
export function addGlobalOptions(root: Commander, now: () => number): void {
  addOptions(root, globalOptions, now, 'Global options:');
  addNoInput(root);
}

/** Adds typed options to a command, under a heading of the help. */
export function addOptions(mounted: Commander, options: Options, now: () => number, heading?: string): void {
  for (const [key, option] of Object.entries(options)) {
    for (const made of commanderOptions(key, option, now)) {
      const group = heading ?? (option.group && `${option.group}:`);
      mounted.addOption(group ? made.helpGroup(group) : made);
    }
  }
}

function commanderOptions(key: string, option: Option, now: () => number): CommanderOption[] {
  const flag = option.flag ?? flagOf(key);
  const short = option.short ? `-${option.short}, ` : '';
  if (option.kind === 'flag') return [new CommanderOption(short + flag, option.description)];
  if (option.kind === 'yes-no') {
    const no = new CommanderOption(`--no-${flag.slice(2)}`, `the opposite of ${flag}`);
    return [new CommanderOption(short + flag, option.description), no];
  }
  const made = new CommanderOption(`${short}${flag} <${placeholder(option)}>`, describe(option));
  if (option.flag) made.attributeName = () => key;
  made.argParser((text: string, previous: unknown) => parseOption(flag, option, text, previous, now()));
  return option.kind === 'money' ? [made, centsTwin(key, flag)] : [made];
}

function centsTwin(key: string, flag: string): CommanderOption {
  const twin = new CommanderOption(`${flag}-cents <n>`, `the same in cents`);
  twin.attributeName = () => key;
  twin.argParser((text: string, previous: unknown) => {
    if (previous !== undefined) throw new UsageError(`${flag} and ${flag}-cents say the same; give one`);
    return parseInteger(`${flag}-cents`, text, { min: 0 });
  });
  return twin;
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

/** `--help` among what all commands share, so that a command without options of its own does not end with it alone. */
export function addHelp(mounted: Commander): void {
  mounted.addHelpOption(new CommanderOption('-h, --help', 'show help').helpGroup('Global options:'));
}

/** `--no-input`, which commander would otherwise take for the negation of an option. */
export function addNoInput(mounted: Commander): void {
  mounted.addOption(new CommanderOption('--no-input', 'never ask').helpGroup('Global options:'));
  // Commander presets `input` to true in each command, which would hide what was given before the noun.
  mounted.setOptionValueWithSource('input', undefined, undefined);
}
