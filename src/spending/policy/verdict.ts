import { canonicalPage } from '../../format/canonical-product.ts';
import { formatMoney } from '../../format/money.ts';
import { durationText } from '../../format/time.ts';
import type { LimitUsage } from '../../journal/limit-usage.ts';
import type { Reservation } from '../../journal/reservation-row.ts';
import { isRetailer, type SummedLimit } from '../../journal/summed-limit.ts';
import { metadataHash, type SpendingOrder } from './facts.ts';
import type { Period, Periods } from './policy.ts';
import {
  comparable,
  type Finding,
  isPlainUrl,
  type Limit,
  outcomes,
  type Policy,
  type Rule,
  type Scope,
  scopeText,
  urlVariants,
  type Verdict,
  type VerdictOutcome,
} from './policy.ts';

export interface Judged {
  readonly policy: Policy;
  /** The orders for which nothing was reserved yet. */
  readonly fresh: readonly SpendingOrder[];
  /** All orders of the upload; undefined for a single order. */
  readonly upload: readonly Pick<SpendingOrder, 'cents' | 'facts'>[] | undefined;
  /** Other reservations and spending. */
  readonly usage: LimitUsage;
  readonly periods: Periods;
  /** Ms since the epoch. */
  readonly now: number;
}

type FindingDraft = Omit<Finding, 'row'>;

/** Pure. */
export function judge(judged: Judged): Verdict {
  const { policy, fresh, upload } = judged;
  const worst = new Map<string, Finding>();
  const rows: Finding[] = [];
  const add = (found: FindingDraft, row: number | undefined): void => {
    const finding = { ...found, row: row ?? null };
    if (finding.outcome !== 'allowed') rows.push(finding);
    const before = worst.get(finding.rule);
    // For each rule, keep the worst finding. If several are equally bad, keep the first. If all orders are allowed,
    // keep the last finding, because it shows what is left after all of them.
    if (!before || rank(before) === 0 || rank(finding) > rank(before)) worst.set(finding.rule, finding);
  };
  for (const limit of policy.limits) judgeLimit(limit, judged, add);
  if (policy.approveUploadAbove && upload && fresh.length > 0)
    add(aboveFinding(policy.approveUploadAbove, sumOf(upload), ' for an upload'), undefined);
  const duplicateOf = duplicateFinder(judged);
  for (const order of fresh) {
    for (const found of judgeTerms(policy, order)) add(found, order.row);
    const duplicate = duplicateOf(order);
    if (duplicate) add(duplicate, order.row);
  }
  const rules = [...worst.values()].sort((a, b) => rank(b) - rank(a));
  return {
    outcome: rules[0]?.outcome ?? 'allowed',
    policy: policy.file,
    orders: upload?.length ?? fresh.length,
    amount_cents: sumOf(upload ?? fresh),
    rules,
    rows,
  };
}

const rank = ({ outcome }: Pick<Finding, 'outcome'>): number => outcomes.indexOf(outcome);

const sumOf = (orders: readonly Pick<SpendingOrder, 'cents'>[]): number =>
  orders.reduce((sum, { cents }) => sum + cents, 0);

/** Returns a function that tests whether a limit applies to an order. It hashes the limit's metadata only once. */
function belongsTo(scope: Scope | undefined): (order: Pick<SpendingOrder, 'facts'>) => boolean {
  const retailer = scope?.retailer;
  const metadata = metadataOf(scope);
  return ({ facts }) =>
    (retailer === undefined || isRetailer(retailer, facts.retailers)) &&
    metadata.every((pair) => facts.metadata.includes(pair));
}

const metadataOf = (scope: Scope | undefined): string[] =>
  Object.entries(scope?.metadata ?? {}).map(metadataHash);

/**
 * Describes the sum that a limit restricts: the orders that are added up, and the period.
 * @param isRehearsal tells whether rehearsals or live orders are added up.
 */
export const summedLimit = (
  scope: Scope | undefined,
  { begin, end }: Period,
  isRehearsal: boolean,
): SummedLimit => ({
  ...{ isRehearsal, begin, end, retailer: scope?.retailer, metadata: metadataOf(scope) },
});

/** The sums that the limits of a policy need. */
export const summedLimits = ({ limits }: Policy, periods: Periods, isRehearsal: boolean): SummedLimit[] =>
  limits.flatMap(({ kind, scope }) => {
    const period = periodOf(kind, periods);
    return period ? [summedLimit(scope, period, isRehearsal)] : [];
  });

/** The period of a limit. Undefined if it has none. */
export const periodOf = (kind: Limit['kind'], { day, month }: Periods): Period | undefined =>
  kind === 'per_day' ? day : kind === 'per_month' ? month : undefined;

