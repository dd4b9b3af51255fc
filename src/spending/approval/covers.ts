import { canonicalJson } from '../../format/canonical.ts';
import { formatMoney } from '../../format/money.ts';
import type { Approval, ApprovalRequest } from '../../journal/approval-row.ts';
import type { ApprovalUse } from '../../journal/approvals.ts';
import { keyLifetimeMs } from '../../journal/journal-record.ts';
import type { Verdict } from '../policy/policy.ts';
import { approvedAttemptKey } from './further-attempts.ts';
import type { Subject } from './subject.ts';

/** Placeholder for the key of an order that does not have an idempotency key yet. */
export const openKey = '';

/** The proposed orders that an approval has to cover. There may be only one. */
export interface RequiredCoverage {
  readonly subject: Subject;
  readonly verdict: Verdict;
  /**
   * Idempotency keys of all proposed orders. `openKey` stands for an order that gets the approval's key when the order
   * is sent.
   */
  readonly keys: ReadonlySet<string>;
  /** Keys of earlier attempts at the same need whose orders have failed. These attempts do not use up the approval. */
  readonly failed?: ReadonlySet<string> | undefined;
  /**
   * Whether the order has a reference. If it has one, errand searches the service for earlier orders before each
   * attempt.
   */
  readonly isReferenced?: boolean | undefined;
  /** Ms since the epoch. */
  readonly now: number;
  /** How long, in ms, the policy allows an approval to be valid. */
  readonly lifetimeMs: number;
}

/** Allowed clock skew between machines, in ms. */
const leewayMs = 5 * 60_000;

type Timed = Pick<ApprovalRequest, 'subject' | 'operation' | 'asked_at' | 'expires_at'>;

/**
 * Lifetime of an approval in ms, if the policy allows `lifetimeMs`. Another machine may already have used the approval.
 * Only for a single order placed with an account can the service say whether this is so. Therefore all other approvals
 * expire with their idempotency keys. Pure.
 */
export const lifetimeOf = (
  { subject, operation }: Pick<Timed, 'subject' | 'operation'>,
  lifetimeMs: number,
): number =>
  subject === 'order' && operation === 'order.create' ? lifetimeMs : Math.min(lifetimeMs, keyLifetimeMs);

/**
 * When an approval expires, in ms since the epoch. This is the expiry in the request, or an earlier time if the local
 * policy allows only a shorter lifetime. Pure.
 */
export const usableUntil = (request: Timed, lifetimeMs: number): number =>
  Math.min(Date.parse(request.expires_at), Date.parse(request.asked_at) + lifetimeOf(request, lifetimeMs));

/** Why an approval has expired or is not valid yet. The text is phrased to follow the approval's id. Pure. */
export function untimely(
  request: ApprovalRequest,
  { now, lifetimeMs }: Pick<RequiredCoverage, 'now' | 'lifetimeMs'>,
): string | undefined {
  const until = usableUntil(request, lifetimeMs);
  if (until <= now) return `expired at ${new Date(until).toISOString()}`;
  return Date.parse(request.asked_at) > now + leewayMs
    ? `was asked for at ${request.asked_at}, which is still to come by the clock of this machine`
    : undefined;
}

/**
 * Why an approval does not cover the proposed order. The text is phrased to follow the approval's id. Undefined if the
 * approval covers the order. Pure.
 */
export function shortfall(
  approval: Approval,
  uses: readonly ApprovalUse[],
  required: RequiredCoverage,
): string | undefined {
  const { request, state, decidedBy, decidedAt } = approval;
  const different = differences(request, required.subject);
  if (different.length > 0) return `is for ${different.join(' and ')}`;
  if (state === 'denied') return `was denied by ${decidedBy} at ${decidedAt}`;
  if (state === 'open') return 'is not approved yet';
  return (
    untimely(request, required) ??
    usedUp(request, uses, required) ??
    beyond(request, required.verdict) ??
    keyed(request, uses, required)
  );
}

/**
 * Why an approval does not fit the idempotency keys. The keys must match: if an order were sent with another key, the
 * service would create a second order. The machine that sends it may not know the first one.
 */
