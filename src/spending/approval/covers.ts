import { canonicalJson } from '../../format/canonical.ts';
import { formatMoney } from '../../format/money.ts';
import type { Approval, ApprovalRequest } from '../../journal/approval-row.ts';
import type { ApprovalUse } from '../../journal/approvals.ts';
import { keyLifeMs } from '../../journal/journal-record.ts';
import type { Verdict } from '../policy/policy.ts';
import type { Subject } from './subject.ts';

/** Stands for the idempotency key of an order that has none yet. */
export const openKey = '';

/** What is about to be ordered, as an approval must cover it. */
export interface Wanted {
  readonly subject: Subject;
  readonly verdict: Verdict;
  /** Idempotency keys of all that is ordered; `openKey` of an order that gets the key of its approval when it is sent. */
  readonly keys: ReadonlySet<string>;
  /** Ms since the epoch. */
  readonly now: number;
  /** How long the policy lets an approval live, ms. */
  readonly lifeMs: number;
}

/** By how much the clocks of two machines may differ, ms. */
const leewayMs = 5 * 60_000;

type Timed = Pick<ApprovalRequest, 'subject' | 'operation' | 'asked_at' | 'expires_at'>;

/**
 * How long an approval lives, ms, where the policy lets it live for `lifeMs`. Another machine may have used it: what its
 * orders led to there can be looked up only of a single order of an account, so others live no longer than their keys. Pure.
 */
export const lifeOf = (
  { subject, operation }: Pick<Timed, 'subject' | 'operation'>,
  lifeMs: number,
): number => (subject === 'order' && operation === 'order.create' ? lifeMs : Math.min(lifeMs, keyLifeMs));

/** Until when an approval can be used, ms since the epoch: as it says, and no longer than the policy of this machine has it. Pure. */
export const usableUntil = (request: Timed, lifeMs: number): number =>
  Math.min(Date.parse(request.expires_at), Date.parse(request.asked_at) + lifeOf(request, lifeMs));

/** Why it is not the time for an approval, in words that follow its id. Pure. */
export function untimely(
  request: ApprovalRequest,
  { now, lifeMs }: Pick<Wanted, 'now' | 'lifeMs'>,
): string | undefined {
  const until = usableUntil(request, lifeMs);
  if (until <= now) return `expired at ${new Date(until).toISOString()}`;
  return Date.parse(request.asked_at) > now + leewayMs
    ? `was asked for at ${request.asked_at}, which is still to come by the clock of this machine`
    : undefined;
}

/** Why an approval does not cover what is about to be ordered, in words that follow its id; undefined where it does. Pure. */
export function shortfall(
  approval: Approval,
  uses: readonly ApprovalUse[],
  wanted: Wanted,
): string | undefined {
  const { request, state, decidedBy, decidedAt } = approval;
  const different = differences(request, wanted.subject);
  if (different.length > 0) return `is for ${different.join(' and ')}`;
  if (state === 'denied') return `was denied by ${decidedBy} at ${decidedAt}`;
  if (state === 'open') return 'is not approved yet';
  return (
    untimely(request, wanted) ??
    usedUp(request, uses, wanted) ??
    beyond(request, wanted.verdict) ??
    keyed(request, wanted.keys)
  );
}

/** Another key would be another order, on this machine or on one that knows nothing of the first. */
function keyed({ subject, key }: ApprovalRequest, keys: ReadonlySet<string>): string | undefined {
  if (subject !== 'order' || keys.has(openKey) || (key !== null && keys.has(key))) return undefined;
  return `is for the idempotency key ${key}: give that one, or none`;
}

function usedUp(
  { subject, total_cents: total }: ApprovalRequest,
  uses: readonly ApprovalUse[],
  { keys, verdict }: Wanted,
): string | undefined {
  const others = uses.filter(({ key }) => !keys.has(key));
  const [first] = others;
  if (!first) return undefined;
  if (subject !== 'plan') return `was already used for ${first.orderId ?? first.key}, and works only once`;
  // The parts of a plan are placed one after another.
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

/** What each part is called where it differs. */
const partNames: Readonly<Record<string, string>> = {
  products: 'other products or another quantity',
  address: 'another address',
  other: 'an order with other fields',
  rows: 'other rows',
  ceilings: 'other ceilings',
  keys: 'other idempotency keys (another --run?)',
  plan: 'another plan',
};

/** What a request asks for other than this. Pure. */
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
  // The keys of rows mostly follow from what the rows ask for: the first difference says it all.
  if (found.length > 0) return subject.subject === 'upload' ? found.slice(0, 1) : found;
  const isSame = request.terms === subject.terms && shownOf(request) === shownOf(subject);
  return isSame ? [] : ['something else than it shows'];
}

/**
 * Whether somebody may have meant a request for this: it is about the same but for one thing, the same rows or the same file.
 * Pure.
 */
export function isRelated(
  request: ApprovalRequest,
  { subject, parts, summary, ...wanted }: Subject,
): boolean {
  if (request.subject !== subject || request.operation !== wanted.operation) return false;
  if (subject === 'order') return differences(request, { subject, parts, summary, ...wanted }).length <= 1;
  return subject === 'upload' ? request.parts.rows === parts.rows : request.summary.file === summary.file;
}

/** The same rows are the same upload, whatever their file is called elsewhere. */
function shownOf({ subject, summary }: Pick<ApprovalRequest, 'subject' | 'summary'>): string {
  const { file: _, ...rest } = summary;
  return canonicalJson(subject === 'upload' ? rest : summary);
}
