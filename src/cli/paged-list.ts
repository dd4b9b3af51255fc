import type { Context } from '../context.ts';
import type { OperationName } from '../contract/operations/index.ts';
import type { ReceivedRow } from '../contract/received.ts';
import { Deadline } from '../deadline.ts';
import type { QueryOf } from '../http/client-types.ts';
import { pages } from '../http/paging.ts';

/** Operations whose records are paged. */
export type ListName = OperationName & (`${string}.list` | `${string}.search`);

export interface PagedList<R> {
  readonly rows: AsyncGenerator<R>;
  /** How many came, and how many there are; known once the rows are out. */
  readonly count: () => { shown: number; total: number | undefined; next: number | undefined };
}

/**
 * One page of a list endpoint, or with `all` every page to the end, the next loading while this one is read: all of it
 * within --timeout, where that is given.
 */
export async function listRows<N extends ListName>(
  context: Context,
  name: N,
  query: QueryOf<N>,
  all: boolean,
): Promise<PagedList<ReceivedRow<N>>> {
  const client = await context.client();
  const deadline = new Deadline(context.clock, context.waitMs());
  let shown = 0;
  let total: number | undefined;
  let next: number | undefined;
  async function* rows(): AsyncGenerator<ReceivedRow<N>> {
    for await (const page of pages(client, name, { query }, { all, deadline })) {
      total = page.total ?? total;
      next = page.next;
      for (const row of page.rows) {
        shown += 1;
        yield row;
      }
    }
  }
  return { rows: rows(), count: () => ({ shown, total, next }) };
}

/** "50 of 1,200 orders; --all for the rest", where there is a rest. */
export function moreHint(list: PagedList<unknown>, what: string): string[] {
  const { shown, total, next } = list.count();
  if (next !== undefined) return [`--page ${next} for the next page, --all for every one`];
  if (total === undefined || shown === 0 || shown >= total) return [];
  return [`${shown.toLocaleString('en-US')} of ${total.toLocaleString('en-US')} ${what}; --all for the rest`];
}
