import { planColumns } from '../../api/bulk-columns.ts';
import { orderOfRow, readBulkRow } from '../../api/bulk-row.ts';
import { numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import type { Plan, PlanRow } from '../../api/schemas/plan-file.ts';
import { canonicalJson } from '../../format/canonical.ts';
import { formatMoney } from '../../format/money.ts';
import type { Reference } from '../../journal/attempts.ts';
import { attemptKey } from '../../orders/needs/reference.ts';
import { firstKeyOf } from '../../orders/needs/row-key.ts';
import { ErrandError, type ErrorFacts, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { checkAtService } from '../check/service-check.ts';
import { isShort, type Spend, spendLine } from '../check/spend.ts';
import { type ReferencePlan, readReference } from '../csv/reference-columns.ts';
import { RowNeeds } from '../needs/row-need.ts';
import { RowKeys } from '../rows.ts';
import { planAgain } from './again.ts';
import { type DecidedPlan, needName, numbersIn, type SendableRow } from './decided.ts';
import {
  alteredRows,
  defaultTarget,
  headProblem,
  integrityOf,
  rangesText,
  readPlanFile,
  rowsNamed,
} from './file.ts';
import { plannedOrder } from './planned-order.ts';
import { queryProducts } from './products.ts';

interface PlanSendableRow extends SendableRow {
  readonly planned: PlanRow;
}

export interface ReadPlan {
  /** Path of the plan, as given. */
  readonly path: string;
  readonly plan: Plan;
  /** The plan's rows, in the plan's order. */
  readonly rows: readonly PlanSendableRow[];
}

/**
 * Reads a plan, possibly from another machine. Accepts the plan only if its bytes are unmodified and each row's order
 * matches the row's cells. @param where holds flags for suggested commands, each preceded by a space. @throws
 * UsageError for a file that is not a plan; ErrandError (policy) for an altered plan.
 */
export async function readPlan(path: string, where: string): Promise<ReadPlan> {
  const bytes = await readPlanFile(path);
  const state = integrityOf(bytes);
  if (state === 'none')
    throw new UsageError(`${path} is not a plan; \`errand bulk plan\` writes one`, {
      ...(bytes.length > 0 && {
        next: [
          {
            command: `errand bulk plan ${shellWord(path)} --out ${shellWord(defaultTarget(path))}${where}`,
            when: 'if it is a table of orders',
          },
        ],
      }),
    });
  if (state === 'altered') throw altered(path, bytes);
  const plan = await parse(path, bytes);
  const rows = sendableRows(path, plan);
  const what = headProblem(plan);
  if (what !== undefined) throw planRefused({ path, code: 'plan_altered', what, rows: [] });
  return { path, plan, rows };
}

function altered(path: string, bytes: Buffer) {
  const rows = alteredRows(bytes);
  return planRefused({
    path,
    code: 'plan_altered',
    what: `was altered since it was written, ${rows.length === 0 ? 'outside its rows' : `in ${rowsNamed(rows)}`}`,
    ...{ rows, namesRows: true },
    hint: 'Any change counts, even a line break. Use the original file, or plan again with the same options.',
  });
}

async function parse(path: string, bytes: Buffer): Promise<Plan> {
  const { PlanFile, planVersion } = await import('../../api/schemas/plan-file.ts');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new UsageError(`${path} is not a plan: it is not JSON`, { cause });
  }
  const version = own(value, 'plan');
  if (typeof version !== 'number' || version < 1 || version > planVersion)
    throw new UsageError(
      `${path} is a plan of version ${JSON.stringify(version)}; this errand reads version ${planVersion} and earlier`,
      { hint: 'Plan again with this errand, or apply it with the one that wrote it.' },
    );
  const read = PlanFile.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(
    `${path} is not a plan as errand writes it: ${[issue?.path.map(String).join('.'), issue?.message].filter(Boolean).join(': ')}`,
    { cause: read.error },
  );
}

/** The reference of a row; undefined if the row's cells give none. */
function referenceIn(named: ReferencePlan, cells: readonly string[]): Reference | undefined {
  const read = readReference(named, cells);
  return 'reference' in read ? read.reference : undefined;
}

const hasRoom = ({ order, price_cents: price, room_cents: room }: PlanRow): boolean =>
  price === null ? room === null : price >= 0 && room === (numberIn(order, 'max_price') ?? 0) - price;

/** Rebuilds each row's order, need and key from the row's cells, to ensure that exactly what is shown is sent. */
function sendableRows(path: string, plan: Plan): ReadPlan['rows'] {
  const columns = planColumns(plan.headings);
  const keys = new RowKeys(plan.run);
  const needs = new RowNeeds();
  const { reference: named } = plan;
  const seen = new Set<string>();
  let before = 0;
  return plan.rows.map((planned) => {
    const { row: number, cells, key, order } = planned;
    const read = readBulkRow(columns, cells);
    const reference = named && referenceIn({ ...named, headings: plan.headings }, cells);
    const own = read.cell('idempotency_key');
    const sent = keys.keyed({ plan: columns, cells, row: read, reference });
    const first = own || (sent.idempotency_key ?? '');
    const row = { number, key: first, hasOwnKey: own !== '', cells: sent, planned };
    const expected = plannedOrder(orderOfRow(columns, cells, read), sent, key);
    const why =
      number <= before
        ? 'stands out of its order'
        : read.issues.length > 0
          ? `${read.issues[0]?.column} ${read.issues[0]?.message}`
          : named && !reference
            ? 'has no reference'
            : seen.has(key)
              ? 'its key does not follow from its order'
              : (attemptProblem(plan, row, needs) ??
                (canonicalJson(expected) !== canonicalJson(order)
                  ? 'its order is not what its cells say'
                  : !hasRoom(planned)
                    ? 'its price and its room do not make its ceiling'
                    : undefined));
    if (why !== undefined)
      throw planRefused({
        ...{ path, code: 'plan_altered', what: 'is not a plan as errand writes it', rows: [] },
        problems: [{ row: number, why }],
      });
    before = number;
    seen.add(key);
    return row;
  });
}

/** Why the attempt that the plan states for a row cannot belong to the row's order; undefined if it can. */
function attemptProblem(
  { plan, headings }: Plan,
  { number, key: first, hasOwnKey, cells, planned: { key, attempt } }: PlanSendableRow,
  needs: RowNeeds,
): string | undefined {
  const isOther = 'its key does not follow from its order';
  if (plan === 1 || attempt == null)
    return key !== first ? isOther : plan !== 1 && attempt === undefined ? 'it has no attempt' : undefined;
  const [need] = needs.of({
    ...{ key: '', headings, rows: [cells], numbers: [number] },
    ...(hasOwnKey && { ownKeys: [number] }),
  });
  if (!need || needName(need) !== attempt.need) return 'its need does not follow from its order';
  const { reference } = need.need;
  const isKey = hasOwnKey
    ? key === first
    : reference
      ? key === attemptKey(reference, attempt.number)
      : firstKeyOf(key) === first;
  return isKey ? undefined : isOther;
}

/** Why a row cannot be placed as planned. */
interface RowProblem {
  readonly row: number;
  readonly why: string;
}

/** Maximum numbers of problems and of rows that an error lists one by one. */
const maxNamed = 10;
const maxListed = 1000;

interface Refusing {
  /** Path of the plan, as given. */
  readonly path: string;
  readonly code: string;
  /** The problem, phrased to follow the file name. */
  readonly what: string;
  /** Numbers of the affected rows; empty if unknown. */
  readonly rows: readonly number[];
  readonly problems?: readonly RowProblem[];
  readonly hint?: string | undefined;
  /** Whether the text in `what` already names the rows. */
  readonly namesRows?: boolean;
  /** Numbers of the rows that were sent before, or may have been. */
  readonly sent?: readonly number[];
  readonly next?: ErrorFacts['next'];
}

/** Groups rows by problem, in order of first occurrence. */
function groupsOf(problems: readonly RowProblem[]): { readonly rows: string; readonly why: string }[] {
  const rows = new Map<string, number[]>();
  for (const { row, why } of problems) {
    const group = rows.get(why) ?? [];
    rows.set(why, group);
    group.push(row);
  }
  return [...rows].map(([why, numbers]) => ({ rows: rangesText(numbers), why }));
}

/** Error for a plan that is no longer valid. Nothing was sent. */
export function planRefused({
  path,
  code,
  what,
  rows,
  problems = [],
  hint,
  namesRows = false,
  sent = [],
  next,
}: Refusing): ErrandError {
  const grouped = groupsOf(problems);
  const named = grouped
    .slice(0, maxNamed)
    .map(({ rows: of, why }) => `${of.includes(',') || of.includes('-') ? 'rows' : 'row'} ${of}: ${why}`);
  const more = grouped.length - named.length;
  const listed = [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  const about = rows.length === 0 || namesRows ? '' : `; ${rowsNamed(rows)} not placed`;
  const before = sent.length === 0 ? '' : ` (${rowsNamed(sent)} sent before)`;
  return new ErrandError(
    'policy',
    `${path} ${what}${listed === '' ? '' : `: ${listed}`}${about}${before}; nothing was sent${sent.length === 0 ? '' : ' now'}`,
    {
      code,
      outcome: 'not_sent',
      retryable: false,
      details: {
        plan: path,
        ...(rows.length > 0 && { rows: rangesText(rows) }),
        ...(sent.length > 0 && { sent_before: rangesText(sent) }),
        ...(problems.length > 0 && { problems: grouped.slice(0, maxListed) }),
      },
      hint: hint ?? 'Plan again in the way that it was planned.',
      next,
    },
  );
}

type Row = ReadPlan['rows'][number];

/**
 * Warns about rows that were planned without a known price, or with a price above their ceiling. A warning is enough,
 * because no row can cost more than its ceiling.
 */
export function notePrices(context: Context, { plan }: ReadPlan, rows: readonly Row[]): void {
  if (plan.priced_at === null) return;
  const unknown = rows.filter(({ planned }) => planned.price_cents === null);
  const above = rows.filter(({ planned }) => (planned.room_cents ?? 0) < 0);
  const notices = [
    [unknown, 'without a known price when it was planned'],
    [above, 'above the ceiling when it was planned'],
  ] as const;
  for (const [found, what] of notices)
    if (found.length > 0)
      context.note(
        `${shortened(found)} ${what}; no order costs more than its ceiling (--recheck-prices asks again)`,
      );
}

/** Maximum length of the row ranges in a line, in characters. */
const maxLength = 60;

function shortened(rows: readonly Row[]): string {
  const text = rowsNamed(rows.map(({ number }) => number));
  return text.length > maxLength ? `${text.slice(0, text.lastIndexOf(',', maxLength))}, …` : text;
}

/**
 * Looks up current prices again, once per URL. @throws ErrandError (policy) naming rows whose price is unknown, or is
 * above the planned price or the ceiling.
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
  const products = await queryProducts(context, queries, { prices: true });
  const problems = rows.flatMap(({ number, planned }): RowProblem[] => {
    const ceiling = numberIn(planned.order, 'max_price') ?? 0;
    const maxCents = Math.min(ceiling, planned.price_cents ?? ceiling);
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
    if (sum <= maxCents) return [];
    const than =
      maxCents === ceiling ? `its ceiling is ${formatMoney(ceiling)}` : `it was ${formatMoney(maxCents)}`;
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
 * Has the service validate the rest of a plan. @returns the cost of the rest. @throws ErrandError (policy) naming rows
 * that the service now refuses or that the wallet no longer covers.
 */
export async function checkRest(
  context: Context,
  read: ReadPlan,
  { rest }: Pick<DecidedPlan, 'rest'>,
): Promise<Spend> {
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
  const about = { path: read.path, rows: numbersIn(rest) };
  if (problems.length > 0)
    throw planRefused({
      ...(await planAgain(context, read)),
      ...{ ...about, problems, code: 'plan_rows' },
      what: 'no longer holds: the service refuses rows of it by now',
    });
  const { most_cents, ceilings_cents, fee_cents, orders } = read.plan;
  // A plan of version 1 gives only the ceilings of all its rows together. Another machine cannot subtract the sent
  // rows, because it does not know them.
  const maxCents = Math.max(most_cents, ceilings_cents + fee_cents * orders);
  if (spend.estimate > maxCents)
    throw planRefused({
      ...(await planAgain(context, read)),
      ...{ ...about, code: 'plan_amount' },
      what: `no longer holds: the service takes up to ${formatMoney(spend.estimate)} for what is left, and the plan says at most ${formatMoney(maxCents)}`,
    });
  checkCovered(read, rest, spend);
  return spend;
}

/** @throws ErrandError (policy) naming the rows that the wallet does not cover. */
export function checkCovered(read: ReadPlan, rest: DecidedPlan['rest'], spend: Spend): void {
  if (!isShort(spend)) return;
  const rows = numbersIn(rest);
  throw planRefused({
    ...{ path: read.path, rows, code: 'insufficient_funds' },
    what: `no longer holds: ${spendLine(spend)}; it does not pay for ${rowsNamed(beyond(read, rows, spend))}`,
    hint: 'Fill the wallet and apply it again, or apply a part with --rows or --only.',
  });
}

/** Rows that the wallet no longer covers if each row costs its ceiling. */
function beyond({ plan, rows }: ReadPlan, numbers: readonly number[], { wallet = 0 }: Spend): number[] {
  const left = new Set(numbers);
  let sum = 0;
  return rows.flatMap(({ number, planned: { order } }) => {
    if (!left.has(number) || textIn(order, 'retailer_credentials_id') !== undefined) return [];
    sum += (numberIn(order, 'max_price') ?? 0) + plan.fee_cents;
    return sum > wallet ? [number] : [];
  });
}
