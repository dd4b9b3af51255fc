import { textIn } from '../../api/json.ts';
import { unlessMissing } from '../../http/response.ts';
import type { Context } from '../../run/context.ts';
import { readWallet } from '../../spending/report/read.ts';
import { ifReadable } from '../csv/headings.ts';
import { readOutcomes } from '../needs/later-attempts.ts';
import {
  type Batch,
  type BatchRow,
  orderOfAttempt,
  rowsOf,
  withLater,
  withReturned,
} from '../upload/batch.ts';
import { noOrderCode, savedFileRows, type UploadFileRow } from '../upload/file-rows.ts';
import { metOrders, withNamedOrders, withOrders } from '../upload/met-orders.ts';
import {
  type KnownUpload,
  type NamedBatches,
  readBatches,
  uploadNames,
  uploadOfBatch,
} from '../upload/named.ts';
import { readOrders } from './read-orders.ts';
import {
  type Attempt,
  attemptOf,
  chainsOf,
  fileRowsOf,
  noBatch,
  type ReportRow,
  reportRows,
  savedRow,
  unsentRow,
} from './rows.ts';

/** The outcome of uploads, row by row. */
export interface Report {
  /** The rows in file order, one upload after the other. */
  readonly rows: readonly ReportRow[];
  readonly batches: readonly Batch[];
  /** Number of orders that were not found and so have no amounts. */
  readonly missing: number;
  /** Number of orders of which some amounts are missing. */
  readonly incomplete: number;
}

interface ReportOptions {
  readonly read?: ReadonlyMap<string, Batch>;
  readonly isWhole?: boolean;
}

/**
 * Reads the outcome of batches row by row. A row and its retries count as one row. For a named upload, includes every
 * row of the file, even a row that was left out, is not sent yet or was ordered by an earlier command. @param read
 * holds batches that were just fetched, by id. @param isWhole also includes rows of the file that are no orders: rows
 * that continue an order, rows with sums, and blank rows between others. @throws ErrandError.
 */
export async function readReport(
  context: Context,
  { ids, uploads, counted }: Pick<NamedBatches, 'ids' | 'uploads' | 'counted'>,
  { read = new Map(), isWhole = false }: ReportOptions = {},
): Promise<Report> {
  const own = (await readBatches(context, ids, read)).sort(byAge);
  const files = await UploadFiles.open(context, uploads, isWhole);
  const sent = await withNamedOrders(context, [...own, ...(await files.earlierBatches(context, own))]);
  const others = metOrders(sent);
  const hasOrders = others.length > 0 || sent.some((batch) => rowsOf(batch).some(isOrdered));
  const { feeCents } = hasOrders ? await readWallet(context) : { feeCents: undefined };
  const orders = await readOrders(context, { batches: sent, others, feeCents });
  const known = withOrders(sent, orders);
  const { returned, states, later } = await readOutcomes(
    context,
    { uploads, counted },
    known.filter(isOfService),
  );
  const whole = withReturned(known, returned);
  const laterIds = [...later.values()].flatMap(({ orderId, between }) =>
    [orderId, ...between.map((one) => one.orderId)].flatMap((id) => id ?? []),
  );
  const unread = laterIds.filter((id) => !orders.has(id));
  for (const [id, order] of await readOrders(context, { batches: [], others: unread, feeCents }))
    orders.set(id, order);
  const batches = withOrders(withLater(whole, later), orders);
  const attempts: Attempt[] = [];
  const savedLayouts = new Map(
    uploads.flatMap(({ batches: some }) => some.map((one) => [one.id, one.layout])),
  );
  const single = new FilesOfBatches(context);
  for (const [at, batch] of whole.entries()) {
    const { upload, rowAt } = files.fileOf(batch.id);
    const layout = savedLayouts.get(batch.id);
    const stored = { layout, rowAt: upload === undefined ? await single.rowsOf(batch.id) : rowAt };
    const fileRowOf = at < own.length ? await fileRowsOf(context, batch, stored) : undefined;
    const latest = rowsOf(batches[at] ?? batch);
    for (const [index, row] of rowsOf(batch).entries()) {
      const last = latest[index];
      const own = fileRowOf ? [{ ...fileRowOf(row), upload, isEarlier: false }] : [];
      for (const file of [...own, ...files.metBy(batch.id, row.index)]) {
        attempts.push(attemptOf(batch, row, file));
        if (last?.later) attempts.push(attemptOf(batch, last, file));
      }
    }
  }
  const rows = inFileOrder([...reportRows(chainsOf(attempts), orders, states), ...files.unsent(attempts)]);
  const named = new Set(rows.flatMap((row) => row.orders));
  return {
    rows,
    batches: batches.slice(0, own.length),
    missing: [...named].filter((id) => !orders.has(id)).length,
    incomplete: [...named].filter((id) => orders.get(id)?.isComplete === false).length,
  };
}