function keyed(
  { subject, key }: ApprovalRequest,
  uses: readonly ApprovalUse[],
  { keys, failed, isReferenced }: RequiredCoverage,
): string | undefined {
  if (subject !== 'order' || keys.has(openKey) || key === null) return undefined;
  // An order with a reference needs no check. The service is searched before each attempt at the reference, and the key
  // says which attempt it is.
  if (isReferenced) return undefined;
  const before = uses.filter((use) => failed?.has(use.key) && !keys.has(use.key)).length;
  if (keys.has(approvedAttemptKey(key, 1 + before))) return undefined;
  return `is for the idempotency key ${key}: give that one, or none`;
}

function usedUp(
  { subject, total_cents: total }: ApprovalRequest,
  uses: readonly ApprovalUse[],
  { keys, failed, verdict }: RequiredCoverage,
): string | undefined {
  const others = uses.filter(({ key }) => !keys.has(key) && !failed?.has(key));
  const [first] = others;
  if (!first) return undefined;
  if (subject !== 'plan') return `was already used for ${first.orderId ?? first.key}, and works only once`;
  // A plan is placed in parts. Therefore, the parts placed earlier count towards the total.
  const left = total - others.reduce((sum, { cents }) => sum + cents, 0);
  return verdict.amount_cents > left
    ? `has ${formatMoney(Math.max(0, left))} left, and this takes ${formatMoney(verdict.amount_cents)}`
    : undefined;
}

function beyond(
  { total_cents: total, override, rules }: ApprovalRequest,
  verdict: Verdict,
): string | undefined {
  if (verdict.amount_cents > total)
    return `covers ${formatMoney(total)}, and this takes ${formatMoney(verdict.amount_cents)}`;
  const refused = verdict.rules.filter(({ outcome }) => outcome === 'refused').map(({ rule }) => rule);
  if (refused.length === 0) return undefined;
  if (override === null) return `does not overrule ${refused.join(', ')}`;
  const more = refused.filter((rule) => !rules.includes(rule));
  return more.length === 0 ? undefined : `overrules ${rules.join(', ')}, and not ${more.join(', ')}`;
}

/** For each part that may differ, the words that describe it in messages. */
const partNames: Readonly<Record<string, string>> = {
  products: 'other products or another quantity',
  address: 'another address',
  other: 'an order with other fields',
  rows: 'other rows',
  ceilings: 'other ceilings',
  keys: 'other idempotency keys (another --run?)',
  plan: 'another plan',
  attempts: 'other needs, or other attempts at them',
};

/** Differences between a request and a given subject. Pure. */
export function differences(request: ApprovalRequest, subject: Subject): string[] {
  const { parts } = request;
  if (request.operation !== subject.operation || request.subject !== subject.subject)
    return [`${request.subject === 'order' ? 'an' : 'a whole'} ${request.subject} by ${request.operation}`];
  const found = [
    ...(request.service === subject.service ? [] : [`another service (${request.service})`]),
    ...(request.account === subject.account ? [] : ['another account']),
    ...(request.profile === subject.profile ? [] : [`another profile (${request.profile})`]),
    ...Object.entries(subject.parts).flatMap(([name, part]) =>
      parts[name] === part ? [] : [partNames[name] ?? 'something else'],
    ),
  ];
  // For an upload, it is enough to report the first difference, because row keys usually derive from the contents of
  // the rows.
  if (found.length > 0) return subject.subject === 'upload' ? found.slice(0, 1) : found;
  const isSame = request.terms === subject.terms && shownOf(request) === shownOf(subject);
  return isSame ? [] : ['something else than it shows'];
}

/**
 * Whether a request may have been made for this subject. This is so for an order that differs in at most one respect,
 * for an upload of the same rows, and for a plan of the same file. Pure.
 */
export function isRelated(
  request: ApprovalRequest,
  { subject, parts, summary, ...required }: Subject,
): boolean {
  if (request.subject !== subject || request.operation !== required.operation) return false;
  if (subject === 'order') return differences(request, { subject, parts, summary, ...required }).length <= 1;
  return subject === 'upload' ? request.parts.rows === parts.rows : request.summary.file === summary.file;
}

/**
 * The summary used for comparison. It omits the file name of an upload, because an upload is identified by its rows.
 */
function shownOf({ subject, summary }: Pick<ApprovalRequest, 'subject' | 'summary'>): string {
  const { file: _, ...rest } = summary;
  return canonicalJson(subject === 'upload' ? rest : summary);
}
