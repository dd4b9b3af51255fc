import type { OutputOptions } from '../format/result.ts';

/** Whether a document is shown as its records; json, ndjson, yaml and queries show the whole document. */
export const showsRows = ({ format, query }: OutputOptions): boolean =>
  query === undefined && (format === 'table' || format === 'csv' || format === 'tsv' || format === 'id');