type RowOfFile = Parameters<typeof attemptOf>[2];

/** A row that an earlier command ordered, and the id of its order. */
interface EarlierRow {
  readonly upload: string;
  readonly row: UploadFileRow;
  readonly orderId: string;
  /** Id of the order's batch; undefined for a single order. */
  readonly batchId: string | undefined;
}

const isOfService = ({ id }: Batch): boolean => id !== noBatch;

/** The file of an upload. */
interface UploadFile {
  readonly upload: string;
  readonly rows: ReadonlyMap<number, UploadFileRow>;
  /** Numbers of the rows that are in batches of the upload. */
  readonly sent: ReadonlySet<number>;
}

/** The files of uploads, including rows that are in no batch. */
class UploadFiles {
  readonly #files: readonly UploadFile[];
  readonly #names: ReadonlyMap<string, string>;
  readonly #idOf: (batch: string) => string | undefined;
  /** The rows that earlier commands ordered. Keyed by the batch that has the order, then by row index. */
  readonly #met = new Map<string, Map<number, EarlierRow[]>>();

  private constructor(
    files: readonly UploadFile[],
    names: ReadonlyMap<string, string>,
    idOf: (batch: string) => string | undefined,
  ) {
    this.#files = files;
    this.#names = names;
    this.#idOf = idOf;
  }

  static async open(
    context: Context,
    uploads: readonly KnownUpload[],
    isWhole: boolean,
  ): Promise<UploadFiles> {
    const files: UploadFile[] = [];
    for (const upload of uploads) {
      const sent = new Set(
        upload.batches.flatMap(({ id, layout }) => (id === undefined ? [] : layout.numbers)),
      );
      const saved = await savedFileRows(context, upload);
      // The gaps between a shard's rows are rows of other shards, not blank rows.
      const isShard = textIn(upload.source, 'shard') !== undefined;
      const whole = isShard ? saved : withBlanks(saved);
      files.push({ upload: upload.name, rows: isWhole ? whole : ordersIn(saved), sent });
    }
    const { baseUrl } = context.settings;
    const [journal, known] =
      uploads.length > 0 ? [await context.journal(), await context.uploads()] : [undefined, undefined];
    const idOf = (key: string): string | undefined =>
      journal?.find(key, baseUrl.value)?.order_id ?? known?.idOf(key);
    return new UploadFiles(files, uploadNames(uploads), idOf);
  }

  /**
   * Finds the rows of the files that earlier commands ordered. @param own are the batches of the uploads. @returns the
   * other batches that ordered such rows. Each contains only these rows.
   */
  async earlierBatches(context: Context, own: readonly Batch[]): Promise<Batch[]> {
    const known = new Set(own.map(({ id }) => id));
    const rows = this.#earlierRows();
    const ids = new Set(rows.flatMap(({ batchId }) => batchId ?? []));
    const read = new Map(own.map((batch) => [batch.id, batch]));
    for (const id of ids)
      if (!known.has(id))
        for (const batch of (await unlessMissing(readBatches(context, [id]))) ?? []) read.set(id, batch);
    const single: EarlierRow[] = [];
    for (const one of rows) {
      const batch = one.batchId === undefined ? undefined : read.get(one.batchId);
      const of = one.orderId.toLowerCase();
      const found = batch && rowsOf(batch).find((row) => orderOfAttempt(row, batch)?.toLowerCase() === of);
      if (batch && found) this.#add(batch.id, found.index, one);
      else single.push(one);
    }
    for (const [index, one] of single.entries()) this.#add(noBatch, index, one);
    const others = [...read.values()].flatMap((batch): Batch | [] => {
      const met = known.has(batch.id) ? undefined : this.#met.get(batch.id);
      const rows = met && rowsOf(batch).filter(({ index }) => met.has(index));
      return rows
        ? ({ ...batch, rows: rows.map(({ index, record }) => ({ ...record, index })) } as Batch)
        : [];
    });
    return single.length > 0 ? [...others, batchOf(single)] : others;
  }

