import { createHash } from 'node:crypto';
import { orderOfRow } from '../../api/bulk-row.ts';
import { numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import type { Output } from '../../api/outputs/index.ts';
import type { Plan, PlanDraft, PlanProduct, PlanRow } from '../../api/schemas/plan-file.ts';
import { formatMoney } from '../../format/money.ts';
import type { Column } from '../../format/result.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { hostAsName, ordersOf, type SpendingOrder } from '../../spending/policy/facts.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { hostOf, periodsAt, type Verdict } from '../../spending/policy/policy.ts';
import { outcomeWords } from '../../spending/policy/refusal.ts';
import { gateFor } from '../../spending/policy-gate.ts';
import type { FileCheck } from '../check/file-check.ts';
import { AmountSpread, type TypicalRange, typicalRangeText } from '../check/outliers.ts';
import type { ReferencePlan } from '../csv/reference-columns.ts';
import { type FileRow, RowKeys, type UploadRow } from '../rows.ts';
import type { Source } from '../upload/source.ts';
import { changesOf, changesText, orderOfCells } from '../upload/uploaded-rows.ts';
import { maxSpendOf, planLifeMs } from './file.ts';
import { plannedOrder } from './planned-order.ts';
import { type ProductQuery, queryProducts } from './products.ts';
import type { ReadPlan } from './read.ts';
import { planRefused } from './read.ts';
import { sellersOf, totalsOf } from './totals.ts';
import { twinsOf } from './twins.ts';
import {
  type Again,
  earlierBatches,
  journaled,
  placedText,
  planAgain,
  proposedByPlan,
  type SendableRow,
  sentRows,
  type Work,
  whereOf,
  workOf,
} from './work.ts';

export interface PlanOptions {
  readonly batchSize: number;
  readonly run: string;
  readonly notifies: boolean;
  /** Whether to look up current prices. */
  readonly prices: boolean;
  readonly madeFrom: Plan['made_from'];
}

/** A row to plan, with its order parsed once. */
interface OrderedRow extends SendableRow {
  readonly values: readonly string[];
  readonly order: ReturnType<typeof orderOfRow>;
}

/** Plans the upload of a validated file; sends no orders. @throws ErrandError. */
export async function makePlan(
  context: Context,
  source: Source,
  check: FileCheck,
  { batchSize, run, notifies, prices, madeFrom }: PlanOptions,
): Promise<{ readonly draft: PlanDraft; readonly proposed: readonly ProposedOrder[] }> {
  const { rows, headings, fileHeadings, reference } = await orderedRows(check, run);
  const { settings, clock } = context;
  const now = clock.now();
  const records = await journaled(context);
  const earlier = await earlierBatches(context, records, new Set(rows.map(({ key }) => key)));
  const placed = new Map(
    earlier.flatMap((batch) => batch.keys.map((key) => [key, placedText(batch)] as const)),
  );
  const sentCells = new Map(
    earlier.toReversed().flatMap(({ record, keys }) => {
      const cells = objectsIn(record.body, 'rows') as readonly UploadRow[];
      return keys.map((key, index) => [key, cells[index]] as const);
    }),
  );
  const work = workOf(context, { all: rows, selected: rows, earlier, headings, fileHeadings, batchSize });
  const proposed = await proposedByPlan(context, work, { name: source.name, notifies, rows });
  const fee = await feeAt(context);
  const terms = { feeCents: fee, isRehearsal: context.isRehearsal() };
  const spending = new Map(
    proposed
      .flatMap(({ intent, numbers }) => ordersOf(intent, { ...terms, numbers }))
      .map((order) => [order.key, order]),
  );
  const ordered = rows.flatMap(({ key }) => spending.get(key) ?? []);
  const duplicates = await twinsOf(context, ordered, records);
  const products = await queryProducts(context, queriesOf(ordered), { prices });
  // An upload's approval does not carry over to a plan, which is approved as a whole.
  const gate = await gateFor(context, proposed, { plan: unapproved });
  const verdict = await gate?.settledPreview();
  const planned = rows.map(({ key, number, values, order }) => {
    const spent = spending.get(key);
    const found = (spent?.lines ?? []).map((line) => ({ line, product: products.get(line.url) }));
    const price = prices ? sumOf(found) : null;
    return {
      ...{ row: number, key, cells: [...values], order, retailers: retailersOf(found) },
      price_cents: price,
      room_cents: price === null ? null : order.max_price - price,
      twins: duplicates.get(key) ?? [],
      placed: placed.get(key) ?? null,
      notes: [
        ...reusedKeyNotes(order, sentCells.get(key)),
        ...found.flatMap(({ line, product }) => notesOf(line.url, product, spent?.country ?? '')),
      ],
    };
  });
  const account = await context.sender();
  const timeZone = (await loadPolicy(context))?.timeZone ?? 'UTC';
  const { spend, tally } = check;
  const before = spend.wallet ?? null;
  const ofWallet = planned.filter(({ order }) => !hasAccount(order));
  const paid = ofWallet
    .filter((row) => row.placed !== null)
    .reduce((sum, { order }) => sum + order.max_price + fee, 0);
  // The maximum is never below what the rows add up to, whatever the service estimates.
  const maxCents = Math.max(maxSpendOf(planned, fee), spend.estimate - paid);
  const draft: PlanDraft = {
    plan: 1,
    errand: context.version,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + planLifeMs).toISOString(),
    service: settings.baseUrl.value,
    account: account.account,
    key: account.keyMasked,
    profile: settings.profile.value,
    is_rehearsal: context.isRehearsal(),
    file: {
      name: source.name,
      sha256: await hashOf(source.chunks()),
      rows: tally.rows,
      left_out: tally.invalid,
    },
    made_from: madeFrom,
    ...{ batch_size: batchSize, run, notify_on_complete: notifies },
    priced_at: prices ? new Date(now).toISOString() : null,
    orders: planned.length,
    ceilings_cents: planned.reduce((sum, { order }) => sum + order.max_price, 0),
    fee_cents: fee,
    most_cents: maxCents,
    wallet: {
      before_cents: before,
      after_cents: before === null || spend.byInvoice ? null : before - maxCents,
      by_invoice: spend.byInvoice,
    },
    policy: verdict ? plannedVerdict(verdict) : null,
    totals: totalsOf(
      planned.map((row) => ({ ...row, sellers: sellersOf(row.order, products) })),
      { feeCents: fee, day: periodsAt(now, timeZone).day.name },
    ),
    headings: [...headings],
    file_headings: [...fileHeadings],
    ...(reference && {
      reference: { indexes: [...reference.indexes], namespace: reference.namespace },
    }),
    products: [...products.values()],
    rows: planned,
  };
  return { draft, proposed };
}

