import { Screen } from '../support/screen.ts';
import { Terminal } from '../support/terminal.ts';
import type { Workspace } from '../support/workspace.ts';

export interface Shown {
  readonly code: number;
  /** The final screen contents. */
  readonly lines: readonly string[];
}

export const columns = 80;
const rows = 60;
/** Before the exit code of each line. */
const mark = '--- exit ';

/** Runs lines in bash in a single 80-column terminal, as a reader would. */
export async function runInTerminal(workspace: Workspace, lines: readonly string[]): Promise<Shown[]> {
  const script = lines.map((line) => `${line}\necho "${mark}$?"\n`).join('');
  const terminal = new Terminal(workspace, 'bash', ['-c', script], { columns, rows });
  try {
    await terminal.ended();
    const screen = new Screen(columns, rows);
    screen.write(terminal.raw.replaceAll('\r\n', '\n'));
    const shown: Shown[] = [];
    let since: string[] = [];
    for (const line of screen.lines()) {
      if (!line.startsWith(mark)) since.push(line);
      else {
        shown.push({ code: Number(line.slice(mark.length)), lines: since });
        since = [];
      }
    }
    return shown;
  } finally {
    terminal.close();
  }
}

/** Run-specific values and their placeholders. */
const passing: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'ID'],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{8,13}\b…?/g, 'ID'],
  [/\b[A-Z]{2}\d{9}[A-Z]{2}\b/g, 'PARCEL'],
  [/\b\d{3}-\d{7}-\d{7}\b/g, 'NUMBER'],
  // Shipping and tax are randomized per order.
  [/\$\d+(?:,\d{3})*\.\d\d/g, 'MONEY'],
  [/(_test_…)\w+/g, '$1KEY'],
  [/\b\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?\b/g, 'DATE'],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|m|min|h)\b(?: ago)?/g, 'TIME'],
  [/\b(?:just )?now\b/g, 'TIME'],
  [/\b(?:Northline Parcel|Swiftpost|Bluevan Express)\b/g, 'CARRIER'],
  [/\b\d+(?:\.\d+)?\/s\b/g, 'RATE'],
  [/\b127\.0\.0\.1:\d+\b/g, 'HOST'],
  [/[─━═-]{3,}/g, '---'],
  [/[ \t]+/g, ' '],
];

/** Normalizes run-specific output: ids, times, and the column widths they cause. */
export const steady = (text: string): string =>
  passing
    .reduce((changed, [pattern, replacement]) => changed.replace(pattern, replacement), text)
    .replace(/ $/gm, '')
    .trim();
