import { readdirSync, readFileSync } from 'node:fs';

const here = new URL('.', import.meta.url);

/** The names of all stories. */
export const stories = readdirSync(here).filter((name) => name.endsWith('.story'));

/**
 * A story is a user session as shell lines with their output:
 *
 * # a comment
 * $ errand order list --status pending a line for bash
 * an expected line of stdout `…` matches any text, a line of `…` alone any number of lines
 * ! an expected line of stderr in this order, with others allowed in between
 * ? 2 the exit code, 0 if omitted
 * $ ORDER=$(errand order list -o id) stores stdout in a variable for the lines that follow
 */
export interface Step {
  readonly line: string;
  readonly number: number;
  readonly variable: string | undefined;
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
  readonly code: number;
}

export const storySteps = (name: string): Step[] => parseStory(readFileSync(new URL(name, here), 'utf8'));

/** Parses a story. @throws Error naming a line that precedes the first command. */
function parseStory(text: string): Step[] {
  const steps: {
    line: string;
    number: number;
    variable: string | undefined;
    stdout: string[];
    stderr: string[];
    code: number;
  }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('#') || line.trim() === '') continue;
    const step = steps.at(-1);
    if (line.startsWith('$ ')) steps.push(newStep(line.slice(2), index + 1));
    else if (!step) throw new Error(`line ${index + 1} stands before the first command`);
    else if (line.startsWith('! ')) step.stderr.push(line.slice(2));
    else if (line.startsWith('? ')) step.code = Number(line.slice(2));
    else step.stdout.push(line);
  }
  return steps;
}

function newStep(line: string, number: number) {
  const kept = /^([A-Z_]+)=\$\((.*)\)$/.exec(line);
  return { line: kept?.[2] ?? line, number, variable: kept?.[1], stdout: [], stderr: [], code: 0 };
}

/** Whether a printed line is the expected one; `…` matches any text. */
export function lineMatches(expected: string, actual: string): boolean {
  const pattern = expected.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${pattern.join('.*')}$`, 's').test(actual);
}

/** Compares all of stdout; returns undefined if it matches, otherwise the difference. */
export function stdoutProblem(expected: readonly string[], actual: readonly string[]): string | undefined {
  const [first, ...rest] = expected;
  if (first === undefined) return actual.length === 0 ? undefined : `unexpected: ${actual[0]}`;
  if (first === '…') {
    const fits = Array.from({ length: actual.length + 1 }, (_, skip) =>
      stdoutProblem(rest, actual.slice(skip)),
    );
    return fits.includes(undefined) ? undefined : (fits[0] ?? 'no match');
  }
  const [line, ...others] = actual;
  if (line === undefined) return `missing: ${first}`;
  return lineMatches(first, line) ? stdoutProblem(rest, others) : `expected: ${first}\n     got: ${line}`;
}

/** Returns the first expected stderr line that is missing or out of order. */
export function stderrProblem(expected: readonly string[], actual: readonly string[]): string | undefined {
  let from = 0;
  for (const line of expected) {
    const at = actual.findIndex((candidate, index) => index >= from && lineMatches(line, candidate));
    if (at < 0) return `missing on stderr: ${line}`;
    from = at + 1;
  }
  return undefined;
}
