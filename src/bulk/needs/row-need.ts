import { type BulkColumn, bulkListSeparator, type ColumnPlan, planColumns } from '../../api/bulk-columns.ts';
import { listIn, numberIn, objectsIn, textIn } from '../../api/json.ts';
import { canonicalPage } from '../../format/canonical-product.ts';
import type { AttemptNeed, Reference } from '../../journal/attempts.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { needOf } from '../../orders/needs/need.ts';
import { referenceHeading, referenceIn, referenceKey } from '../../orders/needs/reference.ts';
import { firstKeyOf } from '../../orders/needs/row-key.ts';
import type { OrderRecord } from '../../orders/order-record.ts';
import type { UploadRow } from '../rows.ts';
import type { Batch } from '../upload/batches.ts';

/** A row of a file, and its need. */
export interface RowNeed {
  /** Number of the row in the file. */
  readonly number: number;
  /** Key of the first attempt. */
  readonly firstKey: string;
  readonly need: AttemptNeed;
  /** Whether the file gives the key. If it does, the row is compared only with orders that have this key. */
  readonly hasOwnKey: boolean;
  /** Maximum price in cents. */
  readonly ceiling: number;
  /** Maximum price in cents; 0 if the row is paid by an account at the retailer. */
  readonly cents: number;
  readonly urls: readonly string[];
  /** The text of the quantity cell. */
  readonly quantity: string;
  readonly cells: UploadRow;
}

/**
 * Namespace for storing keys that files give, as references. Such a key identifies a need as a reference does, but is
 * not sent as a reference. No real reference has this namespace.
 */
export const ownKeyNamespace = ':key';

/** The quantities of products as text. Equal quantities give equal text. Pure. */
export const quantitiesOf = (lines: readonly { readonly url: string; readonly quantity: number }[]): string =>
  lines
    .map(({ url, quantity }) => `${canonicalPage(url)} ${quantity}`)
    .sort()
    .join('\n');

/** Quantities of a row. */
export function quantitiesIn({ urls, quantity }: Pick<RowNeed, 'urls' | 'quantity'>): string {
  const given = quantity.split(bulkListSeparator).map((part) => Number(part.trim() || 1));
  return quantitiesOf(urls.map((url, index) => ({ url, quantity: given[index] ?? given[0] ?? 1 })));
}

/** Quantities of an order. */
export const quantitiesOfOrder = (order: OrderRecord): string =>
  quantitiesOf(
    objectsIn(order, 'items').map((line) => ({
      url: textIn(line, 'url') ?? '',
      quantity: numberIn(line, 'quantity') ?? 1,
    })),
  );

/** Reads the needs of rows from batches. Resolves the columns once for all batches with the same headings. */
export class RowNeeds {
  #plan: ColumnPlan = planColumns([]);

  of({ rows, numbers, headings, ownKeys = [] }: Batch): RowNeed[] {
    const given = new Set(ownKeys);
    if (this.#plan.headings !== headings) this.#plan = planColumns(headings);
    return rows.map((cells, index) => this.#need(cells, numbers[index] ?? 0, given));
  }

  #need(cells: UploadRow, number: number, ownKeys: ReadonlySet<number>): RowNeed {
    const { headings, columns } = this.#plan;
    const cell = (column: BulkColumn): string => {
      const index = columns.get(column);
      return index === undefined ? '' : (cells[headings[index] ?? ''] ?? '').trim();
    };
    const [first, last] = [cell('first_name'), cell('last_name')];
    const hasBoth = first !== '' && last !== '';
    const hasOwnKey = ownKeys.has(number);
    const key = (cells.idempotency_key ?? cell('idempotency_key')).trim();
    const urls = cell('product_url')
      .split(bulkListSeparator)
      .map((url) => url.trim());
    const ceiling = Number(cell('max_price')) || 0;
    const order = {
      products: urls.map((url) => ({ url })),
      shipping_address: {
        first_name: hasBoth ? first : cell('name') || first,
        last_name: hasBoth ? last : '',
        address_line1: cell('address_line1'),
        address_line2: cell('address_line2'),
        postal_code: cell('postal_code'),
        country: cell('country') || 'US',
      },
    };
    return {
      number,
      cells,
      hasOwnKey,
      ceiling,
      urls,
      quantity: cell('quantity'),
      firstKey: hasOwnKey ? key : firstKeyOf(key),
      need: needOf(order, hasOwnKey ? { namespace: ownKeyNamespace, text: key } : referenceOfRow(cells)),
      cents: cell('retailer_credentials_id') === '' ? ceiling : 0,
    };
  }
}

/** The needs of the rows that a journal record has sent, in order, numbered from 0. */
export function needsOfSent(record: JournalRecord | undefined): RowNeed[] {
  const rows = listIn(record?.body ?? {}, 'rows') as readonly UploadRow[];
  const headings = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return new RowNeeds().of({ key: '', rows, numbers: rows.map((_, at) => at), headings });
}

/** The reference with which a row is sent. */
export const referenceOfRow = (cells: UploadRow): Reference | undefined =>
  Object.hasOwn(cells, referenceHeading)
    ? referenceIn({ [referenceKey]: cells[referenceHeading] })
    : undefined;
