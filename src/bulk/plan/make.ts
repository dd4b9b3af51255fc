import { createHash } from 'node:crypto';
import { orderOfRow } from '../../api/bulk-row.ts';
import { numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { type Plan, type PlanDraft, type PlanProduct, planVersion } from '../../api/schemas/plan-file.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { hostAsName } from '../../spending/policy/facts.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { hostOf, periodsAt, type Verdict } from '../../spending/policy/policy.ts';
import { gateFor } from '../../spending/policy-gate.ts';
import { type FileCheck, fingerprintOf } from '../check/file-check.ts';
import type { ReferencePlan } from '../csv/reference-columns.ts';
import { differsLines } from '../needs/refused-rows.ts';
import { type FileRow, RowKeys } from '../rows.ts';
import { uploadName } from '../upload/begin.ts';
import { type WrittenCells, writtenCells } from '../upload/file-rows.ts';
import { leaveOutOrStop, spendOfNew } from '../upload/prepare.ts';
import type { Source } from '../upload/source.ts';
import { proposedByUpload } from '../upload/upload.ts';
import { type Columns, type DecidedPlan, decidePlan, needName, type SendableRow } from './decided.ts';
import { EarlierOrders, failedElsewhere } from './earlier-orders.ts';
import { isNew, maxSpendOf, planLifeMs } from './file.ts';
import { plannedOrder } from './planned-order.ts';
import { type ProductQuery, queryProducts } from './products.ts';
import { sellersOf, totalsOf } from './totals.ts';

export interface PlanOptions {
  readonly batchSize: number;
  readonly run: string;
  readonly skipDuplicates: boolean;
  readonly again: boolean;
  readonly notifies: boolean;
  /** Whether to look up current prices. */
  readonly prices: boolean;
  readonly madeFrom: Plan['made_from'];
}

/** A row to plan, with its order already parsed. */
interface OrderedRow extends SendableRow, OrderedProducts {
  readonly values: readonly string[];
  readonly written: WrittenCells;
  readonly order: ReturnType<typeof orderOfRow>;
}

interface OrderedProducts {
  readonly lines: readonly OrderedLine[];
  readonly country: string;
}

interface OrderedLine {
  readonly url: string;
  readonly quantity: number;
}

interface PlannedFile extends Columns {
  readonly rows: readonly OrderedRow[];
  /** The columns that give each row's reference. */
  readonly reference: ReferencePlan | undefined;
}

/** A plan that is not written yet. */
export interface MadePlan {
  readonly draft: PlanDraft;
  readonly proposed: readonly ProposedOrder[];
  /** Lines about rows that differ from the orders of their references or keys. */
  readonly differing: readonly string[];
}

/**
 * Plans the upload of a validated file. Sends no orders. @throws ErrandError conflict if rows are like earlier orders
 * and the user has not said how to treat them.
 */
export async function makePlan(
  context: Context,
  source: Source,
  check: FileCheck,
  options: PlanOptions,
): Promise<MadePlan> {
  const { batchSize, notifies, prices, ...asked } = options;
  const file = await orderedRows(check, options.run);
  const work = await decidePlan(context, { ...file, all: file.rows, batchSize }, asked);
  const { decided } = work;
  if (decided.isBlocked) await leaveOutOrStop(context, decided, source.name, 'plan');
  const identity = fingerprintOf(file.rows.map(({ key }) => key));
  const { name } = await uploadName(context, { given: undefined, file: source.name, identity });
  const proposed = await proposedByUpload(context, {
    ...{ name: source.name, decided, batchSize, notifies },
    namedUpload: { name, upload: { identity, file: source.name, rows: 0, source: {} } },
  });
  // The approval of an upload does not apply to a plan. A plan is approved as a whole.
  const gate = await gateFor(context, proposed, { plan: unapproved });
  const verdict = await gate?.settledPreview();
  const keys = keysOf(work);
  const products = await queryProducts(
    context,
    queriesOf(file.rows.filter(({ number }) => keys.has(number))),
    {
      prices,
    },
  );
  const rows = await plannedRows(context, file, work, { keys, products, prices });
  const unplanned = await unplannedRows(check);
  const draft = {
    ...(await draftOf(context, source, check, { options, file, work, rows, products, verdict })),
    ...(unplanned.length > 0 && { unplanned }),
  };
  return { draft, proposed, differing: await differsLines(context, decided) };
}

const unapproved = { hash: '', cents: 0, summary: {} } as const;

async function unplannedRows(check: FileCheck): Promise<NonNullable<PlanDraft['unplanned']>> {
  const unplanned: NonNullable<PlanDraft['unplanned']> = [];
  if (check.tally.invalid + check.tally.readings.continuations.count === 0) return unplanned;
  for await (const rows of check.rows())
    for (const { number, cells, written, leftOut } of rows)
      if (leftOut)
        unplanned.push({
          ...{ row: number, cells: [...cells], why: leftOut.why, reason: leftOut.reason },
          written: planWritten(written),
        });
  return unplanned;
}

const planWritten = (written: WrittenCells = []): NonNullable<PlannedRow['written']> =>
  written.map(([index, text]) => [index, text]);

/** Keys of the rows that are sent, by row number. */
const keysOf = ({ rest }: DecidedPlan): Map<number, string> =>
  new Map(
    rest.flatMap(({ rows, numbers }) =>
      rows.map((cells, index) => [numbers[index] ?? 0, cells.idempotency_key ?? ''] as const),
    ),
  );

type PlannedRow = PlanDraft['rows'][number];

async function plannedRows(
  context: Context,
  { rows }: PlannedFile,
  work: DecidedPlan,
  {
    keys,
    products,
    prices,
  }: {
    readonly keys: ReadonlyMap<number, string>;
    readonly products: ReadonlyMap<string, PlanProduct>;
    readonly prices: boolean;
  },
): Promise<PlannedRow[]> {
  const earlier = await EarlierOrders.open(context, work);
  return rows.map((row) => {
    const { number, values, written, lines, country } = row;
    const outcome = work.outcomes.get(number);
    const found = lines.map((line) => ({ line, product: products.get(line.url) }));
    const sentKey = keys.get(number);
    const key = sentKey ?? row.key;
    const isSent = sentKey !== undefined && outcome?.decision.do === 'send';
    const price = isSent && prices ? sumOf(found) : null;
    return {
      ...{ row: number, key },
      attempt: isSent ? { need: needName(outcome.row), number: outcome.decision.number } : null,
      ...{ cells: [...values], written: planWritten(written) },
      ...{ order: { ...row.order, idempotency_key: key }, retailers: retailersOf(found) },
      price_cents: price,
      room_cents: price === null ? null : row.order.max_price - price,
      twins: outcome ? earlier.duplicatesOf(outcome) : [],
      ...(isSent ? { placed: null, left_out: null } : earlier.fateOf(outcome)),
      notes: isSent ? found.flatMap(({ line, product }) => notesOf(line.url, product, country)) : [],
    };
  });
}

async function draftOf(
  context: Context,
  source: Source,
  check: FileCheck,
  {
    options: { batchSize, run, notifies, prices, madeFrom },
    file,
    work,
    rows,
    products,
    verdict,
  }: {
    readonly options: PlanOptions;
    readonly file: PlannedFile;
    readonly work: DecidedPlan;
    readonly rows: readonly PlannedRow[];
    readonly products: ReadonlyMap<string, PlanProduct>;
    readonly verdict: Verdict | undefined;
  },
): Promise<PlanDraft> {
  const { settings, clock } = context;
  const now = clock.now();
  const at = new Date(now).toISOString();
  const { account, keyMasked } = await context.sender();
  const fee = await feeAt(context);
  const spend = spendOfNew(check, work.decided);
  const before = spend.wallet ?? null;
  const sent = rows.filter(isNew);
  // Even if the service's estimate is lower, the maximum covers the ceilings and fees of all rows.
  const maxCents = Math.max(maxSpendOf(rows, fee), spend.estimate);
  const timeZone = (await loadPolicy(context))?.timeZone ?? 'UTC';
  return {
    ...{ plan: planVersion, errand: context.version },
    ...{ created_at: at, expires_at: new Date(now + planLifeMs).toISOString() },
    ...{ service: settings.baseUrl.value, account, key: keyMasked, profile: settings.profile.value },
    is_rehearsal: context.isRehearsal(),
    file: {
      name: source.name,
      sha256: await hashOf((source.bytes ?? source.chunks)()),
      ...{ rows: check.tally.rows, left_out: check.tally.invalid },
    },
    made_from: madeFrom,
    ...{ batch_size: batchSize, run, notify_on_complete: notifies, priced_at: prices ? at : null },
    orders: sent.length,
    ceilings_cents: sent.reduce((sum, { order }) => sum + (numberIn(order, 'max_price') ?? 0), 0),
    counts: await countsOf(context, work),
    ...{ fee_cents: fee, most_cents: maxCents },
    wallet: {
      before_cents: before,
      after_cents: before === null || spend.byInvoice ? null : before - maxCents,
      by_invoice: spend.byInvoice,
    },
    policy: verdict ? plannedVerdict(verdict) : null,
    totals: totalsOf(
      sent.map((row) => ({ ...row, sellers: sellersOf(row.order, products) })),
      { feeCents: fee, day: periodsAt(now, timeZone).day.name },
    ),
    headings: [...file.headings],
    ...(file.fileHeadings && { file_headings: [...file.fileHeadings] }),
    ...(file.reference && {
      reference: { indexes: [...file.reference.indexes], namespace: file.reference.namespace },
    }),
    products: [...products.values()],
    rows,
  };
}

async function countsOf(context: Context, work: DecidedPlan): Promise<PlanDraft['counts']> {
  const { counts } = work.decided;
  return {
    ...{ new: counts.new, failed_before: counts.failedBefore, taken_back_before: counts.again },
    ...{ placed: counts.placed, in_doubt: counts.inDoubt, left_out: counts.skipped + counts.refused },
    failed_elsewhere: await failedElsewhere(context, work),
  };
}

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

/** The service's fee per order, in cents; 0 if the service gives none. */
async function feeAt(context: Context): Promise<number> {
  const client = await context.client();
  const { body } = await client.call('wallet.get', {});
  const fee = numberIn(body, 'order_fee_cents') ?? 0;
  return Number.isSafeInteger(fee) && fee > 0 ? fee : 0;
}

/** The valid rows of a file, each with its key. */
async function orderedRows(check: FileCheck, run: string): Promise<PlannedFile> {
  const keys = new RowKeys(run);
  const rows: OrderedRow[] = [];
  let columns: Omit<PlannedFile, 'rows'> = { headings: [], reference: undefined };
  const seen = new Map<string, number>();
  for await (const part of check.valid())
    for (const read of part) {
      const row = orderedRow(read, keys);
      const before = seen.get(row.key);
      if (before !== undefined)
        throw new UsageError(`row ${row.number} has the idempotency key of row ${before}: ${row.key}`);
      seen.set(row.key, row.number);
      const { headings, fileHeadings, reference } = read.plan;
      columns = { headings, fileHeadings, reference };
      rows.push(row);
    }
  return { rows, ...columns };
}

function orderedRow(read: FileRow, keys: RowKeys): OrderedRow {
  const cells = keys.keyed(read);
  const given = read.row.cell('idempotency_key');
  const key = given || (cells.idempotency_key ?? '');
  const order = plannedOrder(orderOfRow(read.plan, read.cells, read.row), cells, key);
  return {
    ...{ number: read.number, key, hasOwnKey: given !== '', cells, values: read.cells, order },
    written: writtenCells(read.plan, read.cells, read.written),
    lines: objectsIn(order, 'products').map((line) => ({
      url: textIn(line, 'url') ?? '',
      quantity: numberIn(line, 'quantity') ?? 1,
    })),
    country: (textIn(own(order, 'shipping_address'), 'country') ?? '').trim().toUpperCase(),
  };
}

/** One query per product page. It lists all countries to which the page's products go. */
function queriesOf(orders: readonly OrderedProducts[]): ProductQuery[] {
  const queries = new Map<string, Set<string>>();
  for (const { lines, country } of orders)
    for (const { url } of lines) {
      const countries = queries.get(url) ?? new Set();
      queries.set(url, countries.add(country));
    }
  return [...queries].map(([url, countries]) => ({ url, countries }));
}

interface FoundLine {
  readonly line: OrderedLine;
  readonly product: PlanProduct | undefined;
}

/** Total price of the lines; null if any line lacks a price in US dollars. */
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
      hostAsName(hostOf(line.url)),
      ...(product?.retailer == null ? [] : [product.retailer.toLowerCase()]),
    ]),
  ),
];

/** Notes about a product that the user should review before ordering it. */
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
