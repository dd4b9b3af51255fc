import type { Output } from '../../api/outputs/index.ts';
import type { Column, Row } from '../../format/result.ts';
import type { Grouping, SpendRow } from './tally.ts';

/** Display names of the payers. */
export const payerNames: Readonly<Record<SpendRow['paidBy'], string>> = {
  wallet: 'wallet',
  retailer_account: 'retailer account',
  card: 'card',
  connect: 'connect',
  challenge: 'challenge',
};

/** For each kind of money line, the amount of a row to which it is added. */
export const amountOf = {
  charge: 'spent_cents',
  fee: 'fees_cents',
  refund: 'refunded_cents',
  credit: 'credited_cents',
  hold: 'held_cents',
} as const;

/** A row in the form that all output formats share. Pure. */
export function recordOf(by: Grouping, row: SpendRow): Output<'SpendGroup'> {
  const byRule = [...row.byRule].map((what) => amountOf[what]).sort();
  return {
    by,
    group: row.group ?? null,
    paid_by: row.paidBy,
    currency: row.currency,
    orders: row.orders,
    spent_cents: row.spent,
    fees_cents: row.fees,
    refunded_cents: row.refunded,
    credited_cents: row.credited,
    net_cents: row.net,
    held_cents: row.held,
    by_rule: byRule,
  };
}

/** Columns for programs. All of them are present, whatever they contain. */
export function plainColumns(by: Grouping): readonly Column[] {
  return [
    { name: by, path: 'group' },
    { name: 'paid by', path: 'paid_by' },
    { name: 'currency', path: 'currency' },
    { name: 'orders', path: 'orders', kind: 'count' },
    ...['spent', 'fees', 'refunded', 'credited', 'net', 'held'].map(
      (name): Column => ({ name, path: `${name}_cents`, kind: 'money', currency: 'currency' }),
    ),
    { name: 'by rule', path: 'by_rule', value: ({ by_rule: names }) => [names].flat().join(' ') },
  ];
}

/** Amounts that people see only if they are not 0 in every row. Without them, the other amounts still add up. */
const rare = ['fees', 'refunded', 'credited', 'held'] as const;
const weights = { spent: 9, fees: 8, refunded: 8, credited: 8, net: 10, held: 7 } as const;

/**
 * Columns for people. Columns that are 0 in every row are left out. `*` marks amounts that were inferred from rules
 * alone. Pure.
 */
export function tableColumns(by: Grouping, rows: readonly SpendRow[]): readonly Column[] {
  const starred = new Set<string>(rows.flatMap(({ byRule }) => [...byRule].map((what) => amountOf[what])));
  const shows = (name: (typeof rare)[number]): boolean => rows.some((row) => row[name] !== 0);
  const amounts = (['spent', 'fees', 'refunded', 'credited', 'net', 'held'] as const)
    .filter((name) => !rare.some((it) => it === name && !shows(it)))
    .map((name): Column => {
      const path = `${name}_cents` as const;
      const isStarred = starred.has(path);
      return {
        name: isStarred ? `${name}*` : name,
        path,
        kind: 'money',
        currency: 'currency',
        weight: weights[name],
      };
    });
  const isMixed = new Set(rows.map(({ paidBy }) => paidBy)).size > 1;
  const name = by.replace(/^metadata\./, '');
  return [
    { name, path: 'group', weight: 12, value: ({ group }) => group ?? '(none)' },
    ...(isMixed ? [{ name: 'paid by', path: 'paid_by', weight: 11, value: payerIn }] : []),
    { name: 'orders', path: 'orders', kind: 'count', weight: 5 },
    ...amounts,
  ];
}

const payerIn = ({ paid_by: payer }: Row): string =>
  Object.entries(payerNames).find(([key]) => key === payer)?.[1] ?? '';

/** The cost of a row, as a share of the total for the same payer and currency. Pure. */
export const shareColumn = (totals: readonly SpendRow[]): Column => ({
  name: 'share',
  path: 'share',
  kind: 'share',
  weight: 6,
  value: ({ paid_by: payer, currency, net_cents: net, is_total: isTotal }) => {
    const total = totals.find((it) => it.paidBy === payer && it.currency === currency)?.net ?? 0;
    return isTotal === true || total <= 0 ? undefined : Number(net) / total;
  },
});
