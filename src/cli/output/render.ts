import type {
  Column,
  Format,
  ListResult,
  OutputFormat,
  OutputOptions,
  RecordResult,
  Result,
  TextResult,
  TitleOf,
} from '../../format/result.ts';
import { byteOrderMark } from '../../platform/csv-cell.ts';
import type { Io } from '../../platform/streams.ts';
import { asTyped } from './as-typed.ts';
import { printRows } from './format.ts';
import { foldLines, noteLines, reportToUser, writeErr } from './notice.ts';
import { paintFor } from './paint.ts';
import { inferColumns, projection, selectColumns, withHeadings, withStates } from './select.ts';
import { type Writer, writerOf } from './writer.ts';

interface Printing {
  readonly io: Io;
  readonly options: OutputOptions;
  readonly out: Writer;
  /** Resolves once everything that was written has reached the user, so that hints appear below it. */
  settle(): Promise<void>;
}

/**
 * Prints a command's result. Streams data to stdout with backpressure. If the reader of stdout closes (`| head`), stops
 * the source and returns quietly. Hints go to stderr.
 * @returns the exit code of the result. It is 0 if the result sets none, or if the reader closed while a list was
 * printed.
 * @throws UsageError for an invalid `--query`; OutputError if stdout cannot be written to; or the source's error, once
 * all records received before the error are written.
 */
export async function printResult(result: Result, io: Io, options: OutputOptions): Promise<number> {
  const paged = await pagedFor(result, io, options);
  try {
    const out = writerOf(paged ?? io.stdout.stream);
    const settle = async (): Promise<void> => {
      await out.flush();
      await paged?.finish();
    };
    return await printTo(result, { io, options, out, settle });
  } finally {
    await paged?.finish();
  }
}

/** Opens a stream to the pager if a person reads this result at a terminal; otherwise returns undefined. */
async function pagedFor(result: Result, io: Io, options: OutputOptions) {
  const { pager, format } = options;
  const isRead = result.kind === 'record' || (result.kind === 'list' && result.columns.length > 0);
  if (pager === undefined || !isRead || !io.stdout.isTerminal || format !== 'table') return undefined;
  const { PagedStream } = await import('./pager.ts');
  return new PagedStream(io, pager);
}

async function printTo(result: Result, printing: Printing): Promise<number> {
  const { io, options } = printing;
  if (options.excel && !io.stdout.isTerminal && isTable(result, options))
    printing.out.beginWith(byteOrderMark);
  switch (result.kind) {
    case 'record':
      await printData(result, printing);
      reportToUser(result.hints ?? [], io, options.format);
      return result.exitCode ?? 0;
    case 'list':
      await printData(result, printing);
      if (printing.out.isClosed) return 0;
      await result.printed?.();
      noteLines(result.rest?.() ?? [], io);
      reportToUser(result.hints?.() ?? [], io, options.format);
      return result.exitCode?.() ?? 0;
    case 'text':
      await printText(result, printing);
      return 0;
    case 'stream': {
      const { printStream } = await import('./stream.ts');
      await printStream(result, io.stdout, printing.out);
      return result.exitCode?.() ?? 0;
    }
    case 'none':
      reportToUser(result.hints ?? [], io, options.format);
      return result.exitCode ?? 0;
  }
}

/** Whether the output is meant for a spreadsheet. */
function isTable(result: Result, { format }: OutputOptions): boolean {
  if (result.kind === 'stream') return result.isCsv === true;
  return result.kind !== 'none' && (format === 'csv' || format === 'tsv');
}

/**
 * Validates `--query` before the command runs.
 * @throws UsageError naming the expression and its error.
 */
export async function checkQuery(expression: string): Promise<void> {
  const { compileQuery } = await import('./query.ts');
  compileQuery(expression);
}

async function printData(given: RecordResult | ListResult, printing: Printing): Promise<void> {
  const { io, options, settle } = printing;
  const { fields } = options;
  const result = fields ? await checkedFields(withHeadings(withStates(given), fields), options, io) : given;
  if (options.query !== undefined) await printQueried(result, options.query, printing);
  else if (result.kind === 'list') await printList(result, printing);
  else await printRecord(result, printing);
  await settle();
}

async function checkedFields<R extends RecordResult | ListResult>(
  result: R,
  options: OutputOptions,
  io: Io,
): Promise<R> {
  const { withKnownFields } = await import('./known-fields.ts');
  return withKnownFields(result, options, io);
}

async function printList(result: ListResult, printing: Printing): Promise<void> {
  const { io, options, out } = printing;
  const isTable = options.format === 'table';
  const usesTitles = isTable && columnsFor(result, io, options).some((column) => column.usesTitles);
  const titleOf = usesTitles ? await options.titles?.() : undefined;
  const { rows, numbers, tell } = await numbered(result, io, options, titleOf);
  try {
    if (isTable) await printListTable(result, rows, numbers, printing, titleOf);
    else await printRows(rows, await openFormat(options.format, result, io, options), out);
  } finally {
    await tell();
  }
}

