import { foldCommand } from '../output/wrap.ts';
import { globalOptionsTitle, type HelpPage, type HelpPart, type HelpSection } from './page.ts';
import type { HelpTopic } from './topics.ts';

/** Width of an example's command line: 80 columns minus the man page margins. */
const exampleWidth = 64;

const special: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  '"': '\\(dq',
};

/** Escapes text for roff, so that no character acts as a request. */
export const escaped = (text: string): string =>
  text
    .replace(/[\\'`^~"-]/g, (sign) => special[sign] ?? sign)
    .replace(
      /[^\x20-\x7e\n]/gu,
      (sign) => `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    // Allow line breaks between the parts of a value.
    .replace(/(?<=\S)\[(?=,)/g, '\\:[')
    // Escape a dot at the start of a line, because roff would take the line for a request.
    .replace(/^\./gm, '\\&.');

const bold = (text: string): string => `\\fB${escaped(text)}\\fR`;

/** Formats a term: literals in bold, placeholders in italics without brackets. */
const termOf = (term: string): string =>
  term
    .split(/(<[^ ]{1,80}>)/)
    .map((part) =>
      part.startsWith('<') ? `\\fI${escaped(part.slice(1, -1))}\\fR` : part === '' ? '' : bold(part),
    )
    .join('');

/** Page name: `errand order create` becomes `errand-order-create`. */
export const manName = (words: string): string => words.replaceAll(' ', '-');

export interface ManReference {
  readonly name: string;
  readonly section: 1 | 7;
}

const errand: ManReference = { name: 'errand', section: 1 };
const reference = ({ name, section }: ManReference): string => `${bold(name)}(${section})`;

interface Title extends ManReference {
  readonly version: string;
  readonly summary: string;
}

const heading = ({ name, section, version, summary }: Title): string[] => [
  `.TH "${escaped(name.toUpperCase())}" ${section} "" "errand ${escaped(version)}" "errand"`,
  // Disable hyphenation and justification, because users copy options and commands from the page.
  '.nh',
  '.ad l',
  '.SH NAME',
  `${escaped(name)} \\- ${escaped(summary.replace(/\.$/, ''))}`,
];

/**
 * Renders the man page of a command, section 1. @param children lists the pages of its subcommands and of the topics.
 */
export function manPage(page: HelpPage, version: string, children: readonly ManReference[]): string {
  const isProgram = page.name === 'errand';
  const global = page.sections.find(({ title }) => title === globalOptionsTitle);
  const plain = page.sections.filter((one) => !apart.has(one.title) && (isProgram || one !== global));
  const hasCommands = children.length > 0;
  const isOption = ({ title }: HelpSection): boolean =>
    !hasCommands || title === 'Options' || title === globalOptionsTitle;
  const aligned = plain.filter((one) => one.isAligned || one === global);
  const named = (title: string): readonly HelpPart[] =>
    page.sections.find((section) => section.title === title)?.parts ?? [];
  const [first = '', ...more] = [page.summary, ...page.description];
  const name = manName(page.name);
  const summary = isProgram ? 'buy from online retailers on the command line' : page.summary;
  const exits = named('Exit codes').flatMap(partLines);
  const shared =
    global && !isProgram ? `The options that all commands have are in ${reference(errand)}.` : '';
  return lines([
    ...heading({ name, section: 1, version, summary }),
    '.SH SYNOPSIS',
    ...usageLines(page),
    '.SH DESCRIPTION',
    escaped(sentence(first)),
    ...more.flatMap((text) => ['.PP', escaped(text)]),
    ...group(
      'Commands',
      aligned.filter((one) => !isOption(one)),
    ),
    ...group('Options', aligned.filter(isOption), shared),
    ...plain.filter((one) => !aligned.includes(one)).flatMap(section),
    ...section({ title: 'Examples', parts: named('Examples') }),
    '.SH EXIT STATUS',
    ...(exits.length === 0 ? [] : ['.TP', bold('0'), 'done', ...exits, '.PP']),
    `All exit codes are in ${reference({ name: 'errand-exit-codes', section: 7 })}.`,
    '.SH SEE ALSO',
    [...relatedPages(page.name, named('See also')), ...children].map(reference).join(',\n'),
  ]);
}

/** Renders the man page of a help topic, section 7. */
export const topicPage = (name: string, topic: HelpTopic, version: string): string =>
  lines([
    ...heading({
      name: `errand-${name}`,
      section: 7,
      version,
      summary: topic.summary,
    }),
    '.SH DESCRIPTION',
    ...topic.parts.flatMap(partLines).slice(topic.parts[0] && 'text' in topic.parts[0] ? 1 : 0),
    '.SH SEE ALSO',
    reference(errand),
  ]);

/** Titles of the sections that are placed separately. */
const apart = new Set(['Examples', 'Exit codes', 'See also', 'More']);

const lines = (all: readonly string[]): string => `${all.filter((line) => line !== '').join('\n')}\n`;

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Usage line: literals in bold up to the first placeholder. */
function usageLines({ usage }: HelpPage): string[] {
  const end = usage.search(/ [<[]/);
  return [bold(usage.slice(0, end)) + escaped(usage.slice(end))];
}

const section = ({ title, parts }: HelpSection): string[] =>
  parts.length === 0
    ? []
    : [`.SH ${escaped(title.toUpperCase())}`, ...withoutFirstBreak(parts.flatMap(partLines))];

/**
 * Groups sections under one heading. A section whose name is the same as the heading gets no subheading.
 * @param last is the closing sentence.
 */
function group(title: string, sections: readonly HelpSection[], last = ''): string[] {
  if (sections.length === 0 && last === '') return [];
  const below = sections.flatMap((one) => [
    ...(one.title === title ? [] : [`.SS ${escaped(one.title)}`]),
    ...withoutFirstBreak(one.parts.flatMap(partLines)),
  ]);
  const end = last === '' ? [] : below.length === 0 ? [last] : ['.PP', last];
  return [`.SH ${escaped(title.toUpperCase())}`, ...below, ...end];
}

/** Drops the paragraph break directly after a heading. */
const withoutFirstBreak = ([first, ...more]: readonly string[]): string[] =>
  first === '.PP' || first === undefined ? more : [first, ...more];

function partLines(part: HelpPart): string[] {
  if ('text' in part) return part.text === '' ? [] : ['.PP', escaped(part.text)];
  if ('items' in part)
    return part.items.flatMap(({ term, text }) => ['.TP', termOf(term.trim()), escaped(text)]);
  return part.examples.flatMap(({ note, command }) => [
    '.PP',
    escaped(`${note.slice(0, 1).toUpperCase()}${note.slice(1)}`),
    ...['.PP', '.RS 4', '.nf'],
    ...foldCommand(command, exampleWidth).map(escaped),
    ...['.fi', '.RE'],
  ]);
}

/** The parent command, and the pages the command refers to. */
function relatedPages(name: string, parts: readonly HelpPart[]): ManReference[] {
  const related = parts.flatMap((part) => ('text' in part ? part.text.split(', ') : []));
  const parent = name.split(' ').slice(0, -1).join(' ');
  const pages = new Set([...(parent === '' ? [] : [parent]), ...related.map((one) => `errand ${one}`)]);
  return [...pages].map((one) => {
    const topic = /^errand help (.+)$/.exec(one)?.[1];
    return topic === undefined
      ? { name: manName(one), section: 1 }
      : { name: manName(`errand ${topic}`), section: 7 };
  });
}
