import type { Command as Commander } from 'commander';
import type { AnyCommand, Example } from '../define.ts';

/** A term and its meaning. */
export interface HelpItem {
  readonly term: string;
  readonly text: string;
}

export type HelpPart =
  | { readonly text: string }
  | { readonly items: readonly HelpItem[] }
  | { readonly examples: readonly Example[] };

export interface HelpSection {
  readonly title: string;
  readonly parts: readonly HelpPart[];
  /** Whether this section's texts align with the texts of the other sections for which this is set. */
  readonly isAligned?: boolean;
}

/** Help of a command or noun, for both the TTY and the man page. */
export interface HelpPage {
  /** The name as typed, such as `errand order create`. */
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  /** One paragraph per entry. */
  readonly description: readonly string[];
  readonly sections: readonly HelpSection[];
}

export const globalOptionsTitle = 'Global options';

/** Builds the help page of a mounted command, or of the program if it has no parent. */
export function pageOf(mounted: Commander): HelpPage {
  const [summary = '', ...description] = mounted.description().split('\n\n');
  const own = definitions.get(mounted);
  // Do not list the options of a noun. Its only option is --help, which the reader has just used.
  const options = own || !mounted.parent ? optionSections(mounted) : [];
  const isGlobal = ({ title }: HelpSection): boolean => title === globalOptionsTitle;
  const sections = [
    ...commandSections(mounted),
    itemSection('Arguments', argumentItems(mounted)),
    ...options.filter((section) => !isGlobal(section)),
    ...(own ? definedSections(own) : [mounted.parent ? nounHelp(mounted) : programHelp]),
    ...options.filter(isGlobal),
  ];
  const words = wordsOf(mounted);
  return {
    name: words,
    usage: usageOf(words, mounted, own !== undefined),
    summary,
    description,
    sections: sections.filter(({ parts }) => parts.some(isFilled)),
  };
}

const wordsOf = (mounted: Commander): string =>
  mounted.parent ? `${wordsOf(mounted.parent)} ${mounted.name()}` : mounted.name();

function usageOf(words: string, mounted: Commander, isCommand: boolean): string {
  const named = [words, ...mounted.aliases()].join('|');
  if (!isCommand) return `${named} <command> [options]`;
  return [named, ...mounted.registeredArguments.map(placeholderOf), '[options]'].join(' ');
}

function placeholderOf(argument: Commander['registeredArguments'][number]): string {
  const name = argument.variadic ? `${argument.name()}...` : argument.name();
  return argument.required ? `<${name}>` : `[${name}]`;
}

const isFilled = (part: HelpPart): boolean =>
  'text' in part ? part.text !== '' : ('items' in part ? part.items : part.examples).length > 0;

const itemSection = (title: string, items: readonly HelpItem[]): HelpSection => ({
  title,
  parts: [{ items }],
  isAligned: true,
});

const argumentItems = (mounted: Commander): HelpItem[] =>
  mounted.registeredArguments.map((argument) => ({ term: argument.name(), text: argument.description }));

/** Groups items, in order of first appearance. */
function grouped<T>(all: readonly T[], groupOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const title = groupOf(one).replace(/:$/, '');
    const group = groups.get(title);
    if (group) group.push(one);
    else groups.set(title, [one]);
  }
  return groups;
}

function optionSections(mounted: Commander): HelpSection[] {
  const options = mounted.createHelp().visibleOptions(mounted);
  const groups = grouped(options, ({ helpGroupHeading }) => helpGroupHeading ?? 'Options');
  return [...groups].map(([title, members]) => {
    const items = members.map(({ flags, description }) => ({ term: flags, text: description }));
    return { ...itemSection(title, items), isAligned: title !== globalOptionsTitle };
  });
}

function commandSections(mounted: Commander): HelpSection[] {
  const groups = grouped(mounted.commands, (command) => command.helpGroup() || 'Commands');
  return [...groups].map(([title, members]) =>
    itemSection(
      title,
      members.map((command) => ({
        term: [
          [command.name(), ...command.aliases()].join('|'),
          ...command.registeredArguments.map(placeholderOf),
        ].join(' '),
        text: command.summary() || command.description(),
      })),
    ),
  );
}

const programHelp: HelpSection = {
  title: 'More',
  parts: [
    {
      items: [
        { term: 'errand COMMAND --help', text: 'its arguments, options and examples' },
        { term: 'errand help TOPIC', text: 'options, exit-codes, environment, output, ids, money, policy' },
      ],
    },
  ],
};

function nounHelp(mounted: Commander): HelpSection {
  const words = wordsOf(mounted);
  const defaultCommand = mounted.commands.find((command) => definitions.get(command)?.command.isDefault);
  const items = [{ term: `${words} COMMAND --help`, text: 'its arguments, options and examples' }];
  if (defaultCommand)
    items.unshift({ term: words, text: `the same as \`${words} ${defaultCommand.name()}\`` });
  return { title: 'More', parts: [{ items }] };
}

/** Sections that come from the command's definition, because commander does not know their content. */
function definedSections({
  command,
  endpoints,
}: NonNullable<ReturnType<typeof definitions.get>>): HelpSection[] {
  const { lists = [], examples, exitCodes = {}, related = [] } = command;
  return [
    ...lists.map(({ title, rows, note = '' }) => ({
      title,
      parts: [{ items: itemsOf(rows) }, { text: note }],
    })),
    { title: 'Examples', parts: [{ examples }] },
    { title: 'Exit codes', parts: [{ items: itemsOf(exitCodes) }] },
    { title: 'Endpoint', parts: endpoints.map((text) => ({ text })) },
    { title: 'See also', parts: [{ text: related.join(', ') }] },
  ];
}

const itemsOf = (rows: Readonly<Record<string, string>>): HelpItem[] =>
  Object.entries(rows).map(([term, text]) => ({ term, text }));

interface Defined {
  readonly command: AnyCommand;
  /** `POST /orders` */
  readonly endpoints: readonly string[];
}

/**
 * Definitions of the mounted commands, for their help. They are stored here, so that the program's own help need not
 * load the contract.
 */
export const definitions = new WeakMap<Commander, Defined>();