/** Numbers the rows of a list shown on a TTY, so that later commands can refer to a row by its number. */
async function numbered(result: ListResult, io: Io, options: OutputOptions, titleOf: TitleOf | undefined) {
  const plain = { rows: result.rows, numbers: [], tell: async (): Promise<void> => {} };
  if (!io.stdout.isTerminal) return plain;
  const { RowCounter } = await import('./listed-rows.ts');
  const counter = RowCounter.of(result, { ...options, utc: options.utc === true, titleOf });
  if (!counter) return plain;
  const report = async (): Promise<void> => options.onListed?.(counter.lastList);
  return { rows: counter.count(result.rows), numbers: [counter.column], tell: report };
}

/** Looks up product titles for records that do not contain the titles which these columns show. */
async function titlesFor(
  columns: readonly Column[],
  record: RecordResult['record'],
  { titles }: OutputOptions,
): Promise<TitleOf | undefined> {
  let isRequested = false;
  const ask = (): undefined => {
    isRequested = true;
  };
  for (const { usesTitles, value } of columns) if (usesTitles) value?.(record, ask);
  return isRequested ? await titles?.() : undefined;
}

async function printListTable(
  result: ListResult,
  rows: ListResult['rows'],
  numbers: readonly Column[],
  { io, options, out, settle }: Printing,
  titleOf: TitleOf | undefined,
): Promise<void> {
  const { printTable } = await import('./table.ts');
  const columns = [...numbers, ...columnsFor(result, io, options)];
  if (options.asLines && io.stdout.isTerminal) {
    const count = await printLabelled(rows, columns, { ...(await tableOptions(io, options)), titleOf }, out);
    await settle();
    if (count === 0) reportToUser([result.empty ?? 'Nothing found.'], io, 'table');
    return;
  }
  const table = await printTable(rows, columns, { ...(await tableOptions(io, options)), titleOf }, out);
  await settle();
  if (out.isClosed) return;
  if (table.count === 0) reportToUser([result.empty ?? 'Nothing found.'], io, 'table');
  const shown = table.shown.map(({ index }) => columns[index]);
  const id = shown.find((column) => column?.path === (result.id ?? 'id'));
  // If the table shows no ids, tell the user about row numbers and `-o id`.
  if (id === undefined && numbers.length > 0 && table.count > 0)
    reportToUser([`@1 names the first row; -o id prints the ${result.id ?? 'id'} of each`], io, 'table');
  if (table.hidden.length + table.narrowed.length === 0) return;
  const { leftOut } = await import('./left-out.ts');
  reportToUser(
    leftOut(table, id && { ...id, isNumbered: numbers.length > 0 }, io.stderr.columns()),
    io,
    'table',
  );
}

/** Writes each row of a list as labelled lines, with an empty line between rows. */
async function printLabelled(
  rows: ListResult['rows'],
  columns: readonly Column[],
  options: Awaited<ReturnType<typeof tableOptions>> & { readonly titleOf: TitleOf | undefined },
  out: Writer,
): Promise<number> {
  const { recordLines } = await import('./record-view.ts');
  let count = 0;
  for await (const row of rows) {
    const lines = await recordLines(row, columns, options, new Set(), false);
    await out.write(`${count === 0 ? '' : '\n'}${asText(lines)}`);
    count += 1;
    if (out.isClosed) break;
  }
  return count;
}

async function printRecord(result: RecordResult, { io, options, out, settle }: Printing): Promise<void> {
  if (options.format !== 'table') {
    const format = await openFormat(options.format, result, io, options);
    out.write(format.whole(result.record), format.scrub);
    return;
  }
  const { recordLines } = await import('./record-view.ts');
  const columns = columnsFor(result, io, options);
  const hidden = new Set<string>();
  const titleOf = await titlesFor(columns, result.record, options);
  const lines = await recordLines(
    result.record,
    columns,
    { ...(await tableOptions(io, options)), titleOf },
    hidden,
    options.fields !== undefined,
  );
  out.write(asText(lines));
  if (hidden.size === 0) return;
  await settle();
  const { leftOut } = await import('./left-out.ts');
  reportToUser(leftOut({ hidden: [...hidden], narrowed: [] }, undefined, io.stderr.columns()), io, 'table');
}

/** For scripts, the order of the columns is stable. On a TTY, the most important columns come first. */
const columnsFor = (
  { columns, screen = columns }: RecordResult | ListResult,
  { stdout }: Io,
  { fields, utc }: OutputOptions,
): readonly Column[] => {
  if (!stdout.isTerminal || fields) return selectColumns(columns, fields);
  return utc
    ? screen.map(({ absoluteName, ...column }) => ({ ...column, name: absoluteName ?? column.name }))
    : screen;
};

