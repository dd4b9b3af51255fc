import { randomBytes } from 'node:crypto';
import type { Approval, ApprovalRequest } from '../../journal/approval-row.ts';
import type { Approvals, ApprovalUse } from '../../journal/approvals.ts';
import type { LimitUsage } from '../../journal/limit-usage.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import { poll } from '../../platform/poll.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Policy, Verdict } from '../policy/policy.ts';
import { PolicyDenial } from '../policy/refusal.ts';
import { openApprovals } from './carried.ts';
import { isRelated, lifetimeOf, openKey, type RequiredCoverage, shortfall, usableUntil } from './covers.ts';
import { failedKeys } from './further-attempts.ts';
import { distrust } from './ssh.ts';
import type { ApprovablePlan, Subject } from './subject.ts';

/** Poll interval while waiting for a decision, in ms. */
const pollIntervalMs = 300;
/** Maximum number of approvals for which the differences to the order are reported. */
const maxNamed = 3;
/** Maximum lifetime of an approval, in ms. */
const maxLifetimeMs = 31 * 24 * 3600 * 1000;

interface Asking {
  /**
   * Returns the subject of the approval. It is computed on first use, because computing it is slow for a long table.
   */
  readonly subject: () => Subject;
  readonly plan: ApprovablePlan | undefined;
  /** Idempotency keys of all proposed orders. */
  readonly keys: ReadonlySet<string>;
  /** Id of the approval that the user gave. */
  readonly carried: string | undefined;
  /** Whether the order has a reference. */
  readonly isReferenced: boolean;
  /** Whether errand generated the key. If not, the user chose it. */
  readonly isKeyMade: boolean;
  /** Why the user wants to override the policy. */
  readonly reason: string | undefined;
  /** How long to wait for a decision, in ms. */
  readonly waitMs: number | undefined;
}

/** The approvals available to one command: existing approvals, and the one that the command itself requests. */
export class GateApprovals {
  readonly #context: OrderContext;
  readonly #policy: Policy;
  readonly #asking: Asking;
  /** Approvals whose signatures this run has verified. */
  readonly #trusted: Approval[] = [];
  /** Keys whose orders have failed. They were found among the uses of the approvals that have been read so far. */
  readonly #failed = new Set<string>();
  #subjectMade: Subject | undefined;
  #approvals: Approvals | undefined;

  constructor(context: OrderContext, policy: Policy, asking: Asking) {
    this.#context = context;
    this.#policy = policy;
    this.#asking = asking;
  }

  /**
   * When the oldest trusted approval was requested, in ms since the epoch. Only uses of approvals after that time
   * matter.
   */
  get since(): number {
    return Math.min(...this.#trusted.map(({ request }) => Date.parse(request.asked_at)));
  }

  /**
   * Finds an approval that covers the proposed order.
   * @param usage has the reservations made for other keys.
   */
  covering(verdict: Verdict, usage: LimitUsage): Approval | undefined {
    return this.#trusted.find((approval) => {
      // Read the approval again, because it may have been denied in the meantime.
      const now = this.#approvals?.get(approval.request.id);
      if (now?.state !== 'approved' || now.signature !== approval.signature) return false;
      return shortfall(approval, usage.using(approval.request.id), this.#required(verdict)) === undefined;
    });
  }

