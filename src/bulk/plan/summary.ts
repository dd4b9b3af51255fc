import type { Plan, PlanCounts, PlanTotal } from '../../api/schemas/plan-file.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { referenceKey } from '../../orders/needs/reference.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { ApprovablePlan } from '../../spending/approval/subject.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import { verdictLines } from '../../spending/policy/refusal.ts';
import { gateFor } from '../../spending/policy-gate.ts';
import { rowsText } from '../check/row-sample.ts';
import { fundingSteps } from '../check/spend.ts';
import { rangesText } from './file.ts';
import { type ReviewKind, reviewKinds, type ShownRow } from './shown-rows.ts';
import { maxReported, totalsText } from './totals.ts';

/** Maximum length of the row ranges in a line, in characters. */
const maxLength = 60;

/**
 * Summarizes a plan in lines for display. Pure. @param rows come from `shownRows`. @param approve is the command that
 * approves the plan, if an approval was requested.
 */
export function summaryLines(
  path: string,
  plan: Plan,
  rows: readonly ShownRow[],
  approve?: string,
): string[] {
  const { file, orders, created_at: made, expires_at: until } = plan;
  const leftOut =
    file.left_out === 0
      ? ''
      : `, ${countText(file.left_out)} of ${countText(file.rows)} rows left out as invalid`;
  return [
    `${path}: ${ordersText(orders)} of ${file.name}${leftOut}; planned ${minute(made)}, holds until ${minute(until)}`,
    ...moneyLines(plan),
    ...(plan.priced_at === null ? [] : [priceLine(rows.filter(isShownNew))]),
    ...totalLines(plan.totals),
    ...placedLine(rows),
    ...(plan.policy ? verdictLines(plan.policy, approve !== undefined) : []),
    ...(approve === undefined ? [] : [`approve: ${approve}`]),
    ...reviewLines(rows),
  ];
}

const ordersText = (count: number): string => (count === 1 ? '1 order' : `${countText(count)} orders`);
const minute = (time: string): string => `${time.slice(0, 16).replace('T', ' ')}Z`;

function moneyLines(plan: Plan): string[] {
  const { most_cents: maxCents, fee_cents: fee, wallet } = plan;
  const counted = countsLine(plan);
  const fees = fee === 0 || plan.orders === 0 ? [] : [`with a fee of ${formatMoney(fee)} each`];
  const spent = [...(counted === undefined ? [`at most ${formatMoney(maxCents)}`] : []), ...fees].join(', ');
  const paid = [...(spent === '' ? [] : [spent]), ...walletText(wallet)].join('; ');
  return [...(counted === undefined ? [] : [counted]), ...(paid === '' ? [] : [paid])];
}

function walletText({
  before_cents: before,
  after_cents: after,
  by_invoice: isBilled,
}: Plan['wallet']): string[] {
  if (isBilled) return ['billed by invoice'];
  if (before === null || after === null) return [];
  return after < 0
    ? [`the wallet has ${formatMoney(before)}: ${formatMoney(-after)} short`]
    : [`the wallet has ${formatMoney(before)}, and at least ${formatMoney(after)} after`];
}

/**
 * Formats `4 new, at most $105.20; 1,970 placed already; 26 failed and not in this file`; undefined if every row is new
 * and no row was tried before.
 */
function countsLine({ counts, most_cents: maxCents }: Plan): string | undefined {
  if (!counts) return undefined;
  const { new: fresh, failed_before: failed, taken_back_before: takenBack, ...others } = counts;
  const before = [
    ...(failed > 0 ? [`${countText(failed)} failed before`] : []),
    ...(takenBack > 0 ? [`${countText(takenBack)} cancelled or returned before`] : []),
  ];
  const rest = [
    [others.placed, 'placed already'],
    [others.in_doubt, 'in doubt, sent again unchanged'],
    [others.left_out, 'left out'],
    [others.failed_elsewhere, 'failed and not in this file'],
  ] as const;
  const named = rest.flatMap(([count, what]) => (count > 0 ? [`${countText(count)} ${what}`] : []));
  if (before.length + named.length === 0) return undefined;
  const amount = fresh > 0 ? `, at most ${formatMoney(maxCents)}` : '';
  const of = before.length > 0 ? `, of them ${before.join(', ')}` : '';
  return [`${countText(fresh)} new${of}${amount}`, ...named].join('; ');
}

const isShownNew = ({ placed, left_out: left }: ShownRow): boolean => placed === null && left === null;

function priceLine(rows: readonly ShownRow[]): string {
  const priced = rows.filter(({ price_cents: price }) => price !== null);
  const sum = priced.reduce((total, { price_cents: price }) => total + (price ?? 0), 0);
  const unknown = rows.length - priced.length;
  if (priced.length === 0) return `prices today: none known; the ceilings still apply`;
  const rest = unknown === 0 ? '' : `; ${countText(unknown)} without a known price`;
  return `prices today: ${formatMoney(sum)} for ${ordersText(priced.length)}${rest}`;
}

/**
 * Lines with totals. Always includes the totals by retailer. Leaves out totals by day, totals with a single group,
 * which only repeat the sum, and totals whose groups are single orders.
 */
