import type { JsonObject } from '../../api/json.ts';
import { type Operation, wireTexts } from '../../api/operation.ts';
import { inferColumns } from '../../cli/output/select.ts';
import { showsRows } from '../../cli/shows-rows.ts';
import type { Column, OutputOptions, Result } from '../../format/result.ts';
import type { AnyResponse, Client } from '../../http/client.ts';
import { type Page, pagesFrom, pagingOf, rowsIn } from '../../http/paging.ts';
import type { RawRequest, Target } from '../../http/request.ts';
import { headerText } from '../../http/transport/transport.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

type Chunks = AsyncIterable<Uint8Array>;

/**
 * Converts a response to a result. JSON is shown as a whole, or as a list's records if the format has columns; other
 * content streams unchanged.
 * @throws ErrandError if the response cannot be shown as requested.
 */
export async function showResponse(
  response: AnyResponse,
  operation: Operation | undefined,
  output: OutputOptions,
  toTerminal: boolean,
): Promise<Result> {
  if ('json' in response) return showJson(response.json, operation, output);
  const type = headerText(response.headers, 'content-type')?.split(';')[0]?.trim() ?? 'no JSON';
  const isEmpty = response.status === 204 || headerText(response.headers, 'content-length') === '0';
  if (isEmpty) return { kind: 'none' };
  if (output.query !== undefined || output.fields)
    throw notAsRequested(`--fields and --query do not apply: the response is ${type}, not JSON`);
  return { kind: 'stream', chunks: toTerminal ? await textOnly(response.chunks, type) : response.chunks };
}

/** Converts any JSON value to a result that can be printed. */
export function showJson(json: unknown, operation: Operation | undefined, output: OutputOptions): Result {
  if (!isRecord(json)) return { kind: 'text', lines: [JSON.stringify(json)] };
  const name = operation?.response.type === 'json' ? operation.response.rows : undefined;
  const rows = name === undefined && !Array.isArray(json) ? undefined : rowsIn(json, name);
  if (rows?.every(isRecord) && (Array.isArray(json) || showsRows(output)))
    return { kind: 'list', rows, columns: columnsOf(rows, output) };
  return { kind: 'record', record: json, columns: inferColumns([json]) };
}

/** Infers one column for each field of the records. A table leaves out fields that hold nested records. */
function columnsOf(rows: readonly JsonObject[], { format }: OutputOptions): Column[] {
  const columns = inferColumns(rows);
  if (format !== 'table') return columns;
  return columns.filter(({ path }) => rows.some((row) => row[path] != null && !holdsRecords(row[path])));
}

const holdsRecords = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isRecord) : isRecord(value);

const isRecord = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

/** Returns the chunks unchanged, but first checks that the first chunk is text. */
async function textOnly(chunks: Chunks, type: string): Promise<Chunks> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (!first.done && !isText(first.value)) {
    await iterator.return?.();
    throw notAsRequested(`the response is ${type}, not text for a terminal; send it to a file: > FILE`);
  }
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}

/** Whether the bytes are UTF-8 and contain no NUL. The last character may be incomplete. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    // Decoding failed: the response is not UTF-8.
    return false;
  }
}

/** The error if the service has applied the request, but the response cannot be displayed as requested. */
const notAsRequested = (message: string): ErrandError =>
  new ErrandError('usage', message, { outcome: 'applied', retryable: false });

/**
 * Fetches every page of a list as one stream, holding at most two pages in memory. For a known path, the operations
 * table says how to page. For any other path, `next_page` is followed.
 * @throws UsageError for a write; ErrandError if the response is not a list.
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
  // Take the columns from the first page, since a table cannot wait for later pages.
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

/** Parses a query parameter that is a whole number. Any other value is left for the service to reject. */
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
