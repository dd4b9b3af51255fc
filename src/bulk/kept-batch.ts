import { type JsonObject, listIn, objectsIn, textIn } from '../api/json.ts';
import type { Batch } from './batches.ts';
import type { UploadRow } from './rows.ts';

/** A batch as JSON, as it is kept. */
export const keptBatch = ({ key, rows, numbers, headings, fileHeadings }: Batch): JsonObject => ({
  ...{ key, rows, numbers, headings },
  ...(fileHeadings && { fileHeadings }),
});

/** A batch as it was kept. */
export function batchIn(body: JsonObject): Batch {
  const fileHeadings = listIn(body, 'fileHeadings').map(String);
  return {
    key: textIn(body, 'key') ?? '',
    // What is kept was written as rows of cells.
    rows: objectsIn(body, 'rows') as readonly UploadRow[],
    numbers: listIn(body, 'numbers').map(Number),
    headings: listIn(body, 'headings').map(String),
    ...(fileHeadings.length > 0 && { fileHeadings }),
  };
}
