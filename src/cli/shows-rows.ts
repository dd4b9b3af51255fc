import type { OutputOptions } from '../format/result.ts';

/**
 * Whether a document's records are shown instead of the document. With json, ndjson, yaml or a query, the whole
 * document is shown.
 */
export const showsRows = ({ format, query }: OutputOptions): boolean =>
  query === undefined && (format === 'table' || format === 'csv' || format === 'tsv' || format === 'id');
