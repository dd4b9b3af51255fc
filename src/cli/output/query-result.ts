import { isRecord } from '../../format/path.ts';
import type { ListResult, OutputOptions, RecordResult, Row } from '../../format/result.ts';
import { collect } from './format.ts';
import { compileQuery } from './query.ts';
import { inferColumns, projection } from './select.ts';

/** What a query left: records, one JSON document, or values to print one a line. */
export type QueryResult =
  | RecordResult
  | ListResult
  | { readonly kind: 'document'; readonly value: unknown }
  | { readonly kind: 'values'; readonly values: Iterable<unknown> | AsyncIterable<unknown> };

const documentFormats: ReadonlySet<string> = new Set(['json', 'yaml', 'ndjson']);

/**
 * Applies `--query` to the JSON that would be printed without it, `--fields` included: with ndjson to each record of a
 * list as it comes, else to the whole, which is then held in memory.
 * @throws UsageError for a wrong expression, before anything is read from the source.
 */
export async function queryResult(
  result: RecordResult | ListResult,
  expression: string,
  { format, fields }: OutputOptions,
): Promise<QueryResult> {
  const query = compileQuery(expression);
  const project = projection(result.columns, fields);
  if (result.kind === 'list' && format === 'ndjson') {
    return { kind: 'values', values: mapped(result.rows, (row) => query(project(row))) };
  }
  const document =
    result.kind === 'list' ? (await collect(result.rows)).map(project) : project(result.record);
  const value = query(document);
  return documentFormats.has(format) ? { kind: 'document', value } : columnar(value, result.id);
}

/** A result for table, csv, tsv and id: objects show their keys as columns, arrays their positions. */
function columnar(value: unknown, id: string | undefined): QueryResult {
  const named = id === undefined ? {} : { id };
  if (!Array.isArray(value)) {
    if (isRow(value)) return { kind: 'record', record: value, columns: inferColumns([value]), ...named };
    return { kind: 'values', values: value === null ? [] : [value] };
  }
  const records = value.filter(isRow);
  if (records.length === 0 || records.length < value.length) return { kind: 'values', values: value };
  return { kind: 'list', rows: records, columns: inferColumns(records), ...named };
}

const isRow = (value: unknown): value is Row => isRecord(value);

async function* mapped(
  rows: Iterable<Row> | AsyncIterable<Row>,
  change: (row: Row) => unknown,
): AsyncGenerator<unknown> {
  for await (const row of rows) yield change(row);
}
