import { numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { formatMoney } from '../../format/money.ts';
import type { Context } from '../../run/context.ts';
import { checkAtService } from '../service-check.ts';
import { isShort, type Spend, spendLine } from '../spend.ts';
import { planAgain } from './again.ts';
import { rowsNamed } from './file.ts';
import { lookUpProducts } from './products.ts';
import type { ReadPlan } from './read.ts';
import { planRefused, type RowProblem } from './read.ts';
import type { Work } from './work.ts';

type Row = ReadPlan['rows'][number];

/** Says which rows no known price stands behind, or one above the ceiling: the ceiling protects from it. */
export function notePrices(context: Context, { plan }: ReadPlan, rows: readonly Row[]): void {
  if (plan.priced_at === null) return;
  const unknown = rows.filter(({ planned }) => planned.price_cents === null);
  const above = rows.filter(({ planned }) => (planned.room_cents ?? 0) < 0);
  const told = [
    [unknown, 'without a known price when it was planned'],
    [above, 'above the ceiling when it was planned'],
  ] as const;
  for (const [found, what] of told)
    if (found.length > 0)
      context.note(
        `${shortened(found)} ${what}; no order costs more than its ceiling (--recheck-prices asks again)`,
      );
}

/** Ranges of rows in one line, in characters. */
const longest = 60;

function shortened(rows: readonly Row[]): string {
  const text = rowsNamed(rows.map(({ number }) => number));
  return text.length > longest ? `${text.slice(0, text.lastIndexOf(',', longest))}, …` : text;
}

/**
 * Asks for today's prices once more, each URL once. @throws ErrandError policy, naming the rows whose price is not known, or is
 * higher than it was planned, or than the ceiling.
 */
export async function recheckPrices(context: Context, read: ReadPlan, rows: readonly Row[]): Promise<void> {
  const countries = new Map<string, Set<string>>();
  for (const { planned } of rows)
    for (const line of objectsIn(planned.order, 'products')) {
      const url = textIn(line, 'url') ?? '';
      const country = textIn(own(planned.order, 'shipping_address'), 'country') ?? '';
      countries.set(url, (countries.get(url) ?? new Set()).add(country));
    }
  const queries = [...countries].map(([url, all]) => ({ url, countries: all }));
  const products = await lookUpProducts(context, queries, { prices: true });
  const problems = rows.flatMap(({ number, planned }): RowProblem[] => {
    const ceiling = numberIn(planned.order, 'max_price') ?? 0;
    const most = Math.min(ceiling, planned.price_cents ?? ceiling);
    let sum = 0;
    for (const line of objectsIn(planned.order, 'products')) {
      const product = products.get(textIn(line, 'url') ?? '');
      if (product?.orderable === false)
        return [
          {
            row: number,
            why: `cannot be ordered now: ${product.unsupported_reason ?? 'the service says so'}`,
          },
        ];
      if (product?.price == null || product.no_price !== null)
        return [{ row: number, why: `no price is known: ${product?.no_price ?? 'no product'}` }];
      sum += product.price * (numberIn(line, 'quantity') ?? 1);
    }
    if (sum <= most) return [];
    const than = most === ceiling ? `its ceiling is ${formatMoney(ceiling)}` : `it was ${formatMoney(most)}`;
    return [{ row: number, why: `it costs ${formatMoney(sum)} now, and ${than}` }];
  });
  if (problems.length > 0)
    throw planRefused({
      ...(await planAgain(context, read)),
      ...{ path: read.path, problems, code: 'plan_prices' },
      what: 'no longer holds: prices are unknown or higher',
      rows: rows.map(({ number }) => number),
      hint: 'Without --recheck-prices the ceiling alone protects from a price. Plan again to see what it comes to.',
    });
}

/**
 * Has the service check what is left of a plan. @returns what it comes to. @throws ErrandError policy, naming the rows that the
 * service refuses by now, or that the wallet no longer pays for.
 */
export async function checkRest(context: Context, read: ReadPlan, { rest }: Work): Promise<Spend> {
  const spend: Spend = { estimate: 0, wallet: undefined, byInvoice: false };
  const problems: RowProblem[] = [];
  async function* batches() {
    yield* rest;
  }
  for await (const checked of checkAtService(context, read.plan.file.name, batches())) {
    spend.estimate += checked.estimate;
    spend.wallet = checked.wallet;
    spend.byInvoice = checked.byInvoice;
    problems.push(...checked.issues.map(({ row, message }) => ({ row, why: message })));
  }
  const about = { path: read.path, rows: rest.flatMap(({ numbers }) => numbers) };
  if (problems.length > 0)
    throw planRefused({
      ...(await planAgain(context, read)),
      ...{ ...about, problems, code: 'plan_rows' },
      what: 'no longer holds: the service refuses rows of it by now',
    });
  const { most_cents, ceilings_cents, fee_cents, orders } = read.plan;
  // On another machine what was sent before counts as left.
  const most = Math.max(most_cents, ceilings_cents + fee_cents * orders);
  if (spend.estimate > most)
    throw planRefused({
      ...(await planAgain(context, read)),
      ...{ ...about, code: 'plan_amount' },
      what: `no longer holds: the service takes up to ${formatMoney(spend.estimate)} for what is left, and the plan says at most ${formatMoney(most)}`,
    });
  if (isShort(spend))
    throw planRefused({
      ...{ ...about, code: 'insufficient_funds' },
      what: `no longer holds: ${spendLine(spend)}; it does not pay for ${rowsNamed(beyond(read, about.rows, spend))}`,
      hint: 'Fill the wallet and apply it again, or apply a part with --rows or --only.',
    });
  return spend;
}

/** The rows from which on the wallet is empty, if each comes to its ceiling. */
function beyond({ plan, rows }: ReadPlan, numbers: readonly number[], { wallet = 0 }: Spend): number[] {
  const left = new Set(numbers);
  let sum = 0;
  return rows.flatMap(({ number, planned: { order } }) => {
    if (!left.has(number) || textIn(order, 'retailer_credentials_id') !== undefined) return [];
    sum += (numberIn(order, 'max_price') ?? 0) + plan.fee_cents;
    return sum > wallet ? [number] : [];
  });
}