async function tableOptions(io: Io, { now, localNow, utc = false, fields }: OutputOptions) {
  const { stdout } = io;
  const typed = (text: string): string => asTyped(text, io, 'stdout');
  // If the user requested a field by name, show its raw value.
  const isScreen = stdout.isTerminal && !fields;
  const width = stdout.isTerminal ? stdout.columns() || 100 : undefined;
  const plain = stdout.isDumb === true;
  const paint = await paintFor(stdout.color);
  const command = io.commandName?.();
  return { now, localNow, utc, width, isScreen, plain, paint, command, ...(isScreen && { asTyped: typed }) };
}

async function printQueried(
  result: RecordResult | ListResult,
  expression: string,
  printing: Printing,
): Promise<void> {
  const { queryResult } = await import('./query.ts');
  const { io, options, out } = printing;
  const found = await queryResult(result, expression, options);
  const plain = { ...options, query: undefined, fields: undefined };
  if (found.kind === 'values') {
    await printRows(found.values, await openValues(io, options), out);
  } else if (found.kind !== 'document') {
    await printData(found, { ...printing, options: plain });
  } else if (options.format !== 'table') {
    const format = await openFormat(options.format, { columns: [] }, io, plain);
    out.write(format.whole(found.value), format.scrub);
  }
  const value = found.kind === 'document' ? found.value : found.kind === 'values' ? found.values : undefined;
  if (value === null || (Array.isArray(value) && value.length === 0)) await noteNothing(printing);
}

/** Says on a terminal that `--query` found nothing, since a misspelt path looks like an empty answer. */
async function noteNothing({ io, settle }: Printing): Promise<void> {
  if (!io.stdout.isTerminal || !io.stderr.isTerminal) return;
  await settle();
  const paint = await paintFor(io.stderr.color);
  const line = paint.faint('--query found nothing; -o json without it shows what there is');
  writeErr(io, `${foldLines([line], io).join('\n')}\n`);
}

async function printText(result: TextResult, printing: Printing): Promise<void> {
  const { io, options, out } = printing;
  if (result.record && options.format !== 'table' && options.format !== 'id') {
    await printData(
      { kind: 'record', record: result.record, columns: inferColumns([result.record]) },
      printing,
    );
    return;
  }
  const { safeLines } = await import('../../platform/redact/safe-text.ts');
  const text = asText(result.lines);
  out.write(io.stdout.isTerminal ? safeLines(text) : text);
  await out.flush();
}

const asText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/**
 * Formats that write each record as it arrives. Tables are not included, because a table needs many records to compute
 * its widths.
 */
type RecordFormat = Exclude<OutputFormat, 'table'>;

type Shape = Pick<RecordResult, 'columns' | 'id'>;
type Open = (shape: Shape, io: Io, options: OutputOptions) => Promise<Format>;

const opens: Record<RecordFormat, Open> = {
  json: async (shape, _, options) => (await import('./json.ts')).jsonFormat(projected(shape, options)),
  ndjson: async (shape, _, options) => (await import('./json.ts')).ndjsonFormat(projected(shape, options)),
  yaml: async (shape, _, options) => (await import('./yaml.ts')).yamlFormat(projected(shape, options)),
  id: async ({ id }) => (await import('./id.ts')).idFormat(id),
  csv: (shape, io, options) => separated(shape, io, options, ','),
  tsv: (shape, io, options) => separated(shape, io, options, '\t'),
};

/** Loads a format and its library on demand. */
const openFormat = (name: RecordFormat, shape: Shape, io: Io, options: OutputOptions): Promise<Format> =>
  opens[name](shape, io, options);

const projected = ({ columns }: Shape, { fields }: OutputOptions) => projection(columns, fields);

async function separated(
  { columns }: Shape,
  io: Io,
  options: OutputOptions,
  delimiter: ',' | '\t',
): Promise<Format> {
  const { csvFormat } = await import('../../format/csv.ts');
  const plain = options.fields === undefined ? columns.filter(({ flat }) => flat !== null) : columns;
  return csvFormat(selectColumns(plain, options.fields), csvOptions(io, options, delimiter));
}

/** Format for non-record query results: one value per line, without a header. */
async function openValues(io: Io, options: OutputOptions): Promise<Format> {
  if (options.format === 'ndjson') return (await import('./json.ts')).ndjsonFormat((value) => value);
  const line = await valueLine(io, options);
  return { row: line, end: () => '', whole: line };
}

async function valueLine(io: Io, options: OutputOptions): Promise<(value: unknown) => string> {
  if (options.format === 'csv' || options.format === 'tsv') {
    const { csvLine } = await import('../../format/csv.ts');
    const how = csvOptions(io, options, options.format === 'csv' ? ',' : '\t');
    return (value) => csvLine(value, how);
  }
  const { safeText } = await import('../../platform/redact/safe-text.ts');
  return (value) => `${safeText(typeof value === 'string' ? value : JSON.stringify(value))}\n`;
}

const csvOptions = (io: Io, { rawCsv = false }: OutputOptions, delimiter: ',' | '\t') =>
  ({ delimiter, raw: rawCsv, visible: io.stdout.isTerminal }) as const;
