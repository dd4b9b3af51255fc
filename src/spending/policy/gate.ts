import { own, textIn } from '../../api/json.ts';
import { embeddedUrl } from '../../config/stored.ts';
import { formatMoney } from '../../format/money.ts';
import { referenceKey } from '../../journal/attempts.ts';
import type { Intent, Signer } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { type LimitUsage, ListedUsage } from '../../journal/limit-usage.ts';
import type { Admission, OrderToReserve } from '../../journal/reservation-row.ts';
import type { Reserving } from '../../journal/reservations.ts';
import type { SummedLimit } from '../../journal/summed-limit.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { carriedApproval } from '../approval/carried.ts';
import { GateApprovals } from '../approval/gate-approvals.ts';
import { subjectOf } from '../approval/subject.ts';
import type { Consent } from '../options.ts';
import { isAmount } from '../options.ts';
import { verifiersOf } from '../verified-reservations.ts';
import { feeOf, ordersOf, type SpendingOrder, withRetailers } from './facts.ts';
import { checkUnchanged, policyHash } from './load.ts';
import type { Policy, Verdict } from './policy.ts';
import { duplicatesRule, periodsAt } from './policy.ts';
import { against, findingText, PolicyDenial } from './refusal.ts';
import { settleUnsettled } from './settle.ts';
import { findingOf, judge, summedLimits } from './verdict.ts';

/** An order or batch about to be sent. */
export interface ProposedOrder {
  readonly intent: Intent;
  /** Row numbers of a batch, as they are in a spreadsheet. */
  readonly numbers?: readonly number[] | undefined;
  /**
   * Whether the order was sent before. If so, it counts towards the total of its upload, but nothing is reserved for
   * it.
   */
  readonly isDone?: boolean;
}

const dayMs = 24 * 3600 * 1000;

/**
 * Applies a policy to orders that are about to be sent. The decision is made inside the journal transaction that also
 * makes the reservations. Therefore, concurrent processes cannot exceed a limit together.
 */
export class Gate {
  readonly reserving: Reserving;
  readonly #context: OrderContext;
  readonly #policy: Policy;
  readonly #orders: readonly SpendingOrder[];
  readonly #upload: readonly SpendingOrder[] | undefined;
  readonly #reason: string | undefined;
  readonly #approvals: GateApprovals;
  #overridden: Overridden | undefined;
  #isSettled = false;
  #verdict: Verdict | undefined;

  constructor(
    context: OrderContext,
    policy: Policy,
    {
      orders,
      upload,
      reason,
      approvals,
      signers,
    }: {
      readonly orders: readonly SpendingOrder[];
      readonly upload: readonly SpendingOrder[] | undefined;
      readonly reason: string | undefined;
      readonly approvals: GateApprovals;
      readonly signers: readonly Signer[];
    },
  ) {
    this.#context = context;
    this.#policy = policy;
    this.#orders = orders;
    this.#upload = upload;
    this.#reason = reason;
    this.#approvals = approvals;
    const since = (): number => this.#since();
    const limits = (): SummedLimit[] => this.#limits();
    this.reserving = {
      orders: orders.map(reserved),
      signers,
      policy: { hash: policyHash(context), profile: context.settings.profile.value },
      get since() {
        return since();
      },
      get limits() {
        return limits();
      },
      admit: (fresh, usage) => this.#admit(fresh, usage),
    };
  }

