import type { OutputOptions } from '../format/result.ts';

/** Whether a document is shown by the records in it; json, ndjson, yaml and a query see it whole. */
export const showsRows = ({ format, query }: OutputOptions): boolean =>
  query === undefined && (format === 'table' || format === 'csv' || format === 'tsv' || format === 'id');