function judgeLimit(
  limit: Limit,
  judged: Judged,
  add: (found: FindingDraft, row: number | undefined) => void,
): void {
  const { fresh, upload, usage, periods, policy } = judged;
  const isInScope = belongsTo(limit.scope);
  const inScope = fresh.filter(isInScope);
  const [first] = inScope;
  if (!first) return;
  const maxText = formatMoney(limit.max);
  switch (limit.kind) {
    case 'per_order':
      for (const { cents, row } of inScope) {
        const isOver = cents > limit.max;
        const text = `${amountText(cents)} is ${isOver ? 'more than' : 'within'} ${maxText} for an order`;
        add({ ...money(limit, isOver, 0, cents), message: text }, row);
      }
      return;
    case 'quantity_per_line':
      for (const { lines, row } of inScope) {
        const quantity = maxOfOneProduct(lines);
        const isOver = quantity > limit.max;
        const message = `${quantity} of one product is ${isOver ? 'more than' : 'within'} ${limit.max}`;
        add(
          {
            ...findingOf(limit, isOver ? 'refused' : 'allowed', message),
            applies_to: scopeText(limit.scope) ?? null,
          },
          row,
        );
      }
      return;
    case 'per_batch': {
      if (!upload) return;
      const sum = sumOf(upload.filter(isInScope));
      const isOver = sum > limit.max;
      const message = `${amountText(sum)} is ${isOver ? 'more than' : 'within'} ${maxText} for an upload`;
      add({ ...money(limit, isOver, 0, sum), message }, undefined);
      return;
    }
    default: {
      const period = limit.kind === 'per_day' ? periods.day : periods.month;
      const when = `${period.name}${policy.timeZone === 'UTC' ? '' : ` (${policy.timeZone})`}`;
      let used = usage.used(summedLimit(limit.scope, period, first.isRehearsal));
      for (const { cents, row } of inScope) {
        const isOver = cents > limit.max - used;
        const found = money(limit, isOver, used, cents);
        const message = isOver
          ? `it takes ${amountText(cents)}, and ${formatMoney(found.left_cents)} of ${maxText} is left for ${when}`
          : `${formatMoney(found.left_cents)} of ${maxText} left for ${when}`;
        const resets = { period: period.name, resets_at: new Date(period.end).toISOString() };
        add({ ...found, message, ...resets }, row);
        if (!isOver) used += cents;
      }
    }
  }
}

/**
 * Formats an amount. If errand could not parse a ceiling, the amount is above every limit, and is replaced by words.
 */
const amountText = (cents: number): string =>
  cents > Number.MAX_SAFE_INTEGER / 2 ? 'a price that cannot be read here' : formatMoney(cents);

/** @param used is the amount used so far. @param cents is the amount to be spent. */
const money = (limit: Limit, isOver: boolean, used: number, cents: number) => ({
  ...findingOf(limit, isOver ? 'refused' : 'allowed', ''),
  applies_to: scopeText(limit.scope) ?? null,
  limit_cents: limit.max,
  used_cents: used,
  left_cents: Math.max(0, limit.max - used - (isOver ? 0 : cents)),
});

/** The finding of a rule that has no amount. */
export function findingOf({ rule, line }: Rule, outcome: VerdictOutcome, message: string): FindingDraft {
  const none = { limit_cents: null, used_cents: null, left_cents: null, period: null, resets_at: null };
  return { rule, line, applies_to: null, outcome, message, ...none };
}

/** The largest quantity of a single product in an order, summed over all lines of that product. */
function maxOfOneProduct(lines: SpendingOrder['lines']): number {
  const counts = new Map<string, number>();
  for (const { url, quantity } of lines) {
    const page = canonicalPage(url);
    counts.set(page, (counts.get(page) ?? 0) + quantity);
  }
  return Math.max(...counts.values());
}

/** Evaluates the rules on destination, retailer and products. Also decides whether a person must approve the order. */
function judgeTerms(policy: Policy, order: SpendingOrder): FindingDraft[] {
  const { retailers, countries, urls, approveAbove } = policy;
  const found: FindingDraft[] = [];
  const add = (rule: Rule, problem: string | undefined): void => {
    found.push(findingOf(rule, problem === undefined ? 'allowed' : 'refused', problem ?? 'within the rule'));
  };
  const aboutHosts = retailers ?? urls ?? policy.limits.find(({ scope }) => scope?.retailer !== undefined);
  const odd = order.lines.find(({ url }) => !isPlainUrl(url));
  if (aboutHosts && odd) {
    add(aboutHosts, `${odd.url} can be read as more than one host; give a plain URL`);
    return found;
  }
  if (retailers) add(retailers, retailerProblem(retailers, order));
  if (countries)
    add(
      countries,
      countries.names.includes(order.country)
        ? undefined
        : `${order.country || 'an order without a country'} is not among ${countries.names.join(', ')}`,
    );
  if (urls) {
    const denied = order.lines.map(({ url }) => ({
      url,
      glob: urls.names.find((glob) => matchesUrl(glob, url)),
    }));
    const first = denied.find(({ glob }) => glob !== undefined);
    add(urls, first && `${first.url} matches ${first.glob}`);
  }
  if (approveAbove) found.push(aboveFinding(approveAbove, order.cents));
  return found;
}

