import type { Measure } from '../../format/width.ts';

/** Break opportunity between the optional parts of a placeholder (`[,quantity=N][,condition=New]`). */
const betweenBrackets = /(?<=\])(?=\[)/;

const unitsOf: Measure = (text) => text.length;

/** Wraps text to lines of at most `width` columns, never breaking a word or a part of a placeholder. */
export function wrap(text: string, width: number, measure: Measure = unitsOf): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s/).filter((part) => part !== '')) {
    for (const [index, part] of word.split(betweenBrackets).entries()) {
      const longer = line === '' ? part : `${line}${index === 0 ? ' ' : ''}${part}`;
      if (line !== '' && measure(longer) > width) {
        lines.push(line);
        line = part;
      } else line = longer;
    }
  }
  return [...lines, line];
}

const words = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g;

/** Joins each flag with its value, if both fit on a line. */
function withValues(parts: readonly string[], width: number): string[] {
  const whole: string[] = [];
  for (const part of parts) {
    const before = whole.at(-1) ?? '';
    const isValue = /^--[a-z-]+$/.test(before) && !part.startsWith('-');
    if (isValue && before.length + part.length < width - 5) whole.splice(-1, 1, `${before} ${part}`);
    else whole.push(part);
  }
  return whole;
}

/** Folds a command line with backslash continuations, so that a shell still reads it as a single command. */
export function foldCommand(command: string, width: number): string[] {
  if (command.length <= width) return [command];
  const lines: string[] = [];
  for (const word of withValues(command.match(words) ?? [], width)) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    // Leave room for the backslash and the space before it.
    if (lines.length > 0 && longer.length > width - 2) lines.push(`  ${word}`);
    else lines.splice(-1, 1, longer);
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} \\` : line));
}
