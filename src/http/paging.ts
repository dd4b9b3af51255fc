import type { JsonObject } from '../api/json.ts';
import type { Operation, ParameterValues } from '../api/operation.ts';
import { operations } from '../api/operations/index.ts';
import type { ReceivedRow } from '../api/received.ts';
import { type AsSent, recordsOf } from '../format/raw-records.ts';
import type { Deadline } from '../platform/clock.ts';
import { ErrandError } from '../platform/errors.ts';
import { setImmediate } from '../platform/own-timers.ts';
import type { CallName, Client, InputOf, QueryOf } from './client.ts';
import { UnavailableError } from './errors.ts';
import { identityOf } from './sent-records.ts';

export interface Page<R = JsonObject> {
  /** The rows of the page. If `sent` is present, each access parses the rows again. */
  readonly rows: readonly R[];
  readonly count: number;
  /**
   * The same rows in the service's own JSON. Present if this was requested and the rows can be separated from the rest.
   */
  readonly sent?: AsSent | undefined;
  /** Total number of records, if the service reports it. */
  readonly total: number | undefined;
  /** Number of the next page. Present if pages are requested by number and there is another page. */
  readonly next: number | undefined;
}

export interface PageOptions {
  /** Whether to fetch every page instead of only the requested one. */
  readonly all: boolean;
  /**
   * Rows per request. Defaults to the `limit` of the query. Without a `limit`, defaults to the service's maximum if all
   * pages are fetched.
   */
  readonly pageSize?: number | undefined;
  /** Whether to also return the rows in the service's own JSON. */
  readonly asSent?: boolean | undefined;
  /** Deadline for fetching all pages. */
  readonly deadline?: Deadline | undefined;
}

/** Rows to parse at a time: so few that they are gone before V8 collects. */
const rowsAtOnce = 16;

/** A page's rows. Those that came as sent are parsed a few at a time, so that memory never holds all of them. */
export function* rowsOfPage<R>(page: Page<R>): Generator<R> {
  const { sent } = page;
  if (!sent) yield* page.rows;
  else
    for (let from = 0; from < sent.ids.length; from += rowsAtOnce)
      // The records have the shape of the page's rows.
      yield* recordsOf(sent, from, Math.min(from + rowsAtOnce, sent.ids.length)) as R[];
}

type Read = (offset: number) => Promise<Page>;

/** What the pager needs to know about a list. */
interface PagedSource {
  /** Name for messages. */
  readonly title: string;
  /** How pages are requested: by the number of rows to skip, by the number in `next_page`, or not at all. */
  readonly by: 'offset' | 'page' | 'none';
  /** Maximum rows per page, if known. */
  readonly largest?: number | undefined;
  /**
   * Name of the field that contains the records. Defaults to the only list in the response, or to the response itself.
   */
  readonly rows?: string | undefined;
  ask(paged: ParameterValues, signal: AbortSignal): Promise<ListResponse>;
}

/** A response that contains a list. */
interface ListResponse {
  readonly body: unknown;
  readonly sent?: AsSent | undefined;
}

/**
 * Fetches the pages of a list operation in the table.
 * @throws ErrandError, also if the service keeps returning the same page.
 */
export async function* pages<N extends CallName>(
  client: Pick<Client, 'call'>,
  name: N,
  { query }: { readonly query?: QueryOf<N> },
  options: PageOptions,
): AsyncGenerator<Page<ReceivedRow<N>>> {
  const operation: Operation = operations[name];
  const ask = async (paged: ParameterValues, signal: AbortSignal): Promise<ListResponse> => {
    // The client checks every parameter against the table. That covers what the types cannot.
    const input = { query: { ...query, ...paged } } as unknown as InputOf<N>;
    let sent: AsSent | undefined;
    const takeSent = (received: AsSent): void => {
      sent = received;
    };
    const { body } = await client.call(name, input, { signal, ...(options.asSent && { takeSent }) });
    return { body, sent };
  };
  const start = { limit: numberIn(fieldOf(query, 'limit')), offset: numberIn(fieldOf(query, 'offset')) };
  // Each record has the field names of the record's shape, but the values may have any type.
  yield* pagesFrom({ title: name, ...pagingOf(operation), ask }, start, options) as AsyncGenerator<
    Page<ReceivedRow<N>>
  >;
}

/** How the pages of an operation are requested, according to the table. */
export const pagingOf = ({ query, response }: Operation): Omit<PagedSource, 'title' | 'ask'> => ({
  by: query?.offset !== undefined ? 'offset' : query?.page !== undefined ? 'page' : 'none',
  largest: query?.limit?.max,
  rows: response.type === 'json' ? response.rows : undefined,
});

/**
 * Fetches the pages of any list. While the reader works on a page, prefetches the next page, and also the page after
 * that if it is known to exist. Stops when the reader stops. If new records shift the list, a page repeats rows; such
 * rows are dropped.
 * @throws ErrandError, also if the service keeps returning the same page.
 */
export async function* pagesFrom(
  { title, by, largest, rows, ask }: PagedSource,
  {
    limit: requested,
    offset: first = 0,
  }: { readonly limit?: number | undefined; readonly offset?: number | undefined },
  { all, pageSize, deadline }: PageOptions,
): AsyncGenerator<Page> {
  const leaving = new AbortController();
  const limit = pageSize ?? requested ?? (all ? largest : undefined);
  const page = async (paged: ParameterValues): Promise<Page> =>
    pageOf(await ask(paged, leaving.signal), rows);
  const read: Read = (offset) =>
    page({ ...(limit !== undefined && { limit }), ...(offset > 0 && { offset }) });
  const inTime = <T>(loading: Promise<T>): Promise<T> =>
    deadline ? beforeDeadline(loading, deadline, title) : loading;
  try {
    if (!all || by === 'none') yield await read(first);
    else if (by === 'offset') yield* everyPage(read, first, limit, title, inTime);
    else yield* everyNumberedPage(page, title, inTime);
  } finally {
    leaving.abort();
  }
}

