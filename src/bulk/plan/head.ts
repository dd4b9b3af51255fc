import { numberIn, textIn } from '../../api/json.ts';
import type { Plan } from '../../api/schemas/plan-file.ts';
import { canonicalJson } from '../../format/canonical.ts';
import { sellersOf, totalsOf } from './totals.ts';

const ceilingOf = (order: object): number => numberIn(order, 'max_price') ?? 0;

/** What rows that were not sent before may take from the wallet, ceilings and fees, cents. Pure. */
export const mostOf = (
  rows: readonly { readonly order: object; readonly placed: string | null }[],
  fee: number,
): number =>
  rows
    .filter(({ order, placed }) => placed === null && textIn(order, 'retailer_credentials_id') === undefined)
    .reduce((sum, { order }) => sum + ceilingOf(order) + fee, 0);

/** What the head of a plan says that its rows do not, in words that follow the file's name; undefined where they agree. Pure. */
export function headProblem({
  rows,
  products,
  totals,
  file,
  wallet,
  fee_cents: fee,
  ...head
}: Plan): string | undefined {
  const known = new Map(products.map((product) => [product.url, product]));
  const day = totals.find(({ by }) => by === 'day')?.value ?? '';
  const made = totalsOf(
    rows.map((row) => ({ ...row, sellers: sellersOf(row.order, known) })),
    { feeCents: fee, day },
  );
  const after =
    wallet.before_cents === null || wallet.by_invoice ? null : wallet.before_cents - head.most_cents;
  const differs = [
    [head.orders !== rows.length || file.rows !== rows.length + file.left_out, 'orders'],
    [head.ceilings_cents !== rows.reduce((sum, row) => sum + ceilingOf(row.order), 0), 'ceilings_cents'],
    [head.most_cents < mostOf(rows, fee), 'most_cents'],
    [wallet.after_cents !== after, 'wallet'],
    [canonicalJson(totals) !== canonicalJson(made), 'totals'],
  ] as const;
  const found = differs.flatMap(([isOther, name]) => (isOther ? [name] : []));
  return found.length === 0 ? undefined : `says of ${found.join(', ')} what its rows do not`;
}
