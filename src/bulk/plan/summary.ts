import type { Plan, PlanTotal } from '../../api/schemas/plan-file.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { ApprovablePlan } from '../../spending/approval/subject.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import { verdictLines } from '../../spending/policy/refusal.ts';
import { gateFor } from '../../spending/policy-gate.ts';
import { rowsText } from '../check/row-sample.ts';
import { rangesText } from './file.ts';
import { type ReviewKind, reviewKinds, type ShownRow } from './make.ts';
import { totalsText } from './totals.ts';

/** Maximum length of the row ranges in a line, characters. */
const maxLength = 60;

/** Summarizes a plan in lines for display. @param rows from `shownRows`. Pure. */
export function summaryLines(path: string, plan: Plan, rows: readonly ShownRow[]): string[] {
  const { file, orders, created_at: made, expires_at: until } = plan;
  const leftOut =
    file.left_out === 0
      ? ''
      : `, ${countText(file.left_out)} of ${countText(file.rows)} rows left out as invalid`;
  return [
    `${path}: ${ordersText(orders)} of ${file.name}${leftOut}; planned ${minute(made)}, holds until ${minute(until)}`,
    moneyLine(plan),
    ...(plan.priced_at === null ? [] : [priceLine(rows)]),
    ...totalLines(plan.totals),
    ...placedLine(rows),
    ...(plan.policy ? verdictLines(plan.policy) : []),
    ...reviewLines(rows),
  ];
}

const ordersText = (count: number): string => (count === 1 ? '1 order' : `${countText(count)} orders`);
const minute = (time: string): string => `${time.slice(0, 16).replace('T', ' ')}Z`;

function moneyLine({ most_cents: maxCents, fee_cents: fee, wallet }: Plan): string {
  const fees = fee === 0 ? '' : `, with a fee of ${formatMoney(fee)} each`;
  const spent = `at most ${formatMoney(maxCents)}${fees}`;
  const { before_cents: before, after_cents: after } = wallet;
  if (wallet.by_invoice) return `${spent}, billed by invoice`;
  if (before === null || after === null) return spent;
  return after < 0
    ? `${spent}; the wallet has ${formatMoney(before)}: ${formatMoney(-after)} short`
    : `${spent}; the wallet has ${formatMoney(before)}, and at least ${formatMoney(after)} after`;
}

function priceLine(rows: readonly ShownRow[]): string {
  const priced = rows.filter(({ price_cents: price }) => price !== null);
  const sum = priced.reduce((total, { price_cents: price }) => total + (price ?? 0), 0);
  const unknown = rows.length - priced.length;
  if (priced.length === 0) return `prices today: none known; the ceilings still apply`;
  const rest = unknown === 0 ? '' : `; ${countText(unknown)} without a known price`;
  return `prices today: ${formatMoney(sum)} for ${ordersText(priced.length)}${rest}`;
}

/** Skips totals that have a single group, because they only repeat the sum. The totals by retailer are always shown. */
function totalLines(totals: readonly PlanTotal[]): string[] {
  return [...new Set(totals.map(({ by }) => by))].flatMap((by) => {
    const group = totals.filter((total) => total.by === by);
    if (by === 'day' || (group.length === 1 && by !== 'retailer')) return [];
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

/** The command that applies the plan, or what currently prevents it: policy, wallet or a missing approval. */
export function applyLines(context: Context, path: string, { policy, wallet }: Plan): string[] {
  const command = `errand bulk apply ${shellWord(path)}${whereFlags(context)}`;
  if (policy?.outcome === 'refused') return ['it cannot be applied as it is: the policy refuses rows of it'];
  if ((wallet.after_cents ?? 0) < 0) return [`once the wallet is filled: ${command}`];
  if (policy?.outcome === 'needs_approval') return [`once it is approved: ${command}`];
  return [`apply: ${command}`];
}

type Approved = Pick<
  Plan,
  'sha256' | 'file' | 'orders' | 'ceilings_cents' | 'fee_cents' | 'totals' | 'created_at'
>;

/** Maximum groups shown to an approver. */
const maxGroups = 20;

/**
 * A plan as presented for approval. Contains the hash of the plan's exact bytes and the maximum that the plan may
 * spend. Pure.
 */
export function approvable({ sha256, file, orders, created_at, totals, ...plan }: Approved): ApprovablePlan {
  const of = (by: string): Record<string, number> =>
    Object.fromEntries(
      totals
        .filter((total) => total.by === by)
        .slice(0, maxGroups)
        .map(({ value, orders: count }) => [value, count]),
    );
  return {
    hash: sha256,
    cents: plan.ceilings_cents + plan.fee_cents * orders,
    summary: {
      file: file.name,
      planned_at: created_at,
      orders,
      retailers: of('retailer'),
      countries: of('country'),
    },
  };
}

/**
 * Requests approval of a plan, once for all of its parts. @returns the command that approves it; undefined if no
 * approval is needed any more, or a decision has been made. @throws ErrandError.
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
