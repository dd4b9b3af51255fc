import { numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import type { Output } from '../../api/outputs/index.ts';
import type { Plan, PlanProduct, PlanRow } from '../../api/schemas/plan-file.ts';
import { formatMoney } from '../../format/money.ts';
import type { Column } from '../../format/result.ts';
import { outcomeWords } from '../../spending/policy/refusal.ts';
import { AmountSpread, type TypicalRange, typicalRangeText } from '../check/outliers.ts';
import { isNew } from './file.ts';
import { sellersOf } from './totals.ts';

/** Kinds of findings to review before a row is placed. */
export const reviewKinds = {
  refused: 'refused by the policy',
  needs_approval: 'in need of an approval',
  warned: 'with a warning of the policy',
  unorderable: 'that cannot be ordered',
  above_ceiling: 'above the ceiling today',
  far_amount: 'with a ceiling far from the others',
  twin: 'with a twin',
  left_out: 'left out',
  kept_key: 'that keeps a key but not its content',
  unknown_retailer: 'of an unknown retailer',
} as const;

/** Start of the reason why a row is left out, if its key or reference belongs to an order that differs. */
export const reusedKeyPrefix = 'keeps the key';

export type ReviewKind = keyof typeof reviewKinds;

interface ReviewItem {
  readonly kind: ReviewKind;
  readonly why: string;
}

/** A row of a plan, as listed. Amounts are in cents. */
export type ShownRow = Output<'PlanRow'>;

/** Lists every row of a plan with the findings about it. Findings about the whole file are attached to no row. Pure. */
export function shownRows({ rows, products, policy }: Plan): ShownRow[] {
  const known = new Map(products.map((product) => [product.url, product]));
  const findings = new Map<number, ReviewItem[]>();
  for (const { row, outcome, rule, message } of policy?.rows ?? []) {
    if (row === null || outcome === 'allowed') continue;
    const found = findings.get(row) ?? [];
    findings.set(row, found);
    found.push({ kind: outcome, why: `${outcomeWords[outcome]}: ${rule}: ${message}` });
  }
  const typicalRange = typicalRangeOf(rows.filter(isNew));
  return rows.map((row) => shownRow(row, known, findings.get(row.row) ?? [], typicalRange));
}

function typicalRangeOf(rows: readonly PlanRow[]): TypicalRange | undefined {
  const spread = new AmountSpread();
  for (const { row, order } of rows) spread.add(row, ceilingOf(order));
  return spread.typicalRange();
}

const ceilingOf = (order: object): number => numberIn(order, 'max_price') ?? 0;

function kindOfNote(note: string): ReviewKind {
  if (note.startsWith(reusedKeyPrefix)) return 'kept_key';
  return note.startsWith('unknown retailer') ? 'unknown_retailer' : 'unorderable';
}

function shownRow(
  { row, key, attempt, order, price_cents, room_cents, twins, placed, left_out: left, notes }: PlanRow,
  products: ReadonlyMap<string, PlanProduct>,
  findings: readonly ReviewItem[],
  typicalRange: TypicalRange | undefined,
): ShownRow {
  const fromNotes = notes.map((why): ReviewItem => ({ kind: kindOfNote(why), why }));
  const reused = fromNotes.filter(({ kind }) => kind === 'kept_key');
  const leftOut: ReviewItem[] =
    left == null ? [] : [{ kind: left.startsWith(reusedKeyPrefix) ? 'kept_key' : 'left_out', why: left }];
  const reviewItems: ReviewItem[] = [
    ...findings,
    ...fromNotes.filter(({ kind }) => kind === 'unorderable'),
    ...(price_cents !== null && room_cents !== null && room_cents < 0
      ? [
          {
            kind: 'above_ceiling' as const,
            why: `costs ${formatMoney(price_cents)} today, ${formatMoney(-room_cents)} above its ceiling`,
          },
        ]
      : []),
    ...(typicalRange?.isFar(ceilingOf(order))
      ? [
          {
            kind: 'far_amount' as const,
            why: `ceiling far from the others, ${typicalRangeText(typicalRange)}`,
          },
        ]
      : []),
    ...twins.map((duplicate): ReviewItem => ({ kind: 'twin', why: `twin of ${duplicate}` })),
    ...fromNotes.filter(({ kind }) => kind === 'unknown_retailer'),
  ];
  const items = left == null ? (placed === null ? reviewItems : reused) : leftOut;
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
    why: [...(placed === null ? [] : [`sent before: ${placed}`]), ...items.map(({ why }) => why)],
    kinds: [...new Set(items.map(({ kind }) => kind))],
    sellers: sellersOf(order, products),
    ceiling_cents: ceilingOf(order),
    ...{ price_cents, room_cents, twins, placed, urls, order, idempotency_key: key },
    ...{ left_out: left ?? null, need: attempt?.need ?? null, attempt: attempt?.number ?? null },
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
    minWidth: 44,
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
  { name: 'need', path: 'need', weight: 0 },
  { name: 'attempt', path: 'attempt', kind: 'count', weight: 0 },
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