type InTime = <T>(loading: Promise<T>) => Promise<T>;

/** @throws ErrandError `deadline` if the list takes longer than the deadline allows, even if the pages never end. */
async function beforeDeadline<T>(loading: Promise<T>, deadline: Deadline, title: string): Promise<T> {
  const left = deadline.leftMs;
  if (left === Number.POSITIVE_INFINITY) return loading;
  // A prefetched page may be ready at once, so that no wait can time out. Therefore check the deadline explicitly.
  if (left === 0) throw late(title);
  const over = new AbortController();
  const passed = deadline.passed(over.signal).then(() => {
    throw late(title);
  });
  try {
    return await Promise.race([passed, loading]);
  } finally {
    over.abort();
  }
}

const late = (title: string): ErrandError =>
  new ErrandError('deadline', `--timeout passed; ${title} has more pages than came until then`, {
    hint: 'The list is incomplete. Try a longer --timeout.',
  });

async function* everyPage(
  read: Read,
  first: number,
  limit: number | undefined,
  name: string,
  inTime: InTime,
): AsyncGenerator<Page> {
  let before: ReadonlySet<string> = new Set();
  let repeats = 0;
  let ahead = [begin(first)];
  for (let next = ahead.shift(); next; next = ahead.shift()) {
    const page: Page = await inTime(next.loading);
    const ids = page.sent?.ids ?? page.rows.map(identityOf);
    const repeated = ids.filter((id) => before.has(id)).length;
    // If as many new records arrive as fit on a page, one page may repeat. If a second page in a row repeats, the
    // service is at fault.
    repeats = page.count > 0 && repeated === page.count ? repeats + 1 : 0;
    if (repeats > 1) {
      throw new UnavailableError(`${name}: the service gives the same page again and again`, {
        retryable: false,
      });
    }
    const known = before;
    before = new Set(ids);
    const end = next.offset + page.count;
    if (!isLast(page, end, limit)) {
      // After a short page, the next page starts earlier than the page that was prefetched. Therefore fetch again from
      // there.
      if (ahead[0]?.offset !== end) ahead = [begin(end)];
      const after = end + page.count;
      if (page.total !== undefined && after < page.total) ahead.push(begin(after));
      await onItsWay();
    } else ahead = [];
    yield repeated === 0 ? page : without(page, known);
  }

  function begin(offset: number): { readonly offset: number; readonly loading: Promise<Page> } {
    const loading = read(offset);
    // Handle the error only when this page is read. This avoids an unhandled rejection.
    loading.catch(() => {});
    return { offset, loading };
  }
}

function without(page: Page, known: ReadonlySet<string>): Page {
  const rows = page.rows.filter((row) => !known.has(identityOf(row)));
  return { ...page, rows, count: rows.length, sent: undefined };
}

/**
 * Lets the request for the next page leave before the current rows are processed, because processing may take as long
 * as the response.
 */
const onItsWay = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Relies only on `next_page`, because other pages may follow a page that is short or empty. */
async function* everyNumberedPage(
  read: (page: { page?: number }) => Promise<Page>,
  name: string,
  inTime: InTime,
): AsyncGenerator<Page> {
  let last = 0;
  let loading: Promise<Page> | undefined = read({});
  while (loading) {
    const page: Page = await inTime(loading);
    const { next } = page;
    if (next !== undefined && next <= last) {
      throw new UnavailableError(`${name}: the service gives the same page again and again`, {
        retryable: false,
      });
    }
    last = next ?? last;
    loading = next === undefined ? undefined : read({ page: next });
    loading?.catch(() => {});
    yield page;
  }
}

/**
 * Whether a page is the last one. The total takes precedence over the length of the page, because the service may
 * return fewer rows than requested.
 */
function isLast({ count, total }: Page, end: number, limit: number | undefined): boolean {
  if (count === 0) return true;
  if (total !== undefined) return end >= total;
  return limit === undefined || count < limit;
}

function pageOf({ body, sent }: ListResponse, name: string | undefined): Page {
  const parsed = (rowsIn(body, name) ?? []).filter(isRecord);
  return {
    get rows() {
      return sent ? recordsOf(sent).filter(isRecord) : parsed;
    },
    count: sent?.ids.length ?? parsed.length,
    sent,
    total: numberIn(fieldOf(body, 'total')),
    next: numberIn(fieldOf(body, 'next_page')),
  };
}

/**
 * Finds the records of a list: in the named field, or else in the response itself or its only list.
 * @returns undefined if there are none.
 */
export function rowsIn(body: unknown, name: string | undefined): readonly unknown[] | undefined {
  const lists =
    name !== undefined
      ? [fieldOf(body, name)]
      : Array.isArray(body)
        ? [body]
        : Object.values(Object(body)).filter((value) => Array.isArray(value));
  const [found] = lists;
  return lists.length === 1 && Array.isArray(found) ? found : undefined;
}

const fieldOf = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, name)
    ? Reflect.get(body, name)
    : undefined;

const isRecord = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;
const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
