import type { JsonObject } from '../../api/json.ts';
import { wireTexts } from '../../api/operation.ts';
import type { Result } from '../../format/result.ts';
import type { Client } from '../../http/client.ts';
import { type Page, pagesFrom, pagingOf, rowsIn } from '../../http/paging.ts';
import type { RawRequest } from '../../http/raw.ts';
import type { Target } from '../../http/request-target.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { columnsOf } from './response.ts';

/**
 * Every page of a list as one list of records, which holds no more than two pages at once. A path that the table knows
 * is paged as it says there; of any other `next_page` is followed.
 * @throws UsageError for a write; ErrandError where the response is not a list.
 */
export async function everyRow(
  context: Context,
  client: Client,
  { method, path, operation }: Target,
  request: RawRequest,
): Promise<Result> {
  if (method !== 'GET') throw new UsageError(`--paginate reads lists; it does not apply to ${method}`);
  const [bare = '', search = ''] = splitQuery(path);
  const given = { ...queryOf(search), ...request.query };
  const paging = operation ? pagingOf(operation) : { by: 'page' as const };
  const title = `GET ${bare}`;
  const ask = async (paged: Parameters<Parameters<typeof pagesFrom>[0]['ask']>[0], signal: AbortSignal) => {
    const numbers = Object.entries(paged).map(([name, value]) => [name, wireTexts(value ?? null)]);
    const query = { ...given, ...Object.fromEntries(numbers) };
    const response = await client.raw({ ...request, path: bare, query }, { signal });
    const body = 'json' in response ? response.json : undefined;
    if (rowsIn(body, paging.rows) === undefined) throw noList(title);
    return { body };
  };
  const start = { limit: numberIn(given, 'limit'), offset: numberIn(given, 'offset') };
  const pages = pagesFrom({ title, ...paging, ask }, start, {
    all: true,
    deadline: new Deadline(context.clock, context.waitMs()),
  });
  // The columns are those of the first page: a table cannot wait for the last one.
  const first = await pages.next();
  const columns = columnsOf(first.done ? [] : first.value.rows, context.output);
  return { kind: 'list', rows: rowsOf(first, pages), columns };
}

async function* rowsOf(first: IteratorResult<Page>, pages: AsyncGenerator<Page>): AsyncGenerator<JsonObject> {
  try {
    if (first.done) return;
    yield* first.value.rows;
    for await (const { rows } of pages) yield* rows;
  } finally {
    await pages.return(undefined);
  }
}

function splitQuery(path: string): [string, string] {
  const at = path.indexOf('?');
  return at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)];
}

function queryOf(search: string): Record<string, readonly string[]> {
  const parameters = new URLSearchParams(search);
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]));
}

/** A whole number of the query; whatever else stands there is left to the service to refuse. */
function numberIn(
  query: Readonly<Record<string, string | readonly string[]>>,
  name: string,
): number | undefined {
  const [text = ''] = [query[name] ?? ''].flat();
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

const noList = (title: string): ErrandError =>
  new ErrandError(
    'usage',
    `--paginate reads lists, and the response to ${title} is not one; leave --paginate out`,
    {
      retryable: false,
    },
  );
