import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

/**
 * The ids of events: arguments, `-` standing for stdin, one a line. Duplicates are dropped.
 * @throws UsageError naming what is not an id.
 */
export async function readEventIds(context: Context, given: readonly string[]): Promise<number[]> {
  const ids = new Set<number>();
  for (const text of given) {
    if (text === '-') for (const line of await context.readLines()) ids.add(checked(line.text, line.number));
    else ids.add(checked(text));
  }
  return [...ids];
}

function checked(text: string, line?: number): number {
  if (/^[1-9]\d{0,14}$/.test(text.trim())) return Number(text);
  const place = line === undefined ? '' : ` (stdin, line ${line})`;
  throw new UsageError(
    `event id "${text}"${place} is not a number; \`errand webhook events -o id\` prints them`,
  );
}
