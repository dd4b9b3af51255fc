import { formatMoney } from '../../format/money.ts';
import type { Column } from '../../format/result.ts';

const sumColumns: readonly Column[] = [
  {
    name: 'paid by',
    path: 'payer',
    value: ({ payer }) => String(payer).replaceAll('_', ' '),
    weight: 10,
  },
  ...['held', 'charged', 'fee', 'refunded', 'credited', 'net'].map(
    (path): Column => ({ name: path, path, kind: 'money', currency: 'currency', weight: 8 }),
  ),
];

/** The columns of a comparison as shown to people. */
export const columns: readonly Column[] = [
  { name: 'agrees', path: 'agrees', kind: 'flag' },
  { name: 'since', path: 'since', kind: 'time', isLocal: true },
  { name: 'service', path: 'service' },
  { name: 'orders', path: 'orders', kind: 'count' },
  {
    name: 'cost unknown',
    path: 'incomplete',
    kind: 'count',
    value: ({ incomplete }) => (incomplete === 0 ? undefined : incomplete),
  },
  { name: 'audit records', path: 'audit.records', kind: 'count' },
  { name: 'balance', path: 'wallet.balance', kind: 'money' },
  {
    name: 'last compared',
    path: 'wallet.compared_with',
    kind: 'time',
    isLocal: true,
    value: ({ wallet }) => Object(wallet).compared_with ?? 'never: this is the first balance recorded',
    flat: ({ wallet }) => Object(wallet).compared_with,
  },
  {
    name: 'expected',
    path: 'wallet.expected',
    kind: 'money',
    value: ({ wallet }) => (Object(wallet).unexplained ? Object(wallet).expected : undefined),
  },
  { name: 'reserved', path: 'wallet.set_aside', kind: 'money' },
  { name: 'held by rule', path: 'wallet.held_by_rule', kind: 'money' },
  {
    name: 'sums',
    path: 'sums',
    value: ({ sums }) => whereAny(sums),
    flat: ({ sums }) => sumsText(sums),
    columns: sumColumns,
  },
  {
    name: 'made elsewhere',
    path: 'elsewhere.sums',
    value: ({ elsewhere }) => whereAny(Object(elsewhere).sums),
    flat: ({ elsewhere }) => sumsText(Object(elsewhere).sums),
    columns: sumColumns,
  },
  {
    name: 'findings',
    path: 'findings',
    flat: ({ findings }) =>
      (Array.isArray(findings) ? findings : [])
        .map(({ message, command }) => `${message}: ${command}`)
        .join('; '),
    // Put each finding on a line of its own, so that its command is not truncated.
    value: ({ findings }) =>
      Object.fromEntries(
        (Array.isArray(findings) ? findings : []).map(({ message, command }) => [message, command]),
      ),
  },
];

const sumsText = (sums: unknown): string =>
  (Array.isArray(sums) ? sums : [])
    .map(({ payer, currency, held, net }) => {
      const open = held === 0 ? '' : `, ${formatMoney(held, currency)} held`;
      return `${String(payer).replaceAll('_', ' ')} ${formatMoney(net, currency)}${open}`;
    })
    .join('; ');

const whereAny = (rows: unknown): unknown => (Array.isArray(rows) && rows.length > 0 ? rows : undefined);