const unapproved = { hash: '', cents: 0, summary: {} } as const;

const plannedVerdict = ({
  outcome,
  policy,
  orders,
  amount_cents,
  rules,
  rows,
}: Verdict): PlanDraft['policy'] => ({
  ...{ outcome, policy, orders, amount_cents },
  rules: [...rules],
  rows: [...rows],
});

/** The service's fee per order, in cents; 0 if not given. */
async function feeAt(context: Context): Promise<number> {
  const client = await context.client();
  const { body } = await client.call('wallet.get', {});
  const fee = numberIn(body, 'order_fee_cents') ?? 0;
  return Number.isSafeInteger(fee) && fee > 0 ? fee : 0;
}

const hasAccount = (order: object): boolean =>
  'retailer_credentials_id' in order && order.retailer_credentials_id !== undefined;

/** The valid rows of a file, each with its key. */
async function orderedRows(
  check: FileCheck,
  run: string,
): Promise<{
  readonly rows: OrderedRow[];
  readonly headings: readonly string[];
  readonly fileHeadings: readonly string[];
  readonly reference: ReferencePlan | undefined;
}> {
  const keys = new RowKeys(run);
  const rows: OrderedRow[] = [];
  let headings: readonly string[] = [];
  let fileHeadings: readonly string[] = [];
  let reference: ReferencePlan | undefined;
  const seen = new Map<string, number>();
  for await (const part of check.valid())
    for (const read of part) {
      const row = orderedRow(read, keys);
      const before = seen.get(row.key);
      if (before !== undefined)
        throw new UsageError(`row ${row.number} has the idempotency key of row ${before}: ${row.key}`);
      seen.set(row.key, row.number);
      ({ headings, fileHeadings, reference } = read.plan);
      rows.push(row);
    }
  return { rows, headings, fileHeadings, reference };
}

