import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isObject, listIn } from '../../api/json.ts';
import type { RowBlock, SavedUpload } from '../../journal/uploads.ts';
import { StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

/** Why a row of a file is in no batch of its upload. */
export interface LeftOutRow {
  /** A code such as `invalid` or `duplicate`, or `placed` for a row that an earlier command ordered. */
  readonly why: string;
  readonly reason: string;
  /** The order that met the row's need earlier, or that blocks the row. */
  readonly orderId?: string | undefined;
  /** Journal key of that order's batch; undefined for a single order. */
  readonly batch?: string | undefined;
}

/** Code for rows that are no orders: they continue another row, contain sums, or are blank. */
export const noOrderCode = 'no_order';

/** Cells as the file writes them, each with its index, where that is not how they are sent. */
export type WrittenCells = readonly (readonly [index: number, text: string])[];

/** A column that the file lacks, and that has a default, has no cell in it. */
export function writtenCells(
  { width }: { readonly width: number },
  sent: readonly string[],
  written: readonly string[],
): WrittenCells {
  if (sent === written) return [];
  const differing: [number, string][] = [];
  for (let index = 0; index < width; index += 1) {
    const text = written[index] ?? '';
    if (text !== (sent[index] ?? '')) differing.push([index, text]);
  }
  return differing;
}

/** A row of an uploaded file, whether it was sent or not. */
export interface UploadFileRow {
  /** Row number as a spreadsheet shows it. */
  readonly number: number;
  /** The column under which each cell was sent, or would have been sent. */
  readonly headings: readonly string[];
  /** Headings as in the file. */
  readonly fileHeadings: readonly string[];
  readonly cells: readonly string[];
  /** The cells that the file writes in another way; undefined if that is not known. */
  readonly written?: WrittenCells | undefined;
  readonly leftOut?: LeftOutRow | undefined;
}

/**
 * How many row numbers one block covers. The borders between blocks are fixed, so that equal parts of two files make
 * equal blocks.
 */
const numbersPerBlock = 1000;

/** Packs the rows of a file into blocks. */
export async function packRows(files: AsyncIterable<readonly UploadFileRow[]>): Promise<RowBlock[]> {
  const blocks: RowBlock[] = [];
  let rows: UploadFileRow[] = [];
  const blockOf = ({ number }: UploadFileRow): number => Math.floor(number / numbersPerBlock);
  const flush = (): void => {
    const [first] = rows;
    if (!first) return;
    const { headings, fileHeadings } = first;
    blocks.push({
      rows: packed({
        ...{ headings, fileHeadings },
        rows: rows.map(({ number, cells }) => [number, ...cells]),
        // One row of a block decides for all: they are of one file, read by one version of errand.
        ...(first.written && {
          written: rows.flatMap(({ number, written = [] }) =>
            written.length > 0 ? [[number, ...written.flat()]] : [],
          ),
        }),
      }),
      leftOut: packed(
        rows.flatMap(({ number, leftOut }) =>
          leftOut ? [[number, leftOut.why, leftOut.reason, leftOut.orderId ?? '', leftOut.batch ?? '']] : [],
        ),
      ),
    });
    rows = [];
  };
  for await (const some of files)
    for (const row of some) {
      if (rows[0] && blockOf(rows[0]) !== blockOf(row)) flush();
      rows.push(row);
    }
  flush();
  return blocks;
}

/** Compresses a value to text, because databases store only text. */
const packed = (value: unknown): string =>
  deflateRawSync(Buffer.from(JSON.stringify(value)), { level: 1 }).toString('base64');

/** @throws StorageError. In a shared database, others may write what cannot be read, or never ends. */
function unpacked(text: string): unknown {
  try {
    const bytes = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: maxBlockBytes });
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new StorageError('what is stored of a file cannot be read', { cause });
  }
}

const maxBlockBytes = 256 << 20;

/**
 * The rows of an upload's file, by row number. Empty if an earlier version of errand made the upload. Reports storage
 * errors.
 */
export async function savedFileRows(
  context: Context,
  { serial, name }: Pick<SavedUpload, 'serial' | 'name'>,
): Promise<ReadonlyMap<number, UploadFileRow>> {
  try {
    const blocks = (await context.uploads()).rowsOf(serial);
    return new Map(blocks.flatMap(rowsIn).map((row) => [row.number, row]));
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    context.note(`${error.message}; the rows of ${name} that were left out are not known`);
    return new Map();
  }
}

function rowsIn({ rows, leftOut }: RowBlock): UploadFileRow[] {
  const block = unpacked(rows);
  const left = unpacked(leftOut);
  const [headings, fileHeadings] = [textsIn(block, 'headings'), textsIn(block, 'fileHeadings')];
  const byNumber = new Map(
    (Array.isArray(left) ? left : []).map((entry: unknown): [number, LeftOutRow] => {
      const [number, why, reason, orderId, batch] = Array.isArray(entry) ? entry.map(String) : [];
      return [
        Number(number),
        {
          ...{ why: why ?? '', reason: reason ?? '' },
          ...{ orderId: orderId || undefined, batch: batch || undefined },
        },
      ];
    }),
  );
  const written = writtenIn(block, headings.length);
  return listIn(block, 'rows').flatMap((row) => {
    if (!Array.isArray(row)) return [];
    const [number, ...cells] = row;
    const found = Number(number);
    return {
      ...{ number: found, headings, fileHeadings, cells: cells.map(String), leftOut: byNumber.get(found) },
      written: written && (written.get(found) ?? []),
    };
  });
}

/** Written cells by row number; undefined in a block of an earlier version. */
function writtenIn(block: unknown, columns: number): ReadonlyMap<number, WrittenCells> | undefined {
  if (!isObject(block) || !Array.isArray(block.written)) return undefined;
  return new Map(
    block.written.flatMap((entry: unknown): [number, WrittenCells][] => {
      if (!Array.isArray(entry)) return [];
      const [number, ...cells] = entry;
      const pairs = Array.from({ length: cells.length >> 1 }, (_, at): [number, string] => [
        Number(cells[at * 2]),
        String(cells[at * 2 + 1]),
      ]);
      return [[Number(number), pairs.filter(([index]) => index >= 0 && index < columns)]];
    }),
  );
}

const textsIn = (value: unknown, name: string): readonly string[] => listIn(value, name).map(String);
