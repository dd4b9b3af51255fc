import { destinationOf, orderOfRow, passthroughOf, recipientOf, rowReader } from '../../api/bulk-row.ts';
import { setOwn } from '../../api/json.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { setImmediate } from '../../platform/own-timers.ts';
import { refuseAtOnce, walletTerms } from '../orders/create.ts';
import type { OrderBody } from '../orders/lifecycle/types.ts';
import { ErrorResponse, Invalid } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';

export interface CheckedRow {
  readonly shown: Shape<'BulkRowValidation'>;
  /** The row's order; null if the row is invalid. */
  readonly body: OrderBody | null;
  /** The most that the order can cost the wallet, in cents; 0 if the row is invalid. */
  readonly cents: number;
}

type Cells = Shape<'BulkUploadRequest'>['rows'][number];

function asTexts(cells: Cells): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const heading of Object.keys(cells)) setOwn(texts, heading, String(cells[heading] ?? ''));
  return texts;
}

/** Number of rows to check before yielding to other requests. */
const batch = 100;

/**
 * Parses every row as an order and checks it as `POST /orders` would, but does not check the wallet. Preserves row
 * order.
 */
export async function checkRows(
  service: Service,
  userId: string,
  rows: Shape<'BulkUploadRequest'>['rows'],
): Promise<CheckedRow[]> {
  const { checkShape } = await import('../../api/schemas/check.ts');
  const read = rowReader();
  const checked: CheckedRow[] = [];
  for (const [index, cells] of rows.entries()) {
    if (index % batch === batch - 1) await new Promise((resolve) => setImmediate(resolve));
    const { plan, values, row } = read(asTexts(cells));
    const errors = row.issues.map(({ column, value, message }) =>
      value === '' ? `${column} ${message}` : `${column} "${value}" ${message}`,
    );
    let body: OrderBody | null = null;
    if (errors.length === 0) {
      const { value, issues } = checkShape('OrderCreate', orderOfRow(plan, values, row), 'body');
      if (value) {
        const refused = await rejectionOf(service, userId, value);
        if (refused) errors.push(refused);
        else body = value;
      } else errors.push(...issues.map(({ loc, msg }) => `${loc.slice(1).join('.')} ${msg}`));
    }
    checked.push({
      shown: {
        index,
        ok: body !== null,
        errors,
        product_urls: [...row.productUrls],
        quantities: [...row.quantities],
        recipient: recipientOf(row) || null,
        destination: destinationOf(row),
        max_price: row.maxPrice,
        retailer_credentials_id: row.cell('retailer_credentials_id') || null,
        passthrough: passthroughOf(plan, values),
      },
      body,
      cents: body ? walletTerms(body, service.config.orderFeeCents).reserved : 0,
    });
  }
  return checked;
}

/**
 * Maps the error code of a rejected order to the column that caused the error. For all other codes, the cause is
 * `product_url`.
 */
const columns: Partial<Record<ErrorResponse['code'], string>> = {
  unsupported_country: 'country',
  invalid_shipping_address: 'address_line1',
  bad_request: 'retailer_credentials_id',
};

async function rejectionOf(service: Service, userId: string, body: OrderBody): Promise<string | undefined> {
  try {
    await refuseAtOnce(service, userId, body, true);
    return undefined;
  } catch (error) {
    if (error instanceof Invalid) return `product_url: ${error.issues.map(({ msg }) => msg).join('; ')}`;
    if (!(error instanceof ErrorResponse)) throw error;
    return `${columns[error.code] ?? 'product_url'}: ${error.message} (${error.code})`;
  }
}
