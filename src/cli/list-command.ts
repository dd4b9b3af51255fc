import type { Operation } from '../api/operation.ts';
import { type OperationName, operations } from '../api/operations/index.ts';
import type { ReceivedRow, RowShape } from '../api/received.ts';
import { countText } from '../format/counts.ts';
import type { Column, PagedRows, RowsOfPage } from '../format/result.ts';
import type { QueryOf } from '../http/client.ts';
import { type Page, pages, rowsOfPage } from '../http/paging.ts';
import { Deadline } from '../platform/clock.ts';
import { collectOften } from '../platform/memory.ts';
import type { Context } from '../run/context.ts';
import { optionsFrom, type Presentation, type QueryOfRow } from '../run/from-contract.ts';
import { isOnScreen } from '../run/on-screen.ts';
import type { Options } from '../run/option.ts';
import { newestWithin, type Span, spanOptions } from '../run/span.ts';
import { type AnyCommand, defineCommand, type Example } from './define.ts';
import { isWrittenAsSent } from './output/format.ts';

/** Operations that return paged records. */
export type ListName = OperationName & (`${string}.list` | `${string}.search`);

export interface PagedList<R> {
  readonly rows: PagedRows<R>;
  /** Number of records shown, and number of records available. Both are valid only once all rows were read. */
  readonly count: () => { shown: number; total: number | undefined; next: number | undefined };
}

interface ListOptions {
  /** Whether the rows are needed parsed, whatever the output. */
  readonly isParsed?: boolean;
  /** Whether the rows are read one after the other and never by the page, so that a few at a time are parsed. */
  readonly isTakenRowByRow?: boolean;
}

/**
 * Fetches one page of a list endpoint. With `all`, fetches every page, and prefetches the next page while the current
 * page is consumed. If --timeout is given, it limits the whole list.
 */
export async function listRows<N extends ListName>(
  context: Context,
  name: N,
  query: QueryOf<N>,
  all: boolean,
  { isParsed = false, isTakenRowByRow = false }: ListOptions = {},
): Promise<PagedList<ReceivedRow<N>>> {
  const client = await context.client();
  const deadline = new Deadline(context.clock, context.waitMs());
  let shown = 0;
  let total: number | undefined;
  let next: number | undefined;
  const asSent = isTakenRowByRow || (!isParsed && isWrittenAsSent(context.output));
  if (asSent) collectOften();
  async function* read(): AsyncGenerator<Page<ReceivedRow<N>>> {
    for await (const page of pages(client, name, { query }, { all, asSent, deadline })) {
      total = page.total ?? total;
      next = page.next;
      yield page;
    }
  }
  async function* counted(): AsyncGenerator<RowsOfPage<ReceivedRow<N>>> {
    for await (const page of read()) {
      shown += page.count;
      yield page;
    }
  }
  async function* rowByRow(): AsyncGenerator<ReceivedRow<N>> {
    for await (const page of read())
      for (const row of rowsOfPage(page)) {
        shown += 1;
        yield row;
      }
  }
  return {
    rows: { pages: counted, [Symbol.asyncIterator]: rowByRow },
    count: () => ({ shown, total, next }),
  };
}

/** Formats "50 of 1,200 orders; --all for the rest"; empty if everything is shown. */
export function moreHint(list: PagedList<unknown>, what: string): string[] {
  const { shown, total, next } = list.count();
  if (next !== undefined) return [`--page ${next} for the next page, --all for every one`];
  if (total === undefined || shown === 0 || shown >= total) return [];
  return [`${countText(shown)} of ${countText(total)} ${what}; --all for the rest`];
}

/** A list verb as data. */
interface ListDefinition<N extends ListName> {
  readonly summary: string;
  readonly filters?: Presentation<QueryOfRow<(typeof operations)[N]>>;
  readonly columns: readonly Column<RowShape<N>>[];
  /** Columns for a TTY, if they differ from `columns`. */
  readonly screen?: readonly Column<RowShape<N>>[];
  /** Query parameters that request the extra data shown in the TTY columns. */
  readonly screenQuery?: QueryOf<N>;
  /** Path of the value printed by `-o id`; default `id`. */
  readonly id?: string;
  /** Plural noun for the records: `orders`. */
  readonly what: string;
  /** Shown in place of an empty table. */
  readonly empty: string;
  readonly examples: readonly Example[];
  readonly related: readonly string[];
  /**
   * Path of the timestamp to which `--since` and `--until` apply, if errand does the filtering itself. The list must be
   * sorted newest first.
   */
  readonly spanBy?: string;
  /** Filters that are not parameters of the operation. */
  readonly more?: MoreFilters<QueryOf<N>>;
}

