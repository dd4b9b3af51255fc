import { compile, type JSONValue, TreeInterpreter } from '@jmespath-community/jmespath';
import { isRecord } from '../../format/path.ts';
import type { ListResult, OutputOptions, RecordResult, Row } from '../../format/result.ts';
import { OutputError, UsageError } from '../../platform/errors.ts';
import { collect } from './format.ts';
import { inferColumns, projection } from './select.ts';

export type Query = (value: unknown) => unknown;

/**
 * Compiles a JMESPath expression to a function of plain JSON. The function throws OutputError for an evaluation error.
 * @throws UsageError naming `--query` for a syntax error.
 */
export function compileQuery(expression: string): Query {
  const shown = JSON.stringify(expression);
  const tree = attempt(
    () => compile(expression),
    (cause) =>
      new UsageError(`--query ${shown} is not valid JMESPath: ${syntaxProblem(expression, textOf(cause))}`, {
        cause,
      }),
  );
  return (value) =>
    attempt(
      () => TreeInterpreter.search(tree, bare(value)),
      (cause) => new OutputError('usage', `--query ${shown}: ${textOf(cause)}`, { cause }),
    );
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function attempt<T>(work: () => T, failed: (error: unknown) => Error): T {
  try {
    return work();
  } catch (error) {
    throw failed(error);
  }
}

/** Copies a value into prototype-less objects, since the library reads inherited fields too. */
function bare(value: unknown): JSONValue {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value === 'object' && value !== null) {
    const copy: Record<string, JSONValue> = Object.create(null);
    for (const [key, member] of Object.entries(value)) copy[key] = bare(member);
    return copy;
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

const closerOf: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')' };
const quotes = '"\'`';

/**
 * Explains a JMESPath syntax error without the parser's internal token names.
 * @param reason the library's message.
 */
function syntaxProblem(expression: string, reason: string): string {
  const unclosed = unclosedIn(expression);
  if (unclosed !== undefined) return `unclosed \`${unclosed}\``;
  const token = tokenIn(reason);
  if (token !== undefined) return `unexpected \`${token}\``;
  if (/EOF/.test(reason)) return 'it ends too early';
  return reason.startsWith('Syntax error: expected Star')
    ? '`[…]` takes a number, `*`, `?` or a slice'
    : reason;
}

/** The unexpected token, as written in the expression. */
function tokenIn(reason: string): string | undefined {
  for (const mark of ['value: ', 'unknown character: ']) {
    const at = reason.lastIndexOf(mark);
    if (at >= 0) return reason.slice(at + mark.length);
  }
  const found = /unexpected token: (\S{1,80})\(\w{1,40}\)$|invalid token \(\w{1,40}\): "(.{1,80})"$/.exec(
    reason,
  );
  return found?.[1] ?? found?.[2];
}

/** Innermost unclosed bracket or quote; ignores unmatched closing brackets. */
function unclosedIn(expression: string): string | undefined {
  const open: string[] = [];
  let quote: string | undefined;
  for (let at = 0; at < expression.length; at += 1) {
    const char = expression.charAt(at);
    if (quote !== undefined) {
      if (char === '\\') at += 1;
      else if (char === quote) quote = undefined;
    } else if (quotes.includes(char)) quote = char;
    else if (closerOf[char] !== undefined) open.push(char);
    else if (closerOf[open.at(-1) ?? ''] === char) open.pop();
  }
  return quote ?? open.at(-1);
}

/** Result of a query: records, one JSON document, or values printed one per line. */
export type QueryResult =
  | RecordResult
  | ListResult
  | { readonly kind: 'document'; readonly value: unknown }
  | { readonly kind: 'values'; readonly values: Iterable<unknown> | AsyncIterable<unknown> };

const documentFormats: ReadonlySet<string> = new Set(['json', 'yaml', 'ndjson']);

/**
 * Applies `--query` to the JSON that would be printed without it, after `--fields` was applied. With ndjson, each
 * record is queried as it arrives. Otherwise, the whole result is collected in memory first.
 * @throws UsageError for an invalid expression, before reading from the source.
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

/** Result for table, csv, tsv and id: the keys of objects, or the indexes of arrays, become columns. */
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