  /** Looks for approvals that cover the order. @returns whether it found any new approvals. @throws ErrandError. */
  async find(verdict: Verdict): Promise<boolean> {
    const approvals = await openApprovals(this.#context, this.#subject().terms);
    const journal = await this.#context.journal();
    this.#approvals = approvals;
    const required = this.#required(verdict);
    const found: Approval[] = [];
    for (const approval of approvals.withTerms(this.#subject().terms)) {
      const uses = approvals.usesOf(approval.request.id);
      for (const key of await failedKeys(journal, approval.request, uses)) this.#failed.add(key);
      if (this.#trusted.some(({ request }) => request.id === approval.request.id)) continue;
      if (shortfall(approval, uses, required) !== undefined) continue;
      if ((await distrust(this.#context, this.#policy, approval)) === undefined) found.push(approval);
    }
    this.#trusted.push(...found);
    return found.length > 0;
  }

  /**
   * The verdict with existing approvals taken into account. A finding becomes allowed if an approval covers it.
   * @throws ErrandError.
   */
  async withApprovals(verdict: Verdict, usage: LimitUsage): Promise<Verdict> {
    await this.find(verdict);
    const covering = this.covering(verdict, usage);
    if (covering) return approvedVerdict(verdict, covering.request.id);
    const approvals = await (await this.#context.journal()).reservations.approvals();
    const open = approvals
      .withTerms(this.#subject().terms)
      .find(
        ({ state, request }) =>
          state === 'open' &&
          request.total_cents >= verdict.amount_cents &&
          usableUntil(request, this.#policy.approvalMs) > this.#context.clock.now(),
      );
    return open ? { ...verdict, approval: { id: open.request.id, state: 'open' } } : verdict;
  }

  /**
   * Requests an approval. If the user wants the command to wait, also waits for the decision.
   * @returns once the request is approved.
   * @throws PolicyRefusal naming the request; ErrandError deadline if nobody decided in time.
   */
  async ask({ verdict }: PolicyDenial): Promise<void> {
    const approvals = await (await this.#context.journal()).reservations.approvals();
    const denied = this.#denied(approvals.withTerms(this.#subject().terms), verdict);
    if (denied) throw await this.#denial(verdict, denied, true);
    const request = await approvals.request(await this.#request(verdict), this.#asking.isKeyMade);
    const { waitMs } = this.#asking;
    if (waitMs === undefined) throw await this.#denial(verdict, request);
    const approve = approveCommand(this.#context, this.#policy, request.id);
    this.#context.note(`waiting for approval ${request.id}: ${approve}`);
    const { clock, signal } = this.#context;
    const state = await poll(
      async () => {
        const { state: now } = approvals.get(request.id);
        if (now !== 'open') return now;
        return usableUntil(request, this.#policy.approvalMs) <= clock.now() ? 'expired' : undefined;
      },
      { deadline: new Deadline(clock, waitMs), everyMs: pollIntervalMs, signal },
    ).catch((error: unknown) => {
      throw signal.aborted ? interruptedWait(error, request, approve) : error;
    });
    if (state === undefined) throw undecided(request, approve);
    if (state !== 'approved' || !(await this.find(verdict)))
      throw await this.#denial(verdict, request, state === 'denied');
  }

  #subject(): Subject {
    this.#subjectMade ??= this.#asking.subject();
    return this.#subjectMade;
  }

  #required(verdict: Verdict): RequiredCoverage {
    const { keys, isReferenced } = this.#asking;
    return {
      ...{ subject: this.#subject(), keys, failed: this.#failed, isReferenced, verdict },
      ...{ now: this.#context.clock.now(), lifetimeMs: this.#policy.approvalMs },
    };
  }

  /** Total in cents. A plan is approved as a whole, so its total is the same whichever part is being placed. */
  #total({ amount_cents: cents }: Verdict): number {
    return this.#asking.plan?.cents ?? cents;
  }

  async #request(verdict: Verdict): Promise<ApprovalRequest> {
    const { reason } = this.#asking;
    const now = this.#context.clock.now();
    const { actor } = (await this.#context.origin())();
    const subject = this.#subject();
    const { databaseId: database } = (await this.#context.journal()).audit;
    return {
      errand_approval: 1,
      id: randomBytes(6).toString('hex'),
      ...subject,
      total_cents: this.#total(verdict),
      rules: verdict.rules.filter(({ outcome }) => isAgainst(outcome)).map(({ rule }) => rule),
      override: verdict.outcome === 'refused' ? (reason ?? null) : null,
      asked_by: actor,
      asked_at: new Date(now).toISOString(),
      expires_at: new Date(now + lifetimeOf(subject, this.#policy.approvalMs)).toISOString(),
      ...(database !== undefined && { database }),
    };
  }

  /**
   * Finds a denial that is still in force for the same order and total. An approval for a different total may be
   * requested again.
   */
  #denied(all: readonly Approval[], verdict: Verdict): ApprovalRequest | undefined {
    const isOverride = verdict.outcome === 'refused';
    const total = this.#total(verdict);
    return all.find(
      (one) =>
        one.state === 'denied' &&
        usableUntil(one.request, this.#policy.approvalMs) > this.#context.clock.now() &&
        one.request.total_cents === total &&
        (one.request.override !== null) === isOverride,
    )?.request;
  }

  async #denial(verdict: Verdict, request: ApprovalRequest, isDenied = false): Promise<PolicyDenial> {
    return new PolicyDenial(this.#context, verdict, {
      request,
      isDenied,
      approve: approveCommand(this.#context, this.#policy, request.id),
      show: `errand approval show ${request.id}${whereFlags(this.#context)}`,
      others: isDenied ? [] : await this.#others(verdict),
    });
  }

  /** Describes how approvals that were perhaps intended for this order differ from it. */
  async #others(verdict: Verdict): Promise<string[]> {
    const approvals = await (await this.#context.journal()).reservations.approvals();
    const required = this.#required(verdict);
    const recent = approvals
      .list()
      .filter(
        ({ state, request }) =>
          state !== 'open' &&
          Date.parse(request.asked_at) > required.now - maxLifetimeMs &&
          (request.id === this.#asking.carried || isRelated(request, required.subject)),
      );
    const mismatches: string[] = [];
    for (const approval of recent) {
      const uses: readonly ApprovalUse[] = approvals.usesOf(approval.request.id);
      const why =
        shortfall(approval, uses, { ...required, keys: new Set([...required.keys, openKey]) }) ??
        (await distrust(this.#context, this.#policy, approval)) ??
        shortfall(approval, uses, required);
      if (why !== undefined) mismatches.push(`approval ${approval.request.id} ${why}`);
      if (mismatches.length === maxNamed) break;
    }
    return mismatches;
  }
}

function approvedVerdict(verdict: Verdict, id: string): Verdict {
  const rules = verdict.rules.map((finding) =>
    finding.outcome === 'needs_approval'
      ? { ...finding, outcome: 'allowed' as const, message: `${finding.message}, approved as ${id}` }
      : finding,
  );
  const rows = verdict.rows.filter(({ outcome }) => outcome !== 'needs_approval');
  return {
    ...verdict,
    outcome: rows.length > 0 ? 'warned' : 'allowed',
    rules,
    rows,
    approval: { id, state: 'approved' },
  };
}

const isAgainst = (outcome: Verdict['outcome']): boolean =>
  outcome === 'refused' || outcome === 'needs_approval';

const interruptedWait = (reason: unknown, { id }: ApprovalRequest, approve: string): unknown =>
  reason instanceof ErrandError
    ? new ErrandError(
        reason.category,
        `${reason.message} while approval ${id} waits for a decision; nothing was sent`,
        {
          ...reason.facts,
          outcome: 'not_sent',
          next: [{ command: approve, when: 'to approve it; then run the same command again' }],
        },
      )
    : reason;

const undecided = ({ id }: ApprovalRequest, approve: string): ErrandError =>
  new ErrandError('deadline', `nobody has decided on approval ${id} in time; nothing was sent`, {
    code: 'approval_required',
    outcome: 'not_sent',
    details: { approval: id },
    next: [{ command: approve, when: 'to approve it; then run the same command again' }],
  });

/** The command that approves a request, as far as this machine can tell. */
const approveCommand = (context: OrderContext, { approvers }: Policy, id: string): string =>
  `errand approval approve ${id}${approvers.length > 0 ? ' --key ~/.ssh/id_ed25519' : ''}${whereFlags(context)}`;