function orderedRow(read: FileRow, keys: RowKeys): OrderedRow {
  const cells = keys.keyed(read);
  const key = read.row.cell('idempotency_key') || (cells.idempotency_key ?? '');
  const order = plannedOrder(orderOfRow(read.plan, read.cells, read.row), cells, key);
  return { number: read.number, key, cells, values: read.cells, order };
}

/** One query per product page, with all its destination countries. */
function queriesOf(orders: readonly SpendingOrder[]): ProductQuery[] {
  const queries = new Map<string, Set<string>>();
  for (const { lines, country } of orders)
    for (const { url } of lines) {
      const countries = queries.get(url) ?? new Set();
      queries.set(url, countries.add(country));
    }
  return [...queries].map(([url, countries]) => ({ url, countries }));
}

interface FoundLine {
  readonly line: SpendingOrder['lines'][number];
  readonly product: PlanProduct | undefined;
}

/** Sum of the prices; null if any line lacks a price in US dollars. */
function sumOf(found: readonly FoundLine[]): number | null {
  let sum = 0;
  for (const { line, product } of found) {
    if (product?.price == null || product.no_price !== null) return null;
    sum += product.price * line.quantity;
  }
  return Number.isSafeInteger(sum) ? sum : null;
}

const retailersOf = (found: readonly FoundLine[]): string[] => [
  ...new Set(
    found.flatMap(({ line, product }) => [
      hostAsName(line.host),
      ...(product?.retailer == null ? [] : [product.retailer.toLowerCase()]),
    ]),
  ),
];

/**
 * Note for a row whose key was already sent with different content. @param sent holds the cells of the earlier row, as
 * journaled by its upload.
 */
function reusedKeyNotes(order: OrderedRow['order'], sent: UploadRow | undefined): string[] {
  const changes = sent === undefined ? [] : changesOf({ ...order }, orderOfCells(sent));
  return changes.length === 0
    ? []
    : [
        `${reusedKeyPrefix} of a row sent before with other content (${changesText({ changes })}): give it a new key, or none`,
      ];
}

/** Notes about a product to review before ordering it. */
function notesOf(url: string, product: PlanProduct | undefined, country: string): string[] {
  const host = product?.domain ?? hostOf(url);
  if (product?.orderable === false)
    return [`cannot be ordered: ${product.unsupported_reason ?? 'the service says so'} (${host})`];
  if (product?.ships_to && country !== '' && !product.ships_to.includes(country))
    return [`cannot be ordered: ${host} does not ship to ${country}`];
  return product?.retailer == null ? [`unknown retailer: ${host}`] : [];
}