/** Filters that errand converts to parameters of the operation. */
interface MoreFilters<Q> {
  readonly options: Options;
  /** @param query holds the parameters given. @throws UsageError if the filters conflict with them. */
  toQuery(input: Readonly<Record<string, unknown>>, query: Readonly<Record<string, unknown>>): Partial<Q>;
  /** Lines for stderr once all records are printed. */
  hints(input: Readonly<Record<string, unknown>>, shown: number): readonly string[];
}

const paging: readonly string[] = ['limit', 'offset'];

/** Builds a noun's `list` verb: filters, paging and columns of a list operation. */
export function listCommand<N extends ListName>(
  name: N,
  {
    summary,
    filters,
    columns,
    screen,
    screenQuery,
    id,
    what,
    empty,
    examples,
    related,
    spanBy,
    more,
  }: ListDefinition<N>,
): AnyCommand {
  const operation: Operation = operations[name];
  const all = { kind: 'flag', description: 'page to the end' } as const;
  const presentation: Presentation = filters ?? {};
  const { group: _, ...ungrouped } = presentation;
  const shown = (isShown: (parameter: string) => boolean, shownAs: Presentation): Options =>
    optionsFrom(pick(operation, isShown), shownAs).options;
  const isFilter = (parameter: string): boolean => !paging.includes(parameter) && parameter !== 'include';
  const { toQuery } = optionsFrom(operation, presentation);
  return defineCommand({
    name: 'list',
    aliases: ['ls'],
    summary,
    options: {
      ...more?.options,
      ...shown(isFilter, presentation),
      ...(spanBy !== undefined && spanOptions),
      ...shown((parameter) => paging.includes(parameter), ungrouped),
      all,
      ...shown((parameter) => parameter === 'include', ungrouped),
    },
    examples,
    operations: [name],
    output: { list: name as OperationName },
    columns: screen ?? columns,
    related,
    async run(context, { all, ...input }) {
      // The cast is safe because the options are derived from the operation's row in the operations table.
      const needsMore = isOnScreen(context) || namesStateOf(screen, context);
      const given: Readonly<Record<string, unknown>> = toQuery(input);
      const filtered = more?.toQuery(input, given);
      const query = { ...(needsMore && screenQuery), ...given, ...filtered } as QueryOf<N>;
      const span = spanBy === undefined ? {} : spanIn(input);
      const isSpan = span.since !== undefined || span.until !== undefined;
      const paged = await listRows(context, name, query, all === true || isSpan, { isParsed: isSpan });
      return {
        kind: 'list',
        rows: spanBy !== undefined && isSpan ? newestWithin(paged.rows, spanBy, span) : paged.rows,
        columns,
        ...(screen && { screen }),
        ...(id !== undefined && { id }),
        empty,
        // Omit the hint if the user asked for a specific range.
        rest: () =>
          !isSpan && input.limit === undefined && input.offset === undefined ? moreHint(paged, what) : [],
        hints: () => more?.hints(input, paged.count().shown) ?? [],
      };
    },
  });
}

const spanIn = ({ since, until }: Readonly<Record<string, unknown>>): Span => ({
  ...(typeof since === 'string' && { since }),
  ...(typeof until === 'string' && { until }),
});

/** Whether `--fields` includes the derived state, which needs more data than a plain list. */
const namesStateOf = (screen: readonly { readonly name: string }[] = [], { output }: Context): boolean =>
  output.fields?.some(
    (field) => field.toLowerCase() === 'state' && screen.some(({ name }) => name === 'state'),
  ) === true;

const pick = (operation: Operation, isPicked: (parameter: string) => boolean): Operation => ({
  ...operation,
  query: Object.fromEntries(Object.entries(operation.query ?? {}).filter(([name]) => isPicked(name))),
});
