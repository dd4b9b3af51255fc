import type { Measure } from '../../format/width.ts';

/** Between the optional parts of a placeholder (`[,quantity=N][,condition=New]`) a line may end. */
const betweenBrackets = /(?<=\])(?=\[)/;

const unitsOf: Measure = (text) => text.length;

/** Lines of at most `width` columns, where words allow it: none is ever broken, nor is a placeholder. */
export function wrap(text: string, width: number, measure: Measure = unitsOf): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s/).filter((part) => part !== '')) {
    for (const [index, piece] of word.split(betweenBrackets).entries()) {
      const longer = line === '' ? piece : `${line}${index === 0 ? ' ' : ''}${piece}`;
      if (line !== '' && measure(longer) > width) {
        lines.push(line);
        line = piece;
      } else line = longer;
    }
  }
  return [...lines, line];
}

const words = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g;

/** Words of a command, each flag with its value where a line has room for both. */
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

/** A command line on several, each but the last ending in a backslash, so that a shell takes them as one. */
export function foldCommand(command: string, width: number): string[] {
  if (command.length <= width) return [command];
  const lines: string[] = [];
  for (const word of withValues(command.match(words) ?? [], width)) {
    const longer = lines.length === 0 ? word : `${lines.at(-1)} ${word}`;
    // The backslash and the space before it.
    if (lines.length > 0 && longer.length > width - 2) lines.push(`  ${word}`);
    else lines.splice(-1, 1, longer);
  }
  return lines.map((line, index) => (index < lines.length - 1 ? `${line} \\` : line));
}