  /** Evaluates the policy without reserving anything. @throws StorageError if the journal cannot be read. */
  async preview(): Promise<Verdict> {
    const hasJournal = journalExists(this.#context.settings);
    const usage = hasJournal
      ? await (await this.#context.journal()).reservations.usageFor(this.reserving)
      : new ListedUsage([]);
    const verdict = this.#judge(this.#orders, usage);
    return verdict.outcome === 'needs_approval' && hasJournal
      ? this.#approvals.withApprovals(verdict, usage)
      : verdict;
  }

  /** Like `preview`. If the verdict depends on earlier orders, first reads how these have ended. */
  async settledPreview(): Promise<Verdict> {
    const verdict = await this.preview();
    if (!dependsOnEarlier(verdict) || !(await settleUnsettled(this.#context, this.#since()))) return verdict;
    return this.preview();
  }

  /**
   * Tries to resolve a refusal. If earlier orders are the reason, first reads how these have ended. If that does not
   * help, requests an approval, or an override at the terminal.
   * @returns whether to evaluate again.
   * @throws ErrandError.
   */
  async reconsider(failure: unknown): Promise<boolean> {
    if (!(failure instanceof PolicyDenial)) return false;
    if (!this.#isSettled && dependsOnEarlier(failure.verdict)) {
      this.#isSettled = true;
      if (await settleUnsettled(this.#context, this.#since())) return true;
    }
    if (this.#reason === undefined && failure.verdict.outcome === 'refused') return false;
    if (this.#reason !== undefined) checkOverride(this.#policy, failure);
    if (await this.#approvals.find(failure.verdict)) return true;
    if (this.#reason === undefined || this.#policy.approvers.length > 0) await this.#approvals.ask(failure);
    else this.#overridden = await confirmOverride(this.#context, failure, this.#reason);
    return true;
  }

  /** Records a final refusal in the audit chain. If recording fails, the order is refused all the same. */
  async recordDenial(failure: unknown): Promise<void> {
    if (!(failure instanceof PolicyDenial) || failure.verdict.outcome !== 'refused') return;
    const { orders, amount_cents: cents } = failure.verdict;
    const { profile, baseUrl } = this.#context.settings;
    const rules = [...new Set(against(failure.verdict).map(({ rule }) => rule))].join(', ');
    const detail = { policy: policyHash(this.#context), rules, orders };
    const subject = { profile: profile.value, service: baseUrl.value, cents };
    try {
      const { audit } = await this.#context.journal();
      await audit.refuse({ kind: 'policy_refused', ...subject, detail });
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      this.#context.note(`warning: not in the audit chain: ${error.message}`);
    }
  }

  /** Prints the policy's warnings to stderr, once. */
  warn(): void {
    for (const finding of this.#verdict?.rows ?? [])
      if (finding.outcome === 'warned') this.#context.note(`policy: ${findingText(finding)}`);
    this.#verdict = undefined;
  }

  #admit(fresh: readonly OrderToReserve[], usage: LimitUsage): Admission {
    const keys = new Set(fresh.map(({ key }) => key));
    const verdict = this.#judge(
      this.#orders.filter(({ key }) => keys.has(key)),
      usage,
    );
    this.#verdict = verdict;
    checkUnchanged(this.#context);
    if (verdict.outcome === 'allowed' || verdict.outcome === 'warned') return {};
    if (this.#overridden?.covers(verdict)) return { override: this.#overridden.reason };
    const isOpen = verdict.outcome === 'needs_approval' || this.#reason !== undefined;
    const approval = isOpen ? this.#approvals.covering(verdict, usage) : undefined;
    if (!approval) throw new PolicyDenial(this.#context, verdict);
    const { id, override } = approval.request;
    return { approval: id, override: override ?? undefined };
  }

  #limits(): SummedLimit[] {
    const [first] = this.#orders;
    if (!first) return [];
    const periods = periodsAt(this.#context.clock.now(), this.#policy.timeZone);
    return summedLimits(this.#policy, periods, first.isRehearsal);
  }

  #judge(fresh: readonly SpendingOrder[], usage: LimitUsage): Verdict {
    const now = this.#context.clock.now();
    return judge({
      policy: this.#policy,
      fresh,
      upload: this.#upload,
      usage,
      periods: periodsAt(now, this.#policy.timeZone),
      now,
    });
  }

  /**
   * Earliest time of a reservation that can matter to any rule. Includes one more day, because the month begins earlier
   * in time zones ahead of UTC.
   */
  #since(): number {
    const now = this.#context.clock.now();
    const { month, day } = periodsAt(now, this.#policy.timeZone);
    const within = this.#policy.duplicates?.withinMs ?? 0;
    return Math.min(month.begin, day.begin, now - within, this.#approvals.since) - dayMs;
  }
}

/** Whether a verdict depends on earlier orders. It does if a limit has a period, or if an order may be a duplicate. */
const dependsOnEarlier = ({ rows }: Verdict): boolean =>
  rows.some(({ period, rule }) => period !== null || rule === duplicatesRule);

const reserved = ({
  lines: _,
  country: _country,
  metadata: _metadata,
  row: _row,
  earlier: _earlier,
  ...order
}: SpendingOrder): OrderToReserve => order;

/**
 * Opens the gate for intents subject to a policy; undefined if the policy exempts them as rehearsals. @throws
 * ErrandError.
 */
export async function openGate(
  context: OrderContext,
  policy: Policy,
  proposed: readonly ProposedOrder[],
  consent: Consent,
): Promise<Gate | undefined> {
  const [first] = proposed;
  if (!first) return undefined;
  const { operation } = first.intent;
  const isRehearsal = isRehearsed(context, first.intent);
  if (isRehearsal && policy.rehearsals === 'exempt') return undefined;
  if (operation === 'legacy.retry') return checkRetry(context, policy);
  const feeCents = await feeOf(context, operation);
  const terms = { feeCents, isRehearsal, findsDuplicates: policy.duplicates !== undefined };
  const all = proposed.map((one) => ({
    ...one,
    orders: ordersOf(one.intent, { ...terms, numbers: one.numbers }),
  }));
  const ordered = all.filter(({ isDone }) => !isDone).flatMap(({ orders }) => orders);
  const orders = await withRetailers(context, policy, ordered);
  const done = all.filter(({ isDone }) => isDone).flatMap((one) => one.orders);
  const upload = operation === 'bulk.create' ? [...done, ...orders] : undefined;
  const { overridePolicy: reason, waitApproval: waitMs, approval: file, plan } = consent;
  const carried = await carriedApproval(context, policy, file);
  const approvals = new GateApprovals(context, policy, {
    subject: () =>
      subjectOf(
        proposed.map(({ intent }) => intent),
        { isRehearsal, plan },
      ),
    plan,
    keys: new Set((upload ?? orders).map(({ key }) => key)),
    carried,
    isReferenced: textIn(own(first.intent.body, 'metadata'), referenceKey) !== undefined,
    isKeyMade: first.intent.keyOrigin === 'made',
    reason,
    waitMs,
  });
  const signers = context.settings.database ? await verifiersOf(context) : [];
  return new Gate(context, policy, { orders, upload, reason, approvals, signers });
}

/**
 * Whether an order is a rehearsal. A test key does not make an order paid by challenge a rehearsal, because such an
 * order needs no key.
 */
export const isRehearsed = (
  context: OrderContext,
  { operation, baseUrl }: Pick<Intent, 'operation' | 'baseUrl'>,
): boolean =>
  operation === 'agent.order.create'
    ? baseUrl === embeddedUrl
    : context.isRehearsal(operation === 'legacy.retry' ? 'legacy' : 'current');

/**
 * Refuses a v1 retry if the policy has rules, because a retry contains no price, address or product that could be
 * checked.
 * @throws PolicyRefusal.
 */
function checkRetry(context: OrderContext, policy: Policy): undefined {
  const { file, limits, retailers, countries, urls, duplicates, approveAbove } = policy;
  const rule = [...limits, retailers, countries, urls, duplicates, approveAbove].find(
    (one) => one !== undefined,
  );
  if (!rule) return undefined;
  const message = 'a legacy retry does not say what it buys, so that no rule can be checked';
  const finding = { ...findingOf(rule, 'refused', message), row: null };
  const verdict = {
    outcome: 'refused',
    policy: file,
    orders: 1,
    amount_cents: 0,
    rules: [finding],
    rows: [finding],
  } as const;
  throw new PolicyDenial(context, verdict);
}

/** Maximum number of findings printed individually. */
const maxReported = 10;

/** A policy override confirmed at the terminal. */
interface Overridden {
  readonly reason: string;
  /** Whether the user's confirmation covers a verdict. */
  covers(verdict: Verdict): boolean;
}

/** @throws ErrandError policy if the policy forbids overrides. */
function checkOverride({ overrides, file }: Policy, denial: PolicyDenial): void {
  if (overrides === 'never') throw not(denial, `${file} says overrides: never`);
}

/**
 * Asks the user to type the amount that the policy blocks.
 * @throws ErrandError policy if there is no TTY, or if the user typed something else.
 */
async function confirmOverride(
  context: OrderContext,
  denial: PolicyDenial,
  reason: string,
): Promise<Overridden> {
  const { verdict } = denial;
  if (!context.interactive.yes)
    throw not(denial, `--override-policy works on a terminal only, and ${context.interactive.why}`);
  const refused = verdict.rows.filter(({ outcome }) => outcome === verdict.outcome);
  const reported = refused.length > 0 ? refused : against(verdict);
  for (const finding of reported.slice(0, maxReported)) context.note(`policy: ${findingText(finding)}`);
  if (reported.length > maxReported) context.note(`policy: … and ${reported.length - maxReported} more`);
  context.note('policy: the audit log keeps the reason');
  const amount = formatMoney(verdict.amount_cents);
  const orders = verdict.orders === 1 ? '' : ` on ${verdict.orders} orders`;
  const typed = await context.askText(`Type ${amount} to spend it${orders} against the policy`);
  if (!isAmount(typed, verdict.amount_cents)) throw not(denial, `not overruled: ${amount} was not typed`);
  const rules = new Set(verdict.rules.filter(({ outcome }) => outcome !== 'allowed').map(({ rule }) => rule));
  return {
    reason,
    covers: (other) =>
      other.amount_cents <= verdict.amount_cents &&
      other.rules.every(
        ({ rule, outcome }) => outcome === 'allowed' || outcome === 'warned' || rules.has(rule),
      ),
  };
}

const not = (denial: PolicyDenial, why: string): ErrandError =>
  new ErrandError('policy', `${denial.message} (${why})`, denial.facts);
