import { uuidPattern } from '../api/limits.ts';
import { ErrandError, UsageError } from '../platform/errors.ts';
import type { Context } from './context.ts';
import { RequestPreview } from './request-preview.ts';

/**
 * Reads a command's ids from its arguments; `-` reads them from stdin, one per line. Drops duplicates.
 * @throws UsageError naming the invalid id and its line.
 */
export async function readIds(
  context: Context,
  what: string,
  given: readonly string[],
  check: (what: string, id: string, where?: string) => string = checkUuid,
): Promise<string[]> {
  const ids = new Set<string>();
  for (const id of given) {
    if (id === '-')
      for (const line of await context.readLines()) ids.add(check(what, line.text, `line ${line.number}`));
    else ids.add(check(what, id));
  }
  return [...ids];
}

/** Checks an id whose format only the service knows. @throws UsageError for a text that cannot be an id. */
export function checkName(what: string, id: string, where?: string): string {
  const trimmed = id.trim();
  if (trimmed !== '' && !/[\s/]/.test(trimmed)) return trimmed;
  throw new UsageError(`${what} "${trimmed}"${where ? ` (stdin, ${where})` : ''} is not a valid id`);
}

/** Validates a UUID and lowercases it. @throws UsageError. */
export function checkUuid(what: string, id: string, where?: string): string {
  const trimmed = id.trim();
  if (uuidPattern.test(trimmed)) return trimmed.toLowerCase();
  const place = where ? ` (stdin, ${where})` : '';
  const command = what === 'order item' ? 'order get ORDER' : `${what.split(' ')[0]} list -o id`;
  throw new UsageError(`${what} "${trimmed}"${place} is not a UUID; \`errand ${command}\` prints them`);
}

/**
 * Runs `act` for each id. If `act` returns undefined, the id has no row. For a single id, an error of `act` is the
 * command's error. For several ids, all are tried, their errors are reported on stderr, and the first error determines
 * the exit code. If `act` shows request previews, all of them are shown.
 */
export function eachId<T>(
  context: Context,
  ids: readonly string[],
  act: (id: string) => Promise<T | undefined>,
): { rows: AsyncGenerator<T>; exitCode: () => number; isByName: true } {
  let code = 0;
  async function* rows(): AsyncGenerator<T> {
    const previews: RequestPreview[] = [];
    for (const id of ids) {
      try {
        const row = await act(id);
        if (row !== undefined) yield row;
      } catch (error) {
        if (error instanceof RequestPreview) {
          previews.push(error);
          continue;
        }
        if (ids.length === 1 || !(error instanceof ErrandError) || context.signal.aborted) throw error;
        code ||= error.exitCode;
        await context.report(error);
      }
    }
    if (previews.length > 0) throw new RequestPreview(previews.map(({ text }) => text).join(''));
  }
  return { rows: rows(), exitCode: () => code, isByName: true };
}