async function hashOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** Kinds of findings to review before a row is placed. */
export const reviewKinds = {
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

/** Prefix of a row's note about a reused key. */
const reusedKeyPrefix = 'keeps the key';

export type ReviewKind = keyof typeof reviewKinds;

interface ReviewItem {
  readonly kind: ReviewKind;
  readonly why: string;
}

/** A row of a plan, as listed. Amounts in cents. */
export type ShownRow = Output<'PlanRow'>;

/** Lists every row of a plan with its findings. Findings about the whole file belong to no row. Pure. */
export function shownRows({ rows, products, policy }: Plan): ShownRow[] {
  const known = new Map(products.map((product) => [product.url, product]));
  const findings = new Map<number, ReviewItem[]>();
  for (const { row, outcome, rule, message } of policy?.rows ?? []) {
    if (row === null || outcome === 'allowed') continue;
    const found = findings.get(row) ?? [];
    findings.set(row, found);
    found.push({ kind: outcome, why: `${outcomeWords[outcome]}: ${rule}: ${message}` });
  }
  const typicalRange = typicalRangeOf(rows);
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
  { row, key, order, price_cents, room_cents, twins, placed, notes }: PlanRow,
  products: ReadonlyMap<string, PlanProduct>,
  findings: readonly ReviewItem[],
  typicalRange: TypicalRange | undefined,
): ShownRow {
  const fromNotes = notes.map((why): ReviewItem => ({ kind: kindOfNote(why), why }));
  const reused = fromNotes.filter(({ kind }) => kind === 'kept_key');
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
        ? reviewItems.map(({ why }) => why)
        : [`sent before: ${placed}`, ...reused.map(({ why }) => why)],
    kinds: [...new Set((placed === null ? reviewItems : reused).map(({ kind }) => kind))],
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

/** Tolerated clock skew between machines, ms. */
const clocksDifferMs = 3600 * 1000;

interface Stale {
  readonly code: 'plan_expired' | 'plan_elsewhere';
  readonly what: string;
}

/** Why a plan cannot be applied here and now, whatever its rows; undefined if it can. */
export async function staleness(context: Context, { plan }: ReadPlan): Promise<Stale | undefined> {
  const now = context.clock.now();
  const made = Date.parse(plan.created_at);
  const { baseUrl, profile } = context.settings;
  if (plan.service !== baseUrl.value)
    return {
      code: 'plan_elsewhere',
      what: `was made for another service: ${plan.service}, and this is ${baseUrl.value}`,
    };
  const { account, keyMasked } = await context.sender();
  if (plan.account !== account)
    return {
      code: 'plan_elsewhere',
      what: `was made for another account: with the key ${plan.key} of the profile ${plan.profile}, and this is ${keyMasked} of ${profile.value}`,
    };
  if (now >= Math.min(Date.parse(plan.expires_at), made + planLifeMs))
    return {
      code: 'plan_expired',
      what: `has expired: it was made at ${plan.created_at}, and a plan holds for 24 hours`,
    };
  if (made > now + clocksDifferMs)
    return {
      code: 'plan_expired',
      what: `was made at ${plan.created_at}, which is in the future here; set the clock of this machine, or plan again`,
    };
  return undefined;
}

/**
 * Checks that the plan is still valid here. Rows sent before remain valid, however old the plan is. @throws ErrandError
 * (policy) naming the rows that an invalid plan would still place.
 */
export async function checkHolds(context: Context, read: ReadPlan, work: Work): Promise<void> {
  const stale = await staleness(context, read);
  if (!stale) return;
  const rows = work.rest.flatMap(({ numbers }) => numbers);
  if (stale.code === 'plan_expired' && rows.length + work.inDoubt.length === 0) return;
  throw planRefused({
    ...{ path: read.path, rows, sent: sentRows(read, work), ...stale },
    ...(await wayOn(context, read, work, stale)),
  });
}

async function wayOn(context: Context, read: ReadPlan, { inDoubt }: Work, { code }: Stale): Promise<Again> {
  if (code === 'plan_elsewhere') {
    const where = await whereOf(context, read.plan);
    return {
      hint: 'Use the key that it was made with: under another account each row would be a new order.',
      ...(where !== undefined && {
        next: [{ command: `errand bulk apply ${shellWord(read.path)}${where}`, when: 'to apply it there' }],
      }),
    };
  }
  const again = await planAgain(context, read);
  const settle = inDoubt.map(({ record: { key } }) => ({
    command: journalCommand('resume', key, whereFlags(context)),
    when: 'first: it is in doubt',
  }));
  return { ...again, next: [...settle, ...(again.next ?? [])] };
}
