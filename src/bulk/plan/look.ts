import { numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import type { Output } from '../../api/outputs/index.ts';
import type { Plan, PlanProduct, PlanRow } from '../../api/schemas/plan-file.ts';
import { formatMoney } from '../../format/money.ts';
import type { Column } from '../../format/result.ts';
import { outcomeWords } from '../../spending/policy/lines.ts';
import { AmountSpread, type Usual, usualText } from '../amount-spread.ts';
import { sellersOf } from './totals.ts';

/** What somebody should look at before a row is placed, by its kind. */
export const lookKinds = {
  refused: 'refused by the policy',
  needs_approval: 'in need of an approval',
  warned: 'with a warning of the policy',
  unorderable: 'that cannot be ordered',
  above_ceiling: 'above the ceiling today',
  far_amount: 'with a ceiling far from the others',
  twin: 'with a twin',
  kept_key: 'that keeps a key but not its content',
  unknown_retailer: 'of an unknown retailer',
} as const;

/** How a note of a row begins that says so. */
export const keptKeyNote = 'keeps the key';

export type LookKind = keyof typeof lookKinds;

interface Look {
  readonly kind: LookKind;
  readonly why: string;
}

/** A row of a plan as it is listed. Amounts in cents. */
export type ShownRow = Output<'PlanRow'>;

/** Every row of a plan with what is to be looked at; a rule about the whole file is on none. Pure. */
export function shownRows({ rows, products, policy }: Plan): ShownRow[] {
  const known = new Map(products.map((product) => [product.url, product]));
  const findings = new Map<number, Look[]>();
  for (const { row, outcome, rule, message } of policy?.rows ?? []) {
    if (row === null || outcome === 'allowed') continue;
    const found = findings.get(row) ?? [];
    findings.set(row, found);
    found.push({ kind: outcome, why: `${outcomeWords[outcome]}: ${rule}: ${message}` });
  }
  const usual = usualOf(rows);
  return rows.map((row) => shownRow(row, known, findings.get(row.row) ?? [], usual));
}

function usualOf(rows: readonly PlanRow[]): Usual | undefined {
  const spread = new AmountSpread();
  for (const { row, order } of rows) spread.add(row, ceilingOf(order));
  return spread.usual();
}

const ceilingOf = (order: object): number => numberIn(order, 'max_price') ?? 0;

function kindOfNote(note: string): LookKind {
  if (note.startsWith(keptKeyNote)) return 'kept_key';
  return note.startsWith('unknown retailer') ? 'unknown_retailer' : 'unorderable';
}

function shownRow(
  { row, key, order, price_cents, room_cents, twins, placed, notes }: PlanRow,
  products: ReadonlyMap<string, PlanProduct>,
  findings: readonly Look[],
  usual: Usual | undefined,
): ShownRow {
  const noted = notes.map((why): Look => ({ kind: kindOfNote(why), why }));
  const kept = noted.filter(({ kind }) => kind === 'kept_key');
  const looks: Look[] = [
    ...findings,
    ...noted.filter(({ kind }) => kind === 'unorderable'),
    ...(price_cents !== null && room_cents !== null && room_cents < 0
      ? [
          {
            kind: 'above_ceiling' as const,
            why: `costs ${formatMoney(price_cents)} today, ${formatMoney(-room_cents)} above its ceiling`,
          },
        ]
      : []),
    ...(usual?.isFar(ceilingOf(order))
      ? [{ kind: 'far_amount' as const, why: `ceiling far from the others, ${usualText(usual)}` }]
      : []),
    ...twins.map((twin): Look => ({ kind: 'twin', why: `twin of ${twin}` })),
    ...noted.filter(({ kind }) => kind === 'unknown_retailer'),
  ];
  const lines = objectsIn(order, 'products');
  const urls = lines.map((line) => textIn(line, 'url') ?? '');
  const address = own(order, 'shipping_address');
  const names = ['first_name', 'last_name'].map((name) => textIn(address, name) ?? '');
  return {
    row,
    verdict: findings.map(({ kind }) => kind).includes('refused')
      ? 'refused'
      : findings.some(({ kind }) => kind === 'needs_approval')
        ? 'needs_approval'
        : findings.length > 0
          ? 'warned'
          : 'allowed',
    why:
      placed === null
        ? looks.map(({ why }) => why)
        : [`sent before: ${placed}`, ...kept.map(({ why }) => why)],
    kinds: [...new Set((placed === null ? looks : kept).map(({ kind }) => kind))],
    sellers: sellersOf(order, products),
    ceiling_cents: ceilingOf(order),
    ...{ price_cents, room_cents, twins, placed, urls, order, idempotency_key: key },
    country: textIn(address, 'country') ?? '',
    recipient: names.join(' ').trim(),
    quantity: lines.reduce((sum, line) => sum + (numberIn(line, 'quantity') ?? 1), 0),
  };
}

export const rowColumns: readonly Column[] = [
  { name: 'row', path: 'row', kind: 'count', weight: 10 },
  {
    name: 'look at',
    path: 'why',
    weight: 9,
    least: 44,
    isProse: true,
    value: (row) => list(row.why).join('; '),
  },
  { name: 'retailer', path: 'sellers', weight: 3, value: (row) => list(row.sellers).join(', ') },
  { name: 'ceiling', path: 'ceiling_cents', kind: 'money', weight: 8 },
  { name: 'price today', path: 'price_cents', kind: 'money', weight: 7 },
  { name: 'room', path: 'room_cents', kind: 'money', weight: 2 },
  { name: 'verdict', path: 'verdict', kind: 'status', weight: 1 },
  { name: 'quantity', path: 'quantity', kind: 'count', weight: 0 },
  { name: 'recipient', path: 'recipient', weight: 1 },
  { name: 'country', path: 'country', weight: 0 },
  { name: 'product', path: 'urls', kind: 'url', weight: 6, value: (row) => list(row.urls).join(' ') },
  { name: 'key', path: 'idempotency_key', weight: 0 },
];

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const totalColumns: readonly Column[] = [
  { name: 'by', path: 'by', weight: 8 },
  { name: 'value', path: 'value', weight: 10 },
  { name: 'orders', path: 'orders', kind: 'count', weight: 9 },
  { name: 'ceilings', path: 'ceilings_cents', kind: 'money', weight: 8 },
  { name: 'fees', path: 'fees_cents', kind: 'money', weight: 4 },
  { name: 'prices today', path: 'prices_cents', kind: 'money', weight: 6 },
  { name: 'without a price', path: 'unpriced', kind: 'count', weight: 5 },
];
