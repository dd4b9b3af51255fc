import type { Command as Commander, Option as CommanderOption } from 'commander';
import type { Tree, TreeOption } from '../cli/completion/tree.ts';
import { hintOf, optionHint } from '../cli/completion/tree.ts';
import type { RootCommand, RootNoun } from '../cli/define.ts';
import { globalOptions, requestOptions, writeOptions } from '../cli/global-options.ts';
import { topics } from '../cli/help/topics.ts';
import type { Option, Options } from '../run/option.ts';
import { describedProgram, entries } from './program.ts';

type Definition = RootCommand | RootNoun;

/**
 * Builds the completion tree from the program itself, so that completion offers exactly what commander parses. Loads
 * every command. The build calls this once and saves the tree.
 */
export async function describeProgram(): Promise<Tree> {
  const program = await describedProgram();
  const definitions = new Map<string, Definition>();
  for (const entry of entries) {
    const loaded = await entry.load();
    definitions.set(entry.name, 'noun' in loaded ? loaded.noun : loaded.command);
  }
  const shared = new Set(program.options.map(signature));
  const children = program.commands.map((command) => {
    const definition = definitions.get(command.name());
    return definition ? node(command, definition, shared) : help(command);
  });
  return {
    name: 'errand',
    text: '',
    options: [...program.options.map((option) => treeOption(option, globalOptions)), ...helpAndVersion],
    children,
  };
}

const helpAndVersion: readonly TreeOption[] = [{ flags: ['--help', '-h'], text: 'show help' }];

function help(command: Commander): Tree {
  const children = Object.keys(topics).map((name) => ({ name, text: 'topic of the help' }));
  return { name: command.name(), text: command.summary() || command.description(), children, mirrors: true };
}

function node(command: Commander, definition: Definition, shared: ReadonlySet<string>): Tree {
  const named = { name: command.name(), text: firstLine(command.summary() || command.description()) };
  const aliases = command.aliases().length > 0 ? { aliases: command.aliases() } : {};
  if ('verbs' in definition) {
    const fallback = definition.verbs.find((verb) => 'isDefault' in verb && verb.isDefault === true);
    return {
      ...named,
      ...aliases,
      ...(fallback && { fallback: fallback.name }),
      children: command.commands.flatMap((child) => {
        const verb = definition.verbs.find(({ name }) => name === child.name());
        return verb ? [node(child, verb, shared)] : [];
      }),
    };
  }
  const known: Options = { ...globalOptions, ...requestOptions, ...writeOptions, ...definition.options };
  const namesCommands = definition.arguments?.some(({ completes }) => completes === 'commands');
  return {
    ...named,
    ...aliases,
    ...(namesCommands && {
      mirrors: true as const,
      isDotted: true as const,
      children: [{ name: 'error', text: 'what any command prints where it fails' }],
    }),
    options: command.options
      .filter((option) => !option.hidden && !shared.has(signature(option)))
      .map((it) => treeOption(it, known)),
    arguments: (definition.arguments ?? []).map((argument) => ({
      takes: hintOf(argument),
      ...(argument.variadic && { variadic: true }),
    })),
  };
}

const signature = ({ flags, description }: CommanderOption): string => `${flags}\n${description}`;

function treeOption(option: CommanderOption, known: Options): TreeOption {
  const definition: Option | undefined = known[option.attributeName()];
  const isCentsOption = option.long?.endsWith('-cents') === true;
  return {
    flags: [option.long, option.short].filter((flag) => flag !== undefined && flag !== null),
    text: firstLine(option.description),
    ...((option.required || option.optional) && {
      takes: definition && !isCentsOption ? optionHint(definition) : {},
    }),
    ...(definition && repeated.has(definition.kind) && { repeats: true }),
  };
}

const repeated: ReadonlySet<Option['kind']> = new Set(['texts', 'list', 'pairs']);

const firstLine = (text: string): string => text.split('\n')[0] ?? '';
