import type { Io } from '../../platform/streams.ts';
import type { Example } from '../define.ts';
import { asTyped } from '../output/as-typed.ts';
import { noPaint, type Paint, paintFor } from '../output/paint.ts';
import { foldCommand, wrap } from '../output/wrap.ts';
import { globalOptionsTitle, type HelpItem, type HelpPage, type HelpPart, type HelpSection } from './page.ts';

/** Properties of the output that a help page is adapted to. */
export interface HelpStyle {
  /** Width in columns. */
  readonly width: number;
  readonly paint: Paint;
  /** Rewrites a command line the way the user types it on this terminal. */
  readonly asTyped: (text: string) => string;
}

/** Maximum line width for readability, on any terminal. */
const widest = 120;
/** The term column grows up to this width. A longer term gets a line of its own. */
const maxTermLength = 30;
/** Minimum width of the text beside a term. If there is less room, the text is placed below its term. */
const narrowest = 24;

/** Formats a help page for a TTY. */
export function layOutPage(given: HelpPage, style: HelpStyle): string {
  const { paint } = style;
  const page = { ...given, sections: given.sections.map((section) => typedSection(section, style)) };
  const width = Math.min(style.width, widest);
  const [first = '', ...more] = wrap(page.usage, width - 'Usage: '.length);
  const usage = [`${paint.strong('Usage:')} ${first}`, ...more.map((line) => `${' '.repeat(7)}${line}`)];
  const paragraphs = [page.summary, ...page.description].map((text) => wrap(text, width));
  const aligned = columnOf(page.sections.filter(({ isAligned }) => isAligned).flatMap(itemsOf));
  const sections = page.sections.map((section) =>
    sectionLines(section, { ...style, width }, section.isAligned ? aligned : columnOf(itemsOf(section))),
  );
  return asText([usage, ...paragraphs, ...sections]);
}

/** Formats a help topic for a TTY. */
export function layOutTopic(given: HelpSection, style: HelpStyle): string {
  const topic = typedSection(given, style);
  const fitting = { ...style, width: Math.min(style.width, widest) };
  const column = columnOf(itemsOf(topic));
  const parts = topic.parts.map((part) => partLines(part, fitting, column));
  return asText([[style.paint.strong(topic.title)], ...parts]);
}

/** Rewrites a section's command lines the way the user types them on this terminal. */
const typedSection = (section: HelpSection, { asTyped }: HelpStyle): HelpSection => ({
  ...section,
  parts: section.parts.map((part): HelpPart => {
    if ('text' in part) return { text: asTyped(part.text) };
    if ('examples' in part)
      return { examples: part.examples.map((one) => ({ ...one, command: asTyped(one.command) })) };
    return { items: part.items.map(({ term, text }) => ({ term: asTyped(term), text: asTyped(text) })) };
  }),
});

const asText = (blocks: readonly (readonly string[])[]): string =>
  `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;

const itemsOf = ({ parts }: HelpSection): HelpItem[] =>
  parts.flatMap((part) => ('items' in part ? part.items : []));

/** Column where the texts of these items start. */
const columnOf = (items: readonly HelpItem[]): number =>
  Math.max(0, ...items.map(({ term }) => term.length).filter((length) => length <= maxTermLength)) + 4;

function sectionLines({ title, parts }: HelpSection, style: HelpStyle, column: number): string[] {
  // Do not list the global options here, because every command has them. Refer to the page that lists them instead.
  if (title === globalOptionsTitle)
    return [
      `${style.paint.strong(`${title}:`)} ${style.paint.command(style.asTyped('errand help options'))}`,
    ];
  return [style.paint.strong(`${title}:`), ...parts.flatMap((part) => partLines(part, style, column))];
}

function partLines(part: HelpPart, style: HelpStyle, column: number): string[] {
  if ('items' in part) return part.items.flatMap((item) => itemLines(item, style, column));
  if ('examples' in part) return part.examples.flatMap((example) => exampleLines(example, style));
  return part.text === '' ? [] : indented(wrap(part.text, style.width - 2), 2);
}

function itemLines({ term, text }: HelpItem, { width, paint }: HelpStyle, column: number): string[] {
  const painted = paintTerm(term, paint);
  const room = width - column;
  const isBelow = room < narrowest || wrap(text, room).some((line) => line.length > room);
  const indent = isBelow ? 6 : column;
  const lines = wrap(text, width - indent);
  if (isBelow || term.length > column - 4) return [`  ${painted}`, ...indented(lines, indent)];
  const [first = '', ...more] = lines;
  const spaces = ' '.repeat(column - 2 - term.length);
  return [`  ${painted}${spaces}${first}`.trimEnd(), ...indented(more, column)];
}

/** Colors the literal part of a term, not its placeholders. */
function paintTerm(term: string, paint: Paint): string {
  const end = term.search(/ [<[]/);
  return end < 0 ? paint.command(term) : paint.command(term.slice(0, end)) + term.slice(end);
}

const exampleLines = ({ note, command }: Example, { width, paint }: HelpStyle): string[] => [
  ...indented(wrap(note, width - 4), 2, (line) => paint.faint(`# ${line}`)),
  ...indented(foldCommand(command, width - 2), 2, paint.command),
];

const indented = (
  lines: readonly string[],
  indent: number,
  paint: (line: string) => string = (line) => line,
): string[] => lines.map((line) => ' '.repeat(indent) + paint(line));

/** Look without a TTY. */
export const plainStyle: HelpStyle = { width: 100, paint: noPaint, asTyped: (text) => text };

/** Detects how help pages should look on these streams. */
export async function styleOf(io: Io): Promise<HelpStyle> {
  return {
    width: io.stdout.columns() || plainStyle.width,
    paint: await paintFor(io.stdout.color),
    asTyped: (text) => asTyped(text, io, 'stdout'),
  };
}
