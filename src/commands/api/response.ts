import type { JsonObject } from '../../api/json.ts';
import type { Operation } from '../../api/operation.ts';
import { inferColumns } from '../../cli/output/select.ts';
import { showsRows } from '../../cli/shows-rows.ts';
import type { Column, OutputOptions, Result } from '../../format/result.ts';
import type { AnyResponse } from '../../http/client.ts';
import { rowsIn } from '../../http/paging.ts';
import { headerText } from '../../http/transport/transport.ts';
import { ErrandError } from '../../platform/errors.ts';

type Chunks = AsyncIterable<Uint8Array>;

/**
 * A response as a result: JSON whole, a list's records where the format has columns; anything else as it comes.
 * @throws ErrandError for what cannot be shown as requested.
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

/** Any JSON value as a result. */
export function showJson(json: unknown, operation: Operation | undefined, output: OutputOptions): Result {
  if (!isRecord(json)) return { kind: 'text', lines: [JSON.stringify(json)] };
  const name = operation?.response.type === 'json' ? operation.response.rows : undefined;
  const rows = name === undefined && !Array.isArray(json) ? undefined : rowsIn(json, name);
  if (rows?.every(isRecord) && (Array.isArray(json) || showsRows(output)))
    return { kind: 'list', rows, columns: columnsOf(rows, output) };
  return { kind: 'record', record: json, columns: inferColumns([json]) };
}

/** A column for each field of the records; a table leaves out those that hold records of their own. */
export function columnsOf(rows: readonly JsonObject[], { format }: OutputOptions): Column[] {
  const columns = inferColumns(rows);
  if (format !== 'table') return columns;
  return columns.filter(({ path }) => rows.some((row) => row[path] != null && !holdsRecords(row[path])));
}

const holdsRecords = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isRecord) : isRecord(value);

const isRecord = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

/** The chunks, once the first of them is seen to be text. */
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

/** UTF-8 without zero bytes; a character may be cut at the end. */
function isText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    // Not UTF-8: that is the response.
    return false;
  }
}

/** The request was answered; only its showing is refused. */
const notAsRequested = (message: string): ErrandError =>
  new ErrandError('usage', message, { outcome: 'applied', retryable: false });
