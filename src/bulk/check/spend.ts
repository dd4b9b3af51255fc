import { numberIn, own } from '../../api/json.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { ErrandError, type NextStep, stopOf } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { looksUp } from '../../run/request-preview.ts';
import type { Tally } from './check.ts';
import { rowsText } from './row-sample.ts';

/** Maximum cost of an upload, and the available funds, in cents. */
export interface Spend {
  estimate: number;
  wallet: number | undefined;
  byInvoice: boolean;
}

/** Formats "at most $4,100.00, of $10,000.00 in the wallet". Only the service's own estimate includes fees. */
export function spendLine({ estimate, wallet, byInvoice }: Spend): string {
  const atMost = `at most ${formatMoney(estimate)}`;
  if (byInvoice) return `${atMost}, billed by invoice`;
  if (wallet === undefined) return `${atMost}, without fees`;
  const short = estimate - wallet;
  return short > 0
    ? `${atMost}, and the wallet has ${formatMoney(wallet)}: ${formatMoney(short)} short`
    : `${atMost}, of ${formatMoney(wallet)} in the wallet`;
}

export const isShort = ({ estimate, wallet, byInvoice }: Spend): boolean =>
  !byInvoice && wallet !== undefined && estimate > wallet;

/** The command that fills the wallet of the embedded sandbox; none for any other service. */
export function fundingSteps(context: Context, missing: number): readonly NextStep[] {
  if (context.settings.baseUrl.value !== embeddedUrl) return [];
  const command =
    shellLine`errand sandbox trigger wallet-funded --amount-cents ${missing}` + whereFlags(context);
  return [{ command, when: "to fill the sandbox's wallet" }];
}

/** Error for a wallet that cannot cover the cost. In the embedded sandbox, it suggests funding the wallet. */
export function shortOf(context: Context, spend: Spend): ErrandError {
  const next = fundingSteps(context, spend.estimate - (spend.wallet ?? 0));
  return new ErrandError('payment', `${spendLine(spend)}; nothing was sent`, {
    code: 'insufficient_funds',
    outcome: 'not_sent',
    details: { required: spend.estimate, available: spend.wallet },
    ...(next.length > 0 && { next }),
  });
}

/** Formats "4,998 of 5,000 rows valid". */
export const countLine = (valid: number, rows: number): string =>
  valid === rows ? `${rowsText(rows)}, all valid` : `${countText(valid)} of ${rowsText(rows)} valid`;

/** Formats "3 of 6 rows; 3 are invalid and left out"; undefined if every row becomes an order. */
export function leftOutText({ rows, orders, invalid }: Tally): string | undefined {
  if (orders === rows) return undefined;
  const some = `${countText(orders)} of ${rowsText(rows)}`;
  return invalid === 0
    ? some
    : `${some}; ${countText(invalid)} ${invalid === 1 ? 'is' : 'are'} invalid and left out`;
}

/**
 * The cost of rows and the funds in the wallet, for a preview in which the service checks no rows. @returns also an
 * exit code if the wallet cannot be read: the one with which sending would fail.
 */
export async function previewSpend(
  context: Context,
  { rows, cents }: { readonly rows: number; readonly cents: number },
): Promise<{ readonly spend: Spend; readonly exitCode: number | undefined }> {
  const unseen = { estimate: cents, wallet: undefined, byInvoice: false };
  if (rows === 0 || !looksUp(context)) return { spend: unseen, exitCode: undefined };
  try {
    const { body } = await (await context.client()).call('wallet.get', {});
    const fee = numberIn(body, 'order_fee_cents') ?? 0;
    const wallet = numberIn(body, 'spendable_balance') ?? numberIn(body, 'balance');
    const byInvoice = own(body, 'billed_by_invoice') === true;
    return { spend: { estimate: cents + rows * fee, wallet, byInvoice }, exitCode: undefined };
  } catch (error) {
    if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    context.note(`what the wallet holds was not looked up (${error.message})`);
    return { spend: unseen, exitCode: error.exitCode };
  }
}
