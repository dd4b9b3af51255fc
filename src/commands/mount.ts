import { type Command as Commander, Option as CommanderOption } from 'commander';
import { operations } from '../contract/operations/index.ts';
import { UsageError } from '../errors.ts';
import type { AnyCommand, Noun, Option, Options } from './define.ts';
import { globalOptions, requestOptions, writeOptions } from './global-options.ts';
import { flagOf, parseInteger, parseOption } from './parse-option.ts';

export type Values = Readonly<Record<string, unknown>>;

/** Runs a command with what was parsed; `globals` are the values of the global options. */
export type Runner = (command: AnyCommand, input: Values, globals: Values) => Promise<void>;

/** Mounts a noun with its verbs (a verb may be a noun of its own) under `parent`. */
export function mountNoun(parent: Commander, noun: Noun, run: Runner, now: () => number): void {
  const mounted = parent
    .command(noun.name)
    .description(noun.summary)
    .helpCommand(false)
    .aliases([...(noun.aliases ?? [])]);
  for (const verb of noun.verbs) {
    if ('verbs' in verb) mountNoun(mounted, verb, run, now);
    else mountCommand(mounted, verb, run, now);
  }
}

/** Mounts one command: arguments, options, help and action. */
export function mountCommand(parent: Commander, command: AnyCommand, run: Runner, now: () => number): void {
  const mounted = parent.command(command.name).aliases([...(command.aliases ?? [])]);
  mounted.description(command.description ? `${command.summary}\n\n${command.description}` : command.summary);
  mounted.summary(command.summary);
  for (const argument of command.arguments ?? []) {
    const name = argument.variadic ? `${argument.name}...` : argument.name;
    mounted.argument(argument.required ? `<${name}>` : `[${name}]`, argument.description);
  }
  addOptions(mounted, command.options ?? {}, now);
  const shared = sharedOptions(command);
  addOptions(mounted, shared, now, 'Global options:');
  addNoInput(mounted);
  mounted.addHelpText('after', afterHelp(command));
  mounted.action(async (...received: unknown[]) => {
    const parsed = { ...root(mounted).opts(), ...mounted.opts() };
    const input = {
      ...argumentValues(command, received),
      ...pick(parsed, Object.keys(command.options ?? {})),
    };
    await run(command, input, pick(parsed, [...Object.keys(shared), 'input']));
  });
}

/** Adds the global options before the noun: `errand -o json order list`. */
export function addGlobalOptions(root: Commander, now: () => number): void {
  addOptions(root, globalOptions, now, 'Global options:');
  addNoInput(root);
}

function sharedOptions(command: AnyCommand): Options {
  const called = (command.operations ?? []).map((name) => operations[name]);
  const writes = called.some((operation) => operation.method !== 'GET');
  const shared: Options = {
    ...globalOptions,
    ...(called.length > 0 && requestOptions),
    ...(writes && writeOptions),
  };
  const own = Object.keys(command.options ?? {});
  return Object.fromEntries(Object.entries(shared).filter(([key]) => !own.includes(key)));
}

const root = (mounted: Commander): Commander => (mounted.parent ? root(mounted.parent) : mounted);

function addOptions(mounted: Commander, options: Options, now: () => number, heading?: string): void {
  for (const [key, option] of Object.entries(options)) {
    for (const made of commanderOptions(key, option, now)) {
      const group = heading ?? (option.group && `${option.group}:`);
      mounted.addOption(group ? made.helpGroup(group) : made);
    }
  }
}

function commanderOptions(key: string, option: Option, now: () => number): CommanderOption[] {
  const flag = flagOf(key);
  const short = option.short ? `-${option.short}, ` : '';
  if (option.kind === 'flag') return [new CommanderOption(short + flag, option.description)];
  if (option.kind === 'yes-no') {
    const no = new CommanderOption(`--no-${flag.slice(2)}`, `not: ${option.description}`);
    return [new CommanderOption(short + flag, option.description), no];
  }
  const made = new CommanderOption(`${short}${flag} <${placeholder(option)}>`, describe(option));
  made.argParser((text: string, previous: unknown) => parseOption(flag, option, text, previous, now()));
  return option.kind === 'money' ? [made, centsTwin(key, flag)] : [made];
}

function centsTwin(key: string, flag: string): CommanderOption {
  const twin = new CommanderOption(`${flag}-cents <n>`, `the same in cents`);
  twin.attributeName = () => key;
  twin.argParser((text: string, previous: unknown) => {
    if (previous !== undefined) throw new UsageError(`${flag} and ${flag}-cents say the same; give one`);
    return { cents: parseInteger(`${flag}-cents`, text, { min: 0 }) };
  });
  return twin;
}

const placeholders = {
  text: 'text',
  integer: 'n',
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
  if (option.kind === 'choice' && !option.description.includes(option.values.join(', '))) {
    return `${option.description} (${option.values.join(', ')})`;
  }
  if (option.kind === 'list' && option.values) return `${option.description} (${option.values.join(', ')})`;
  if (option.kind === 'integer' && option.min !== undefined && option.max !== undefined) {
    return `${option.description} (${option.min} to ${option.max})`;
  }
  return option.description;
}

function addNoInput(mounted: Commander): void {
  mounted.addOption(new CommanderOption('--no-input', 'never ask').helpGroup('Global options:'));
}

function argumentValues(command: AnyCommand, received: readonly unknown[]): Values {
  const values = (command.arguments ?? []).map((argument, index) => {
    const value = received[index];
    const empty = value === '' || (Array.isArray(value) && value.includes(''));
    if (empty) throw new UsageError(`${argument.name} is empty; give it a value`);
    return [argument.name, value];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function pick(parsed: Values, keys: readonly string[]): Values {
  return Object.fromEntries(keys.filter((key) => parsed[key] !== undefined).map((key) => [key, parsed[key]]));
}

function afterHelp(command: AnyCommand): string {
  const sections = [
    section(
      'Examples',
      command.examples.map(({ command: line, note }) => `# ${note}\n  ${line}`),
    ),
    section(
      'Exit codes',
      Object.entries(command.exitCodes ?? {}).map(([code, meaning]) => `${code}  ${meaning}`),
    ),
    section(
      'Endpoint',
      (command.operations ?? []).map((name) => `${operations[name].method} ${operations[name].path}`),
    ),
    section('See also', command.related?.length ? [command.related.join(', ')] : []),
  ];
  return sections.join('');
}

const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;
