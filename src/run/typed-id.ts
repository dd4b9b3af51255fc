import { ShortIds } from '../format/short-ids.ts';
import type { Context } from './context.ts';

/**
 * Ids in a command to type: the beginnings that tables show, where a person is there to type it; whole for scripts and
 * records.
 */
export function typedIds(
  { interactive, output }: Pick<Context, 'interactive' | 'output'>,
  ids: readonly string[],
): string[] {
  if (!interactive.yes || output.format !== 'table') return [...ids];
  const short = new ShortIds();
  for (const id of ids) short.learn(id);
  return ids.map((id) => short.short(id));
}

/** The same of one that stands alone. */
export const typedId = (context: Pick<Context, 'interactive' | 'output'>, id: string): string =>
  typedIds(context, [id])[0] ?? id;
