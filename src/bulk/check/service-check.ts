import { type BulkColumn, meaningOf } from '../../api/bulk-columns.ts';
import type { BulkIssue } from '../../api/bulk-row.ts';
import { listIn, numberIn, objectsIn } from '../../api/json.ts';
import type { Received } from '../../api/received.ts';
import { plainText } from '../../format/path.ts';
import type { Client } from '../../http/client.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { centsHeading } from '../csv/amounts.ts';
import { type UploadRow, valueOnce } from '../rows.ts';
import type { Batch } from '../upload/batches.ts';
import { inFlight } from '../upload/concurrency-limiter.ts';
import type { ShownIssue } from './check.ts';

/** How the service has validated one batch. */
export interface Checked {
  readonly batch: Batch;
  readonly rows: number;
  /** Numbers of the refused rows. */
  readonly refused: readonly number[];
  /** Estimated cost in cents, including the service's fees. */
  readonly estimate: number;
  /** Funds available in the wallet, in cents. */
  readonly wallet: number;
  readonly byInvoice: boolean;
  readonly issues: readonly ShownIssue[];
}

/** Maximum number of concurrent requests. */
const maxInFlight = 4;

/**
 * Asks the service to check batches without placing anything. @throws ErrandError if a response lacks the cost or the
 * wallet's funds.
 */
export async function* checkAtService(
  context: Context,
  name: string,
  batches: AsyncIterable<Batch>,
): AsyncGenerator<Checked> {
  const client = await context.client();
  yield* inFlight(batches, (batch) => checkBatch(client, name, batch), {
    limit: maxInFlight,
    now: context.clock.monotonic,
  });
}

/** Asks the service to check one batch. @throws ErrandError. */
export async function checkBatch(client: Client, name: string, batch: Batch): Promise<Checked> {
  const { rows, numbers } = batch;
  const body = { filename: name, rows: rows.map((row) => ({ ...row })) };
  const { body: response } = await client.call('bulk.validate', { body });
  const checked = objectsIn(response, 'rows').map((row, rowIndex) => {
    const index = numberIn(row, 'index') ?? rowIndex;
    const errors = listIn(row, 'errors').map(plainText);
    return {
      number: numbers[index] ?? rowIndex,
      cells: rows[index] ?? {},
      errors,
      isValid: row.ok === true && errors.length === 0,
    };
  });
  const issues = checked.flatMap(({ number, errors, cells }) =>
    errors.map((text) => ({ row: number, ...issueOf(text, cells) })),
  );
  const refused = checked.filter(({ isValid }) => !isValid).map(({ number }) => number);
  if (amount(response, 'invalid_rows') > refused.length)
    throw new ErrandError(
      'unavailable',
      `the service counts ${amount(response, 'invalid_rows')} invalid rows and names ${refused.length}`,
      { outcome: 'not_sent' },
    );
  return {
    batch,
    rows: rows.length,
    refused,
    estimate: amount(response, 'estimated_total_cents'),
    wallet: amount(response, 'wallet_balance_cents'),
    byInvoice: response.billed_by_invoice === true,
    issues,
  };
}

/** Parses a row error of the service: `max_price: is too low`, or `max_price "5" is too low`. */
function issueOf(text: string, cells: UploadRow): BulkIssue {
  const [, name = '', rest = ''] = /^([a-z][a-z0-9_]*):? (.*)$/s.exec(text) ?? [];
  const column = columnOf(name);
  if (column === undefined) return { column: '', value: '', message: text };
  const heading = Object.keys(cells).find((one) => columnOf(one) === column);
  const value = heading === undefined ? '' : (cells[heading] ?? '');
  return valueOnce({ column: column === 'max_price' ? centsHeading : column, value, message: rest });
}

const columnOf = (heading: string): BulkColumn | undefined => {
  const meaning = meaningOf(heading);
  return 'column' in meaning ? meaning.column : undefined;
};

type Validation = Received<'bulk.validate'>;

/** A total from the response. Spending relies on it, so anything but a whole number is an error rather than 0. */
function amount(response: Validation, name: keyof Validation & string): number {
  const value = response[name];
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new ErrandError(
    'unavailable',
    `the service checked the rows, but its ${name} is not a whole number`,
    {
      outcome: 'not_sent',
    },
  );
}