function totalLines(totals: readonly PlanTotal[]): string[] {
  return [...new Set(totals.map(({ by }) => by))].flatMap((by) => {
    const group = totals.filter((total) => total.by === by);
    const namesEach =
      by === `metadata.${referenceKey}` ||
      (by !== 'retailer' && group.length > maxReported && group.every(({ orders }) => orders === 1));
    if (by === 'day' || namesEach || (group.length === 1 && by !== 'retailer')) return [];
    return [totalsText(by, group)];
  });
}

function placedLine(rows: readonly ShownRow[]): string[] {
  const placed = rows.filter((row) => row.placed !== null);
  if (placed.length === 0) return [];
  return [`${rowsText(placed.length)} sent before, and not again: ${shortened(placed)}`];
}

function reviewLines(rows: readonly ShownRow[]): string[] {
  const kinds = Object.keys(reviewKinds) as ReviewKind[];
  return kinds.flatMap((kind) => {
    const found = rows.filter(({ kinds: ofRow }) => ofRow.includes(kind));
    return found.length === 0
      ? []
      : [`look: ${rowsText(found.length)} ${reviewKinds[kind]}: ${shortened(found)}`];
  });
}

function shortened(rows: readonly ShownRow[]): string {
  const text = rangesText(rows.map(({ row }) => row));
  return text.length > maxLength ? `${text.slice(0, text.lastIndexOf(',', maxLength))}, …` : text;
}

/**
 * The command that applies the plan, or what still prevents applying it: the policy, the wallet or a missing approval.
 */
export function applyLines(context: Context, path: string, { orders, policy, wallet }: Plan): string[] {
  if (orders === 0) return ['there is nothing new to order'];
  const command = `errand bulk apply ${shellWord(path)}${whereFlags(context)}`;
  if (policy?.outcome === 'refused') return ['it cannot be applied as it is: the policy refuses rows of it'];
  const { after_cents: after } = wallet;
  if (after !== null && after < 0)
    return [
      ...fundingSteps(context, -after).map(({ command: fund, when }) => `${when}: ${fund}`),
      `once the wallet is filled: ${command}`,
    ];
  if (policy?.outcome === 'needs_approval') return [`once it is approved: ${command}`];
  return [`apply: ${command}`];
}

type Approved = Pick<
  Plan,
  'sha256' | 'file' | 'orders' | 'counts' | 'ceilings_cents' | 'fee_cents' | 'totals' | 'created_at' | 'rows'
>;

/** Maximum number of groups that an approver sees. */
const maxGroups = 20;

/**
 * A plan as an approver sees it: the new rows, as pairs of need and attempt, and the maximum that the plan may spend.
 * The hash of the plan's exact bytes covers all of this. Pure.
 */
export function approvable(plan: Approved): ApprovablePlan {
  const { sha256, file, orders, counts, created_at, totals, rows } = plan;
  const of = (by: string): Record<string, number> =>
    Object.fromEntries(
      totals
        .filter((total) => total.by === by)
        .slice(0, maxGroups)
        .map(({ value, orders: count }) => [value, count]),
    );
  const pairs = rows.flatMap(({ attempt }) => (attempt ? [[attempt.need, attempt.number] as const] : []));
  return {
    hash: sha256,
    // A plan of version 1 is approved in the form in which it was signed.
    ...(counts && { attempts: pairs }),
    cents: plan.ceilings_cents + plan.fee_cents * orders,
    summary: {
      ...{ file: file.name, planned_at: created_at, orders },
      ...(counts && shownCounts(counts)),
      ...{ retailers: of('retailer'), countries: of('country') },
    },
  };
}

/** Further counts that an approver sees. Leaves out the number of new rows, because it equals the number of orders. */
const shownCounts = ({ new: _, ...counts }: PlanCounts): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

/**
 * Requests approval of a plan, once for all of its parts. @returns the command that approves the plan; undefined if no
 * approval is needed or the decision has already been made. @throws ErrandError.
 */
export async function askApproval(
  context: Context,
  proposed: readonly ProposedOrder[],
  plan: Approved,
): Promise<string | undefined> {
  const gate = await gateFor(context, proposed, { plan: approvable(plan) });
  const verdict = await gate?.preview();
  if (!gate || verdict?.outcome !== 'needs_approval') return undefined;
  const { PolicyDenial } = await import('../../spending/policy/refusal.ts');
  try {
    await gate.reconsider(new PolicyDenial(context, verdict));
    return undefined;
  } catch (error) {
    if (!(error instanceof PolicyDenial)) throw error;
    return error.facts.next?.[0]?.command;
  }
}

/**
 * Withdraws the open request for a plan that another plan has replaced, so that nobody approves what is gone. An approval
 * that was given stays. @returns a line for each request.
 */
export async function withdrawRequests(context: Context, replaced: string | undefined): Promise<string[]> {
  if (replaced === undefined) return [];
  const approvals = await (await context.journal()).reservations.approvals();
  const open = approvals
    .list()
    .filter(({ state, request }) => state === 'open' && request.parts.plan === replaced);
  const { actor } = (await context.origin())();
  for (const { request } of open) await approvals.deny(request, actor);
  return open.map(({ request }) => `approval ${request.id}, of the plan that was replaced, is withdrawn`);
}
