import { bulkListSeparator } from '../../api/bulk-columns.ts';
import { type BulkRow, rowReader } from '../../api/bulk-row.ts';
import { isObject, listIn, own } from '../../api/json.ts';
import { plainText } from '../../format/path.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { TableLayout } from '../../journal/uploads.ts';
import { StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { centsHeading } from '../amounts.ts';
import { type Batch, type BatchRow, rowsOf } from '../batch.ts';
import { isPriceHeading } from '../columns.ts';
import { findJournaledRows, type UploadedRows } from '../uploaded-rows.ts';

/** What a row was uploaded with, under the headings of its file. */
export interface OwnCells {
  readonly headings: readonly string[];
  /** What each of them was sent as: a column of an order, `metadata.KEY`, or itself. */
  readonly names: readonly string[];
  readonly cells: readonly string[];
}

/** A row of a batch, as its file has it as far as that is known here. */
export interface FileRow {
  readonly own: OwnCells;
  /** As a spreadsheet shows it; undefined where this machine does not know it. */
  readonly number: number | undefined;
  /** What was asked for; undefined where this machine did not upload it. */
  readonly asked: BulkRow | undefined;
}

/** From a row of a batch to what the file has of it. */
export type FileRowOf = (row: BatchRow) => FileRow;

/**
 * The rows of a batch with the columns of their file in their order: those that it was uploaded with from here, else what
 * the service echoes of them. Prices are in cents, and their heading says so.
 * @param kept how the rows stand in their file, where that is known for longer than what was sent.
 */
export async function fileRowsOf(
  context: Context,
  batch: Batch,
  kept: TableLayout | undefined,
): Promise<FileRowOf> {
  const uploaded = await uploadedFromHere(context, batch);
  if (!uploaded) return echoed(batch, kept);
  const { rows, layout = kept } = uploaded;
  const names = layout?.headings ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const headings = shownHeadings(names, layout?.fileHeadings);
  const read = rowReader();
  return ({ index }) => {
    const cells = rows[index];
    return {
      own: { headings, names, cells: names.map((name) => plainText(own(cells, name))) },
      number: layout?.numbers[index],
      asked: cells && read(cells).row,
    };
  };
}

/** As the file has them. Two that are alike are told apart as they were sent. */
function shownHeadings(names: readonly string[], fileHeadings: readonly string[] = names): readonly string[] {
  const isClear = new Set(fileHeadings).size === names.length;
  return names.map((name, at) =>
    isPriceHeading(name) ? centsHeading : ((isClear ? fileHeadings[at] : undefined) ?? name),
  );
}

/** What the service says of a batch stands without what this machine knows of it. */
async function uploadedFromHere(context: Context, batch: Batch): Promise<UploadedRows | undefined> {
  if (!journalExists(context.settings)) return undefined;
  try {
    return await findJournaledRows(context, batch);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    context.note(`${error.message}; the columns of the file are not known`);
    return undefined;
  }
}

/** Where only the service knows a batch: what it says of it, and what it was told to pass on, as in its own results. */
function echoed(batch: Batch, kept: TableLayout | undefined): FileRowOf {
  const passed = [
    ...new Set(
      rowsOf(batch).flatMap(({ record: { passthrough } }) =>
        isObject(passthrough) ? Object.keys(passthrough) : [],
      ),
    ),
  ];
  const headings = ['recipient', 'product_urls', ...passed];
  return ({ index, record }) => ({
    own: {
      headings,
      names: headings,
      cells: headings.map((name, at) => {
        if (at === 0) return plainText(record.recipient);
        if (at === 1) return listIn(record, 'product_urls').map(plainText).join(bulkListSeparator);
        return plainText(own(record.passthrough, name));
      }),
    },
    number: kept?.numbers[index],
    asked: undefined,
  });
}

/** The columns of rows in the order in which they are first seen. */
export const headingsOf = (rows: Iterable<{ readonly own: OwnCells }>): string[] => {
  const seen = new Set<readonly string[]>();
  const headings = new Set<string>();
  for (const {
    own: { headings: some },
  } of rows) {
    if (seen.has(some)) continue;
    seen.add(some);
    for (const heading of some) headings.add(heading);
  }
  return [...headings];
};

/** The cell of a row under a heading; empty where its file has no such column. */
export const cellUnder = ({ headings, cells }: OwnCells, heading: string): string => {
  const at = headings.indexOf(heading);
  return at < 0 ? '' : (cells[at] ?? '');
};
