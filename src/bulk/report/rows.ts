import { bulkListSeparator, type ColumnPlan, planColumns } from '../../api/bulk-columns.ts';
import { type BulkRow, readBulkRow, rowReader } from '../../api/bulk-row.ts';
import { isObject, type JsonObject, listIn, objectsIn, own, textIn } from '../../api/json.ts';
import type { ShownState } from '../../api/order-state.ts';
import { valueAt } from '../../api/received.ts';
import { plainText } from '../../format/path.ts';
import type { TitleOf } from '../../format/result.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import type { TableLayout } from '../../journal/uploads.ts';
import { concessionText, failureText, sentences } from '../../orders/columns.ts';
import { firstKeyOf } from '../../orders/needs/row-key.ts';
import {
  type IdentifiedOrder,
  type Order,
  type OrderRecord,
  stateOfOrder,
} from '../../orders/order-record.ts';
import { productLine, quotedOf } from '../../orders/screen.ts';
import { StorageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { addedSums, type MoneyLine, type MoneySum, type Payer } from '../../spending/money-lines.ts';
import { moneyOf } from '../../spending/money-of-order.ts';
import { centsIn } from '../../spending/price-of-order.ts';
import { shownHeadings } from '../csv/headings.ts';
import { stableKey } from '../rows.ts';
import {
  type Batch,
  type BatchRow,
  isMet,
  type LaterAttempt,
  type OtherAttempt,
  orderOfAttempt,
  type RowState,
  rowName,
  rowsOf,
  stateOf,
  tellingAttempts,
} from '../upload/batch.ts';
import { codeOfReason, rowState } from '../upload/columns.ts';
import type { LeftOutRow, UploadFileRow, WrittenCells } from '../upload/file-rows.ts';
import { findJournaledRows, type UploadedRows } from '../upload/uploaded-rows.ts';

/** One attempt at ordering a file's row. It is itself a row of a batch. */
export interface Attempt extends FileRow {
  /** The upload whose file contains the row; undefined if this machine does not know it. */
  readonly upload: string | undefined;
  /** Whether the batch belongs to another upload, which ordered the row earlier. */
  readonly isEarlier: boolean;
  readonly batch: Batch;
  readonly row: BatchRow;
  readonly rowStatus: RowState;
  /** The order that the attempt made, or the existing order that its batch names. */
  readonly orderId: string | undefined;
}

/** A row of a file with all attempts at ordering it. Amounts are in minor units. */
export interface ReportRow {
  readonly number: number | undefined;
  readonly own: OwnCells;
  /** Whether this machine uploaded the row. */
  readonly isFromHere: boolean;
  /** Number of attempts. The latest attempt decides the outcome. */
  readonly attempts: number;
  /** The attempt that decides the outcome, if that attempt is in none of the reported batches. */
  readonly later: LaterAttempt | undefined;
  /** The upload whose file contains the row; undefined if this machine does not know it. */
  readonly upload: string | undefined;
  /**
   * What identifies the row's file: the name of the upload, or else the file name in the batch. For a row without a
   * number, it is the id of the batch.
   */
  readonly file: string;
  /** Whether an earlier command ordered the row, so that this upload never sent it. */
  readonly isEarlier: boolean;
  /** The batch with the latest attempt, and the attempt's row in it; undefined if the row is in no batch. */
  readonly batch: Batch | undefined;
  readonly row: BatchRow | undefined;
  readonly rowStatus: RowState | 'left_out';
  readonly state: ShownState;
  readonly orderId: string | undefined;
  /** Order of the latest attempt; undefined if there is none or if it could not be read. */
  readonly order: OrderFacts | undefined;
  /** Order ids of all attempts. */
  readonly orders: readonly string[];
  readonly ceiling: number | undefined;
  /** Totals of all the row's orders, per payer and currency. */
  readonly sums: readonly MoneySum[];
  readonly byRule: readonly MoneyLine['what'][];
  readonly errorType: string;
  readonly reason: string;
  /** States of the returns of the latest attempt's order. */
  readonly returns: readonly string[];
  readonly urls: readonly string[];
  readonly products: Products;
}

/** An order's products on one line, or what names them if that depends on what else is known of them. */
type Products = string | OrderRecord;

/** A row's products on one line. */
export const productLineOf = ({ products }: Pick<ReportRow, 'products'>, titleOf?: TitleOf): string =>
  typeof products === 'string' ? products : productLine(products, titleOf);

/** Represents a batch row as an attempt. Pure. */
export function attemptOf(
  batch: Batch,
  row: BatchRow,
  file: FileRow & Pick<Attempt, 'upload' | 'isEarlier'>,
): Attempt {
  const { own, number, requested, upload, isEarlier } = file;
  const [rowStatus, orderId] = [stateOf(row, batch), orderOfAttempt(row, batch)];
  return { own, number, requested, upload, isEarlier, batch, row, rowStatus, orderId };
}

/**
 * Groups the attempts into chains, one per file row, each in order of batch creation. A retry belongs to the row with
 * the same number in its upload, or else to the row from whose idempotency key its own key was derived. A later attempt
 * of another upload belongs to the row for which it was made. Two rows of one file never share a chain. Pure.
 */
export function chainsOf(attempts: Iterable<Attempt>): Attempt[][] {
  const chains: Attempt[][] = [];
  const known = new Map<string, Attempt[]>();
  for (const attempt of attempts) {
    const { number, requested, upload, batch, row } = attempt;
    const isOther = (one: Attempt): boolean => one.upload === upload && one.number !== number;
    const isOfRow = (chain: readonly Attempt[] | undefined): boolean =>
      chain !== undefined && !(upload !== undefined && number !== undefined && chain.some(isOther));
    const key = requested?.key ?? '';
    const names = [
      ...(upload === undefined || number === undefined ? [] : [`row ${number} of ${upload}`]),
      ...(key === '' ? [] : [`key ${firstKeyOf(key)}`]),
      rowName(batch.id, row.index),
      ...(row.later?.row ? [rowName(row.later.row.batchId, row.later.row.index)] : []),
    ];
    const chain = names.map((name) => known.get(name)).find(isOfRow) ?? [];
    if (chain.length === 0) chains.push(chain);
    chain.push(attempt);
    for (const name of [...names, `key ${stableKey(['retry', batch.id, row.index])}`]) known.set(name, chain);
  }
  return chains;
}

/** Drops an attempt if its outcome is that of a later attempt in another reported batch. Pure. */
const withoutRepeats = (chain: readonly Attempt[]): readonly Attempt[] => {
  if (chain.length === 1) return chain;
  const reported = new Set(
    chain.flatMap(({ batch, row }) => (row.later ? [] : rowName(batch.id, row.index))),
  );
  return chain.filter(
    ({ row: { later } }) => !(later?.row && reported.has(rowName(later.row.batchId, later.row.index))),
  );
};

/**
 * Builds the rows of a report. Each order counts once, even if several rows refer to it. Pure. @param orders holds the
 * orders that could be read, by id. @param returns holds the states of the orders' returns, by order id in lowercase.
 */
export function reportRows(
  chains: readonly (readonly Attempt[])[],
  orders: ReadonlyMap<string, OrderFacts>,
  returns: ReadonlyMap<string, readonly string[]> = new Map(),
): ReportRow[] {
  const counted = new Set<string>();
  return chains.flatMap((chain): ReportRow | [] => {
    const own = withoutRepeats(chain);
    const tried = tellingAttempts(own);
    const [first, latest] = [own[0], tried.at(-1)];
    if (!first || !latest) return [];
    const between = chain.flatMap(({ row: { later } }) => later?.between ?? []);
    const ids = [...new Set([...tried, ...between].flatMap(({ orderId }) => orderId ?? []))];
    const uncounted = ids.filter((id) => counted.size < counted.add(id).size);
    const { sums, byRule } = amountsOf(uncounted.flatMap((id) => orders.get(id) ?? []));
    const order = latest.orderId === undefined ? undefined : orders.get(latest.orderId);
    const requested = latest.requested ?? first.requested;
    const { errorType, reason } = whyOf(latest, order);
    const { urls, products } = productOf(latest, order);
    // No spreads: V8 makes the many fields of a row faster, and smaller, if it knows all of them.
    return {
      number: first.number,
      own: first.own,
      isFromHere: requested !== undefined,
      attempts: new Set([...tried.map(nameOfTried), ...between.map(nameOfAttempt)]).size,
      later: latest.row.later,
      upload: first.upload,
      file: fileOf(first),
      isEarlier: own.every((one) => one.isEarlier),
      batch: latest.batch,
      row: latest.row,
      rowStatus: latest.rowStatus,
      state: shownState(latest, order),
      orderId: latest.orderId,
      order,
      orders: ids,
      ceiling: order?.ceiling ?? requested?.maxPrice ?? undefined,
      sums,
      byRule,
      errorType,
      reason,
      returns: returns.get(latest.orderId?.toLowerCase() ?? '') ?? noReturns,
      urls,
      products,
    };
  });
}

const noReturns: readonly string[] = [];

/** Amounts of all orders of a row, which has one as a rule. */
function amountsOf(orders: readonly OrderFacts[]): Pick<ReportRow, 'sums' | 'byRule'> {
  const [first] = orders;
  if (first && orders.length === 1 && first.sums.length < 2)
    return { sums: first.sums, byRule: first.byRule };
  return {
    sums: addedSums(orders.flatMap(({ sums }) => sums)),
    byRule: [...new Set(orders.flatMap(({ byRule }) => byRule))],
  };
}

const fileOf = ({ upload, number, batch }: Attempt): string =>
  number === undefined ? batch.id : (upload ?? plainText(batch.filename));

/**
 * A row that is in no batch: it was left out, or is not sent yet. @param upload is the name of the row's upload. Pure.
 */
export function unsentRow(upload: string, row: UploadFileRow): ReportRow {
  const { number, leftOut } = row;
  const { own, requested } = savedRow(row);
  const urls = requested.productUrls;
  return {
    ...{ number, own, isFromHere: true, attempts: 0, later: undefined },
    ...{ upload, file: upload },
    ...{ batch: undefined, row: undefined, ...unsentState(leftOut) },
    ...{ orderId: undefined, order: undefined, orders: [], ceiling: requested.maxPrice ?? undefined },
    ...{
      sums: [],
      byRule: [],
      errorType: isPlaced(leftOut) ? '' : (leftOut?.why ?? ''),
      reason: leftOut?.reason ?? '',
    },
    ...{ returns: [], urls },
    products: requestedProducts(requested),
  };
}

const isPlaced = (leftOut: LeftOutRow | undefined): boolean => leftOut?.why === 'placed';

function unsentState(leftOut: LeftOutRow | undefined): Pick<ReportRow, 'rowStatus' | 'state' | 'isEarlier'> {
  const isEarlier = isPlaced(leftOut);
  if (!leftOut) return { rowStatus: 'waiting', state: { text: 'not sent yet', mood: 'waiting' }, isEarlier };
  return isEarlier
    ? { rowStatus: 'before', state: { text: 'ordered before', mood: 'past' }, isEarlier }
    : { rowStatus: 'left_out', state: { text: 'left out', mood: 'bad' }, isEarlier };
}

/** A row of a file as it was stored with its upload. Pure. */
export const savedRow = (row: UploadFileRow): FileRow & { readonly requested: RequestedOrder } => ({
  own: savedCells(row),
  number: row.number,
  requested: requestedIn(readBulkRow(fileOfRow(row).plan, row.cells)),
});

function savedCells(row: UploadFileRow): OwnCells {
  const { headings: names, fileHeadings, cells, written } = row;
  // Cells are found by their headings, so that equal ones cannot stay as they are.
  const isClear = new Set(fileHeadings).size === names.length;
  return {
    ...{ headings: fileOfRow(row).shown, names, cells },
    inFile: isClear && written ? { headings: fileHeadings, written } : undefined,
  };
}

/** The row with its headings and cells as its file writes them, as far as that is known here. */
export function asInFile<T extends Pick<ReportRow, 'own'>>(row: T): T {
  const { own } = row;
  if (!own.inFile) return row;
  const { headings, written } = own.inFile;
  const cells = [...own.cells];
  for (const [index, text] of written) if (index < cells.length) cells[index] = text;
  return { ...row, own: { ...own, headings, cells } };
}

/** Rows of one file share their headings. */
function fileOfRow({ headings, fileHeadings }: UploadFileRow): typeof lastFile {
  if (headings !== lastFile.plan.headings)
    lastFile = { plan: planColumns(headings), shown: shownHeadings(headings, fileHeadings) };
  return lastFile;
}

let lastFile: { readonly plan: ColumnPlan; readonly shown: readonly string[] } = {
  plan: planColumns([]),
  shown: [],
};

/** Names an attempt by its order, or by its row if the attempt made no order. */
const nameOfAttempt = ({ orderId, row }: OtherAttempt): string =>
  orderId?.toLowerCase() ?? (row ? rowName(row.batchId, row.index) : '');

const nameOfTried = ({ orderId, batch, row: { later, index } }: Attempt): string =>
  nameOfAttempt({ orderId, row: later ? later.row : { batchId: batch.id, index } });

/**
 * State to show for an attempt. An order does not show whether all of it was returned, so a withdrawn row shows its own
 * state.
 */
const shownState = ({ row, batch, rowStatus }: Attempt, order: OrderFacts | undefined): ShownState =>
  rowStatus === 'withdrawn' || !order ? rowState(row, batch) : order.state;

function whyOf(
  { row, batch, rowStatus }: Attempt,
  order: OrderFacts | undefined,
): Pick<ReportRow, 'errorType' | 'reason'> {
  const reported = plainText(row.error);
  if (order && (reported === '' || isMet(row, batch))) {
    const isCancelled = rowStatus === 'failed' && order.status.startsWith('cancelled');
    return { errorType: isCancelled ? order.status : order.errorType, reason: order.reason };
  }
  const code = codeOfReason(reported) ?? '';
  // A row whose key already had an order has not failed.
  const errorType = rowStatus === 'before' || rowStatus === 'withdrawn' ? '' : code;
  return { errorType, reason: reported.slice(code.length).replace(/^:\s*/, '') };
}

function productOf(
  { requested, row }: Attempt,
  order: OrderFacts | undefined,
): Pick<ReportRow, 'urls' | 'products'> {
  const { product_urls } = row.record;
  const productUrls =
    requested?.productUrls ?? (Array.isArray(product_urls) ? product_urls.map(plainText) : []);
  const products =
    order?.products ?? requestedProducts({ productUrls, quantities: requested?.quantities ?? [] });
  return { urls: productUrls, products };
}

const requestedProducts = ({
  productUrls,
  quantities,
}: Pick<RequestedOrder, 'productUrls' | 'quantities'>): Products => ({
  items: productUrls.map((url, at) => ({ url, quantity: quantities[at] ?? 1 })),
});

/** Id of the stand-in batch that holds single orders placed by earlier commands. */
export const noBatch = 'earlier orders';

/** The cells of an uploaded row under its file's headings. */
interface OwnCells {
  readonly headings: readonly string[];
  /** The column under which each heading was sent: an order column, `metadata.KEY`, or the heading itself. */
  readonly names: readonly string[];
  readonly cells: readonly string[];
  /** What the file writes in another way; undefined if that is not known here. */
  readonly inFile?: { readonly headings: readonly string[]; readonly written: WrittenCells } | undefined;
}

/** A row of a batch as it appears in its file. Contains only what this machine knows. */
export interface FileRow {
  readonly own: OwnCells;
  /** Row number as a spreadsheet shows it; undefined if unknown on this machine. */
  readonly number: number | undefined;
  /** The requested order; undefined if another machine uploaded it. */
  readonly requested: RequestedOrder | undefined;
}

/** The parts of a requested order that a report needs. Kept small, as those of an order are. */
interface RequestedOrder {
  /** Empty if the row gave none. */
  readonly key: string;
  /** Cents. */
  readonly maxPrice: number | null;
  readonly productUrls: readonly string[];
  readonly quantities: readonly number[];
}

const requestedIn = ({ maxPrice, productUrls, quantities, cell }: BulkRow): RequestedOrder => ({
  ...{ key: cell('idempotency_key'), maxPrice, productUrls, quantities },
});

/** Maps a batch row to its file row. */
type FileRowOf = (row: BatchRow) => FileRow;

/** What is stored of a file, which may be stored longer than the rows that were sent. */
interface StoredFile {
  readonly layout: TableLayout | undefined;
  /** Finds a row of the file by its number. */
  readonly rowAt: (number: number | undefined) => UploadFileRow | undefined;
}

/**
 * Restores a batch's rows with their file's columns in order. Takes them from the stored file, the upload if it was made
 * on this machine, or else from what the service echoes. Prices are in cents, with a heading that says so.
 */
export async function fileRowsOf(context: Context, batch: Batch, file: StoredFile): Promise<FileRowOf> {
  const uploaded = await uploadedFromHere(context, batch);
  const sentRowOf = uploaded ? sent(uploaded, file) : echoed(batch, file);
  return (row) => {
    const { number, own, requested } = sentRowOf(row);
    const saved = file.rowAt(number);
    return {
      number,
      own: saved ? savedCells(saved) : own(),
      requested: requested ?? (saved && savedRow(saved).requested),
    };
  };
}

/** Like `FileRowOf`, but the cells are made only where the file does not have them. */
type SentRowOf = (row: BatchRow) => Omit<FileRow, 'own'> & { readonly own: () => OwnCells };

/** Rows of a batch uploaded from this machine. */
function sent(uploaded: UploadedRows, { layout: savedLayout }: StoredFile): SentRowOf {
  const { rows, layout = savedLayout } = uploaded;
  const names = layout?.headings ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const headings = shownHeadings(names, layout?.fileHeadings);
  const read = rowReader();
  return ({ index }) => {
    const cells = rows[index];
    return {
      own: () => ({ headings, names, cells: names.map((name) => plainText(own(cells, name))) }),
      number: layout?.numbers[index],
      requested: cells && requestedIn(read(cells).row),
    };
  };
}

/** Ignores storage errors, because local data only adds to what the service says. */
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

/**
 * Rows of a batch that only the service knows. As in the service's own results, each has the service's fields plus the
 * passthrough cells.
 */
function echoed(batch: Batch, { layout }: StoredFile): SentRowOf {
  const passed = [
    ...new Set(
      rowsOf(batch).flatMap(({ record: { passthrough } }) =>
        isObject(passthrough) ? Object.keys(passthrough) : [],
      ),
    ),
  ];
  const headings = ['recipient', 'product_urls', ...passed];
  return ({ index, record }) => ({
    own: () => ({
      headings,
      names: headings,
      cells: headings.map((name, at) => {
        if (at === 0) return plainText(record.recipient);
        if (at === 1) return listIn(record, 'product_urls').map(plainText).join(bulkListSeparator);
        return plainText(own(record.passthrough, name));
      }),
    }),
    number: layout?.numbers[index],
    requested: undefined,
  });
}

/** Headings of all rows, in order of first appearance. */
export const headingsOf = (rows: Iterable<{ readonly own: Pick<OwnCells, 'headings'> }>): string[] => {
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

/** Cell of a row under a heading; empty if the row's file has no such column. */
export const cellUnder = ({ headings, cells }: OwnCells, heading: string): string => {
  const at = headings.indexOf(heading);
  return at < 0 ? '' : (cells[at] ?? '');
};

/**
 * The part of an order's record that a report needs. It is small, so that thousands fit in memory. Amounts are in minor
 * units.
 */
export interface OrderFacts {
  readonly id: string;
  readonly status: string;
  readonly state: ShownState;
  /** ISO 8601; empty if the service does not give it. */
  readonly createdAt: string;
  readonly ceiling: number | undefined;
  readonly payer: Payer;
  readonly sums: readonly MoneySum[];
  /** Kinds of amounts that are derived from the service's rules, at least in part. */
  readonly byRule: readonly MoneyLine['what'][];
  /** False if the order lacks some of its amounts. */
  readonly isComplete: boolean;
  readonly quoted: { readonly cents: number; readonly currency: string } | undefined;
  readonly tracking: readonly string[];
  /** Code such as `max_price_exceeded`; empty if the order has not failed. */
  readonly errorType: string;
  /** The reason of the failure, or the relaxed concern, in words. */
  readonly reason: string;
  readonly metadata: JsonObject | undefined;
  readonly products: Products;
}

/** Extracts the facts about an order that a report needs. Pure. @param feeCents is the service's fee per order. */
export function factsOf(order: IdentifiedOrder, feeCents: number | undefined): OrderFacts {
  const { payer, lines, sums, isComplete } = moneyOf(order, { feeCents });
  const { metadata } = order;
  return {
    id: order.id,
    status: plainText(order.status),
    state: stateOfOrder(order),
    createdAt: textIn(order, 'created_at') ?? '',
    ceiling: centsIn(order, 'max_price'),
    payer,
    sums,
    byRule: byRuleIn(lines),
    isComplete,
    quoted: quotedOf(order),
    tracking: objectsIn(order, 'tracking_numbers').flatMap((one) => textIn(one, 'tracking_number') || []),
    errorType: plainText(valueAt<Order>(order, 'job_result.error_type')),
    reason: reasonIn(order),
    metadata: isObject(metadata) && Object.keys(metadata).length > 0 ? metadata : undefined,
    products: productsIn(order),
  };
}

const byRuleIn = (lines: readonly MoneyLine[]): OrderFacts['byRule'] => [
  ...new Set(lines.flatMap(({ what, basis }) => (basis === 'by_rule' ? [what] : []))),
];

function productsIn(order: OrderRecord): Products {
  let isOpen = false;
  const line = productLine(order, () => {
    isOpen = true;
    return undefined;
  });
  return isOpen ? naming(order) : line;
}

function reasonIn(order: OrderRecord): string {
  const failure = failureText(order);
  if (failure !== '') return failure;
  return sentences(objectsIn(order.fulfillment, 'concessions').map(concessionText));
}

/** Keeps only those fields of a record that `productsOf` reads. */
function naming(order: OrderRecord): OrderRecord {
  const price = valueAt<Order>(order, 'job_result.price_components');
  return {
    status: order.status,
    items: objectsIn(order, 'items').map(({ id, url, quantity }) => ({ id, url, quantity })),
    fulfillment: { concessions: own(order.fulfillment, 'concessions') },
    job_result: {
      price_components: {
        cart_items: objectsIn(price, 'cart_items').map(({ name, product_id, quantity }) => ({
          name,
          product_id,
          quantity,
        })),
      },
    },
  };
}