  #earlierRows(): EarlierRow[] {
    return this.#files.flatMap(({ upload, rows, sent }) =>
      [...rows.values()].flatMap((row): EarlierRow | [] => {
        const { why, orderId, batch } = row.leftOut ?? {};
        if (why !== 'placed' || orderId === undefined || sent.has(row.number)) return [];
        return { upload, row, orderId, batchId: batch === undefined ? undefined : this.#idOf(batch) };
      }),
    );
  }

  #add(batchId: string, index: number, row: EarlierRow): void {
    const ofBatch = this.#met.get(batchId) ?? new Map<number, EarlierRow[]>();
    this.#met.set(batchId, ofBatch);
    const known = ofBatch.get(index);
    if (known) known.push(row);
    else ofBatch.set(index, [row]);
  }

  /** The rows of files whose order a given row of a batch has made. */
  metBy(batchId: string, index: number): RowOfFile[] {
    const met = this.#met.get(batchId)?.get(index) ?? [];
    return met.map(({ upload, row }) => ({ ...savedRow(row), upload, isEarlier: true }));
  }

  /** The upload that a batch is of, and its file. */
  fileOf(batchId: string) {
    const upload = this.#names.get(batchId);
    const file = upload === undefined ? undefined : this.#files.find((one) => one.upload === upload);
    const rowAt = (number: number | undefined): UploadFileRow | undefined =>
      number === undefined ? undefined : file?.rows.get(number);
    return { upload, rowAt };
  }

  /** The rows of files for which there is no attempt. */
  *unsent(attempts: readonly Attempt[]): Generator<ReportRow> {
    const tried = new Set(attempts.map(({ upload, number }) => `${number} ${upload}`));
    for (const { upload, rows } of this.#files)
      for (const row of rows.values())
        if (!tried.has(`${row.number} ${upload}`)) yield unsentRow(upload, row);
  }
}

type SavedRows = ReadonlyMap<number, UploadFileRow>;

/** The files of batches that are named by their ids. Only rows of these batches are read from them. */
class FilesOfBatches {
  readonly #context: Context;
  readonly #files = new Map<number, SavedRows>();

  constructor(context: Context) {
    this.#context = context;
  }

  /** Finds a row of a batch's file by its number. Finds none if another machine uploaded the file. */
  async rowsOf(batchId: string): Promise<(number: number | undefined) => UploadFileRow | undefined> {
    const rows = await this.#rowsOf(batchId);
    return (number) => (number === undefined ? undefined : rows?.get(number));
  }

  async #rowsOf(batchId: string): Promise<SavedRows | undefined> {
    const upload = await ifReadable(() => uploadOfBatch(this.#context, batchId));
    if (!upload) return undefined;
    const known = this.#files.get(upload.serial);
    if (known) return known;
    const rows = await savedFileRows(this.#context, upload);
    this.#files.set(upload.serial, rows);
    return rows;
  }
}

const ordersIn = (rows: SavedRows): SavedRows =>
  new Map([...rows].filter(([, { leftOut }]) => leftOut?.why !== noOrderCode));

/** Maximum number of consecutive blank rows inside a table. */
const maxBlanks = 1000;

/** Adds the blank rows between others, so that each row keeps its position in the file. */
function withBlanks(rows: SavedRows): SavedRows {
  const whole = new Map<number, UploadFileRow>();
  let last: UploadFileRow | undefined;
  for (const row of rows.values()) {
    if (last && row.number - last.number <= maxBlanks)
      for (let number = last.number + 1; number < row.number; number += 1)
        whole.set(number, { ...last, number, cells: [], leftOut: { why: noOrderCode, reason: 'is blank' } });
    whole.set(row.number, row);
    last = row;
  }
  return whole;
}

/** A stand-in for a batch. It presents single orders as rows whose key already had an order. */
const batchOf = (rows: readonly EarlierRow[]): Batch =>
  ({
    ...{ id: noBatch, status: 'completed', row_count: rows.length },
    rows: rows.map(({ orderId }, index) => ({
      ...{ index, status: 'failed', error: `already_exists: ${orderId}`, order_id: orderId },
      order_status: null,
    })),
  }) as unknown as Batch;

const isOrdered = ({ orderId }: BatchRow): boolean => orderId !== undefined;

const byAge = (one: Batch, other: Batch): number => madeAt(one) - madeAt(other);
const madeAt = (batch: Batch): number => Date.parse(textIn(batch, 'created_at') ?? '') || 0;

/** Sorts the rows of each file by number. Rows without a number keep their order. */
function inFileOrder(rows: readonly ReportRow[]): ReportRow[] {
  const files = new Map<string, ReportRow[]>();
  for (const row of rows) {
    const ofFile = files.get(row.file) ?? [];
    files.set(row.file, ofFile);
    ofFile.push(row);
  }
  const last = Number.POSITIVE_INFINITY;
  return [...files.values()].flatMap((ofFile) =>
    ofFile.sort((one, other) => (one.number ?? last) - (other.number ?? last) || 0),
  );
}
