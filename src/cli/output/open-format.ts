import type { Format } from '../../format/record-format.ts';
import type { OutputFormat, OutputOptions, RecordResult } from '../../format/result.ts';
import type { Io } from '../../platform/io.ts';
import { projection, selectColumns } from './select.ts';

/** The formats that spell one record after another; a table looks at many before it shows one. */
export type RecordFormat = Exclude<OutputFormat, 'table'>;

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

/** A format, loaded with its library when it is requested. */
export const openFormat = (
  name: RecordFormat,
  shape: Shape,
  io: Io,
  options: OutputOptions,
): Promise<Format> => opens[name](shape, io, options);

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

/** The format of values that are not records, one a line: the result of a query, without a header. */
export async function openValues(io: Io, options: OutputOptions): Promise<Format> {
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