/**
 * Checks whether a person must approve an amount.
 * @param of says what the amount is for.
 */
function aboveFinding(rule: NonNullable<Policy['approveAbove']>, cents: number, of = ''): FindingDraft {
  const isAbove = cents > rule.max;
  const text = `${amountText(cents)} is ${isAbove ? 'above' : 'not above'} ${formatMoney(rule.max)}${of}`;
  const left = { limit_cents: rule.max, used_cents: 0, left_cents: rule.max - cents };
  return { ...findingOf(rule, isAbove ? 'needs_approval' : 'allowed', text), ...left };
}

function retailerProblem({ kind, names }: NonNullable<Policy['retailers']>, { lines }: SpendingOrder) {
  const isNamed = (known: readonly string[]): boolean => names.some((name) => isRetailer(name, known));
  const wrong = lines.find(({ retailer }) => isNamed(retailer) !== (kind === 'allow'));
  if (!wrong) return undefined;
  const called = wrong.retailer.at(-1) ?? wrong.host;
  return kind === 'deny' ? `${called} is denied` : `${called} is not among ${names.join(', ')}`;
}

/**
 * Whether a pattern matches a whole URL. `*` matches any text. Escapes and case make no difference. The match is fast
 * for every pattern.
 */
export function matchesUrl(glob: string, url: string): boolean {
  const pattern = comparable(glob);
  return urlVariants(url).some((form) => matchesGlob(pattern, form));
}

function matchesGlob(glob: string, text: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return glob === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/**
 * Returns a function that looks for a likely duplicate of an order. It searches earlier orders, and earlier rows of the
 * same upload. Therefore it must be called for the rows in order.
 */
function duplicateFinder({
  policy: { duplicates },
  fresh,
  usage,
  now,
}: Judged): (order: SpendingOrder) => FindingDraft | undefined {
  if (!duplicates) return () => undefined;
  const { same, withinMs, action } = duplicates;
  const outcome = ({ warn: 'warned', approve: 'needs_approval', refuse: 'refused' } as const)[action];
  const what = same.map((one) => (one === 'product' ? 'the same product' : 'the same address')).join(' and ');
  const keysOf = ({ products, recipient, address }: DuplicateFacts): string[] => {
    const place = same.includes('address') ? (recipient ?? `${earlierForm}${address}`) : '';
    return same.includes('product') ? products.map((product) => `${product} ${place}`) : [place];
  };
  const places = new Map<string, string>();
  let altered: string | undefined;
  const [first] = fresh;
  const facts = fresh.flatMap((one) => [one.facts, ...(one.earlier ? [one.earlier] : [])]);
  for (const one of first ? usage.like(facts, now - withinMs, first.isRehearsal) : []) {
    if (hasBoughtNothing(one)) continue;
    const earlier = `${one.orderId ?? one.key} of ${new Date(one.at).toISOString().slice(0, 16)}Z`;
    // The reservation was changed, so it is no longer known what it was for.
    if (one.isAltered) altered = `${earlier}, whose reservation was changed`;
    for (const key of keysOf(one.facts)) places.set(key, earlier);
  }
  return ({ facts, earlier, row }) => {
    const keys = keysOf(facts);
    const found =
      [...keys, ...(earlier ? keysOf(earlier) : [])]
        .map((key) => places.get(key))
        .find((one) => one !== undefined) ?? altered;
    for (const key of keys) if (!places.has(key)) places.set(key, `row ${row}`);
    if (found === undefined) return undefined;
    return findingOf(duplicates, outcome, `${what} as ${found}, within ${durationText(withinMs)}`);
  };
}

type DuplicateFacts = Pick<SpendingOrder['facts'], 'products' | 'recipient' | 'address'>;

/** Prefix that marks the address of a reservation from the time before the canonical form. */
const earlierForm = 'earlier ';

/** Whether an order did not succeed. If the retailer cancelled the order, the service keeps the fee. */
const hasBoughtNothing = ({ state, counted, feeCents }: Reservation): boolean =>
  state === 'released' || (state === 'settled' && counted <= feeCents);
