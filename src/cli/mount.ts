import type { Command as Commander } from 'commander';
import { operations } from '../api/operations/index.ts';
import { UsageError } from '../platform/errors.ts';
import type { Options } from '../run/option.ts';
import type { AnyCommand, Noun } from './define.ts';
import { globalOptions, requestOptions, writeOptions } from './global-options.ts';
import { definitions } from './help/page.ts';
import { onlyReads } from './known-fields.ts';
import { addHelp, addNoInput, addOptions, globalHeading, type OnTwice } from './options.ts';

export type Values = Readonly<Record<string, unknown>>;

/**
 * A parsed command line. `path` holds its words (`order create`), and `globals` holds the values of the global options.
 */
export interface CommandLine {
  readonly path: string;
  readonly command: AnyCommand;
  readonly input: Values;
  readonly globals: Values;
}

export type Runner = (line: CommandLine) => Promise<void>;

export interface Mounting {
  readonly run: Runner;
  readonly now: () => number;
  /**
   * Whether the command line may refer to any of these names. A command that the line cannot refer to is mounted only
   * with what listings need. If this function is absent, every command is mounted completely.
   */
  readonly mayName?: (names: readonly string[]) => boolean;
}

/** Mounts a noun with its verbs (a verb may itself be a noun) under `parent`. */
export function mountNoun(parent: Commander, noun: Noun, mounting: Mounting): Commander {
  const mounted = parent
    .command(noun.name)
    .description(noun.summary)
    .helpCommand(false)
    .aliases([...(noun.aliases ?? [])]);
  for (const verb of noun.verbs) {
    if ('verbs' in verb) mountNoun(mounted, verb, mounting);
    else mountCommand(mounted, verb, mounting);
  }
  return mounted;
}

/** Mounts one command: arguments, options, help and action. */
export function mountCommand(
  parent: Commander,
  command: AnyCommand,
  { run, now, mayName }: Mounting,
): Commander {
  const { name, aliases = [], isDefault = false } = command;
  const mounted = parent.command(name, { isDefault }).aliases([...aliases]);
  mounted.description(command.description ? `${command.summary}\n\n${command.description}` : command.summary);
  mounted.summary(command.summary);
  for (const argument of command.arguments ?? []) {
    const name = argument.variadic ? `${argument.name}...` : argument.name;
    mounted.argument(argument.required ? `<${name}>` : `[${name}]`, argument.description);
  }
  if (!isDefault && mayName?.([name, ...aliases]) === false) return mounted;
  const twice: string[] = [];
  const onTwice: OnTwice = (message) => twice.push(message);
  addOptions(mounted, command.options ?? {}, now, { onTwice });
  const shared = sharedOptions(command);
  const isGlobal = (key: string): boolean => Object.hasOwn(globalOptions, key);
  const [everywhere, requests] = [
    pickOptions(shared, isGlobal),
    pickOptions(shared, (key) => !isGlobal(key)),
  ];
  addOptions(mounted, requests, now, { heading: 'Requests:' });
  addOptions(mounted, everywhere, now, { heading: globalHeading });
  addNoInput(mounted);
  addHelp(mounted);
  definitions.set(mounted, { command, endpoints: endpointsOf(command) });
  mounted.action(async (...received: unknown[]) => {
    const parsed = { ...root(mounted).opts(), ...given(mounted.opts()) };
    const input = {
      ...argumentValues(command, received),
      ...pick(parsed, Object.keys(command.options ?? {})),
    };
    // Refuse an option that was given twice. A command that writes or spends must not silently use the last of two
    // values.
    if (twice[0] !== undefined && !onlyReads(command, input)) throw new UsageError(twice[0]);
    const globals = pick(parsed, [...Object.keys(shared), 'input', 'pager']);
    await run({ path: pathOf(mounted), command, input, globals });
  });
  return mounted;
}

function sharedOptions(command: AnyCommand): Options {
  const called = command.anyOperation
    ? Object.values(operations)
    : (command.operations ?? []).map((name) => operations[name]);
  const writes = called.some((operation) => operation.method !== 'GET');
  const shared: Options = {
    ...globalOptions,
    ...(called.length > 0 && requestOptions),
    ...(writes && writeOptions),
  };
  const own = Object.keys(command.options ?? {});
  return Object.fromEntries(Object.entries(shared).filter(([key]) => !own.includes(key)));
}

const pickOptions = (options: Options, isPicked: (key: string) => boolean): Options =>
  Object.fromEntries(Object.entries(options).filter(([key]) => isPicked(key)));

const endpointsOf = ({ operations: names = [] }: AnyCommand): string[] =>
  names.map((name) => `${operations[name].method} ${operations[name].path}`);

/** Drop options not given here, so that they do not override those given before the noun. */
const given = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const pathOf = (mounted: Commander): string => {
  const { parent } = mounted;
  return parent?.parent ? `${pathOf(parent)} ${mounted.name()}` : mounted.name();
};

const root = (mounted: Commander): Commander => (mounted.parent ? root(mounted.parent) : mounted);

function argumentValues(command: AnyCommand, received: readonly unknown[]): Values {
  const values = (command.arguments ?? []).map((argument, index) => {
    const value = received[index];
    const empty = value === '' || (Array.isArray(value) && value.includes(''));
    const leave = argument.required ? '' : ' or leave it out';
    if (empty) throw new UsageError(`${argument.name} is empty; give it a value${leave}`);
    return [argument.name, value];
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function pick(parsed: Values, keys: readonly string[]): Values {
  return Object.fromEntries(keys.filter((key) => parsed[key] !== undefined).map((key) => [key, parsed[key]]));
}
