import { createHash } from 'node:crypto';
import { orderOfRow } from '../../api/bulk-row.ts';
import { numberIn, objectsIn } from '../../api/json.ts';
import type { Plan, PlanDraft, PlanProduct } from '../../api/schemas/plan-file.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { ordersOf, type SpendingOrder } from '../../spending/policy/facts.ts';
import type { Verdict } from '../../spending/policy/finding.ts';
import type { Meant } from '../../spending/policy/gate.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { periodsAt } from '../../spending/policy/periods.ts';
import { hostAsName } from '../../spending/policy/retailers.ts';
import { hostOf } from '../../spending/policy/url-forms.ts';
import { gateFor } from '../../spending/through-policy.ts';
import type { FileCheck } from '../file-check.ts';
import { changesOf, changesText, orderOfCells } from '../kept-keys.ts';
import { type FileRow, RowKeys, type UploadRow } from '../rows.ts';
import type { Source } from '../source.ts';
import { earlierBatches, journaled, placedText } from './earlier.ts';
import { mostOf } from './head.ts';
import { planLifeMs } from './life.ts';
import { keptKeyNote } from './look.ts';
import { lookUpProducts, type ProductQuery } from './products.ts';
import { sellersOf, totalsOf } from './totals.ts';
import { twinsOf } from './twins.ts';
import { meantByPlan, type SendableRow, workOf } from './work.ts';

export interface PlanOptions {
  readonly batchSize: number;
  readonly run: string;
  readonly notifies: boolean;
  /** Whether today's prices are asked for. */
  readonly prices: boolean;
  readonly madeFrom: Plan['made_from'];
}

/** A row as it is planned, its order read once. */
interface OrderedRow extends SendableRow {
  readonly values: readonly string[];
  readonly order: ReturnType<typeof orderOfRow>;
}

/** Plans the upload of a file that was checked; sends nothing that orders. @throws ErrandError. */
export async function makePlan(
  context: Context,
  source: Source,
  check: FileCheck,
  { batchSize, run, notifies, prices, madeFrom }: PlanOptions,
): Promise<{ readonly draft: PlanDraft; readonly meant: readonly Meant[] }> {
  const { rows, headings, fileHeadings } = await orderedRows(check, run);
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
  const meant = await meantByPlan(context, work, { name: source.name, notifies, rows });
  const fee = await feeAt(context);
  const terms = { feeCents: fee, isRehearsal: context.isRehearsal() };
  const spending = new Map(
    meant
      .flatMap(({ intent, numbers }) => ordersOf(intent, { ...terms, numbers }))
      .map((order) => [order.key, order]),
  );
  const ordered = rows.flatMap(({ key }) => spending.get(key) ?? []);
  const twins = await twinsOf(context, ordered, records);
  const products = await lookUpProducts(context, queriesOf(ordered), { prices });
  // What an upload was approved for does not stand for a plan, which is approved as a whole.
  const gate = await gateFor(context, meant, { plan: unapproved });
  const verdict = await gate?.settledLook();
  const planned = rows.map(({ key, number, values, order }) => {
    const spent = spending.get(key);
    const found = (spent?.lines ?? []).map((line) => ({ line, product: products.get(line.url) }));
    const price = prices ? sumOf(found) : null;
    return {
      ...{ row: number, key, cells: [...values], order, retailers: retailersOf(found) },
      price_cents: price,
      room_cents: price === null ? null : order.max_price - price,
      twins: twins.get(key) ?? [],
      placed: placed.get(key) ?? null,
      notes: [
        ...keptKey(order, sentCells.get(key)),
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
  // Never less than the rows say, whatever the service estimates.
  const most = Math.max(mostOf(planned, fee), spend.estimate - paid);
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
    most_cents: most,
    wallet: {
      before_cents: before,
      after_cents: before === null || spend.byInvoice ? null : before - most,
      by_invoice: spend.byInvoice,
    },
    policy: verdict ? plannedVerdict(verdict) : null,
    totals: totalsOf(
      planned.map((row) => ({ ...row, sellers: sellersOf(row.order, products) })),
      { feeCents: fee, day: periodsAt(now, timeZone).day.name },
    ),
    headings: [...headings],
    file_headings: [...fileHeadings],
    products: [...products.values()],
    rows: planned,
  };
  return { draft, meant };
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

/** What the service takes for an order besides its price, cents; 0 where it does not say. */
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
}> {
  const keys = new RowKeys(run);
  const rows: OrderedRow[] = [];
  let headings: readonly string[] = [];
  let fileHeadings: readonly string[] = [];
  const seen = new Map<string, number>();
  for await (const part of check.valid())
    for (const read of part) {
      const row = orderedRow(read, keys);
      const before = seen.get(row.key);
      if (before !== undefined)
        throw new UsageError(`row ${row.number} has the idempotency key of row ${before}: ${row.key}`);
      seen.set(row.key, row.number);
      ({ headings, fileHeadings } = read.plan);
      rows.push(row);
    }
  return { rows, headings, fileHeadings };
}

function orderedRow(read: FileRow, keys: RowKeys): OrderedRow {
  const cells = keys.keyed(read);
  const key = read.row.cell('idempotency_key') || (cells.idempotency_key ?? '');
  const order = { ...orderOfRow(read.plan, read.cells, read.row), idempotency_key: key };
  return { number: read.number, key, cells, values: read.cells, order };
}

/** Each product page once, with every country that it is to be sent to. */
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

/** Null where one of them has no price in US dollars. */
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

/** What of a row that was sent before differs by now. @param sent its cells then: what was uploaded from here was journaled so. */
function keptKey(order: OrderedRow['order'], sent: UploadRow | undefined): string[] {
  const changes = sent === undefined ? [] : changesOf({ ...order }, orderOfCells(sent));
  return changes.length === 0
    ? []
    : [
        `${keptKeyNote} of a row sent before with other content (${changesText({ changes })}): give it a new key, or none`,
      ];
}

/** What of a product needs a look before it is ordered. */
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
