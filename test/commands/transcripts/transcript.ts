/**
 * A transcript is the complete record of a session in a 100-column terminal:
 *
 * # a comment, before a command
 * ~ 10m time that passes, for the service and for the program
 * $ errand order list a line for bash; its output follows
 * a line of stdout
 * ! a line of stderr
 * ? 0 the exit code, which ends the output
 * $ ORDER=$(errand order list -o id) stores stdout in a variable for the lines that follow
 */
export type Part =
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'wait'; readonly text: string }
  | { readonly kind: 'command'; readonly text: string; readonly line: string; readonly variable?: string };

/** A command's output as displayed. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

const exitLine = /^\? -?\d+$/;

/** Parses a transcript into commands, notes and waits; skips the output. */
export function readTranscript(text: string): Part[] {
  const parts: Part[] = [];
  let isPrinted = false;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    if (line.startsWith('$ ')) parts.push(command(line));
    else if (!isPrinted) parts.push({ kind: line.startsWith('~ ') ? 'wait' : 'note', text: line });
    isPrinted = line.startsWith('$ ') || (isPrinted && !exitLine.test(line));
  }
  return parts;
}

function command(text: string): Part {
  const [, variable, line] = /^\$ ([A-Z_]+)=\$\((.*)\)$/.exec(text) ?? [];
  if (variable === undefined || line === undefined) return { kind: 'command', text, line: text.slice(2) };
  return { kind: 'command', text, line, variable };
}

/** Formats a command and its output as transcript lines. */
export function showCommand(text: string, { stdout, stderr, code }: Printed): string[] {
  const lines = [text, ...linesOf(stdout), ...linesOf(stderr).map((line) => `! ${line}`)];
  if (lines.some((line, index) => index > 0 && (exitLine.test(line) || line.startsWith('$ '))))
    throw new Error(`what ${text} prints cannot be told from a transcript's own lines`);
  return [...lines, `? ${code}`];
}

function linesOf(text: string): string[] {
  if (text === '') return [];
  return text.endsWith('\n')
    ? text.slice(0, -1).split('\n')
    : [...text.split('\n'), '\\ no newline at the end'];
}

/** Lines that hit a deadline (exit 8) without setting one: the machine was too busy. */
export const unsetDeadlines = (transcript: string): string[] =>
  [...transcript.matchAll(/^\$ (.*)\n(?:(?!\$ |\? ).*\n)*\? 8$/gm)]
    .map(([, line = '']) => line)
    .filter((line) => !line.includes(' --timeout '));
