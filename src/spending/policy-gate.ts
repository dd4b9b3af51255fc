import { type IntentProof, wasHeld } from '../journal/intent-proof.ts';
import type { Intent, JournalRecord } from '../journal/journal-record.ts';
import { ErrandError, exitCodes, stopOf, UsageError } from '../platform/errors.ts';
import type { OrderContext } from '../run/order-context.ts';
import type { ApprovedKey } from './approval/key.ts';
import type { Consent } from './options.ts';
import type { Gate, ProposedOrder } from './policy/gate.ts';
import { loadPolicy, readPublished } from './policy/load.ts';
import type { Verdict } from './policy/policy.ts';
import { publishedPolicy } from './policy/published.ts';

/** The operations to which a policy applies. Only these operations can lead to an order. */
const spending: readonly string[] = ['order.create', 'agent.order.create', 'bulk.create', 'legacy.retry'];

/**
 * Opens the gate that applies the policy to orders. If there is no policy, returns undefined at once and makes no
 * request.
 * @throws ErrandError if the policy, or something that it needs, cannot be read or used.
 */
export async function gateFor(
  context: OrderContext,
  proposed: readonly ProposedOrder[],
  consent: Consent = {},
): Promise<Gate | undefined> {
  if (!proposed.some(({ intent }) => spending.includes(intent.operation))) return undefined;
  const policy = await loadPolicy(context);
  if (policy) {
    const { openGate } = await import('./policy/gate.ts');
    return openGate(context, policy, proposed, consent);
  }
  const file = context.settings.policy?.value ?? 'policy';
  if (consent.overridePolicy !== undefined)
    throw new UsageError(`--override-policy has nothing to override: there is no ${file}`);
  if (consent.approval !== undefined)
    throw new UsageError(`--approval is for a policy that wants one: there is no ${file}`);
  return undefined;
}

/**
 * Whether the amount that a record in doubt may spend is reserved. If no policy applied when the record was made,
 * returns true.
 * @throws ErrandError.
 */
export async function isReserved(
  context: OrderContext,
  record: JournalRecord,
  proof: IntentProof,
): Promise<boolean> {
  if (!spending.includes(record.operation)) return true;
  const { audit, reservations } = await context.journal();
  if (!wasHeld(audit, proof, record, !(await isExempt(context, record)))) return true;
  const { ceilingsOf } = await import('./policy/facts.ts');
  return reservations.cover(ceilingsOf(record));
}

/** Whether a published policy exempts the record as a rehearsal. */
async function isExempt(context: OrderContext, record: JournalRecord): Promise<boolean> {
  const published = await publishedPolicy(context);
  if (!published) return false;
  const { isRehearsed } = await import('./policy/gate.ts');
  const { rehearsals } = await readPublished(context, published);
  return rehearsals === 'exempt' && isRehearsed(context, { ...record, baseUrl: record.base_url });
}

/** The idempotency key of an order's approval; undefined if there is none. @throws ErrandError. */
export async function approvedKey(
  context: OrderContext,
  intent: Intent,
  consent: Consent,
): Promise<ApprovedKey | undefined> {
  const policy = await loadPolicy(context);
  if (!policy) return undefined;
  const { keyOfApproval } = await import('./approval/key.ts');
  return keyOfApproval(context, policy, intent, consent);
}

/** Whether a policy applies. @throws ErrandError if the policy cannot be used. */
export const hasPolicy = async (context: OrderContext): Promise<boolean> =>
  (await loadPolicy(context)) !== undefined;

/**
 * Runs work that the gate may refuse. After a refusal, runs the work again if new information has become available or
 * the user has overridden the policy.
 * @throws PolicyDenial.
 */
export async function withPolicy<T>(gate: Gate | undefined, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      const result = await work();
      gate?.warn();
      return result;
    } catch (error) {
      if (!gate) throw error;
      try {
        if (await gate.reconsider(error)) continue;
      } catch (refusal) {
        await gate.recordDenial(refusal);
        throw refusal;
      }
      await gate.recordDenial(error);
      throw error;
    }
  }
}

/**
 * Reserves the amounts of all proposed orders before any order is sent. If one amount cannot be reserved, none is.
 * @returns a function that must be called at the end. It releases the reservations of intents that were never recorded.
 * @throws PolicyDenial.
 */
export async function reserveAhead(
  context: OrderContext,
  proposed: readonly ProposedOrder[],
  consent?: Consent,
): Promise<() => Promise<void>> {
  const gate = await gateFor(context, proposed, consent);
  const [first] = proposed;
  if (!gate || !first) return async () => {};
  const { reservations } = await context.journal();
  await withPolicy(gate, () => reservations.reserve(gate.reserving));
  const { baseUrl, account } = first.intent;
  const keys = proposed.map(({ intent }) => intent.key);
  return async () => {
    try {
      await reservations.giveBackUnsent(keys, baseUrl, account);
    } catch (error) {
      // Ignore the error. The next order that reaches a limit will notice that this process has ended, and will release
      // the reservation.
      if (!(error instanceof ErrandError)) throw error;
    }
  };
}

/** The parts of a consent that a preview uses. A preview never prompts. */
type Previewed = Pick<Consent, 'approval' | 'plan'>;

/**
 * The policy's verdict on proposed orders, without a reservation. Undefined if there is no policy. If the verdict
 * depends on earlier orders, first reads how these have ended, as sending would do.
 */
async function previewPolicy(
  context: OrderContext,
  proposed: readonly ProposedOrder[],
  { approval, plan }: Previewed = {},
): Promise<Verdict | undefined> {
  return (await gateFor(context, proposed, { approval, plan }))?.settledPreview();
}

/**
 * Like `previewPolicy`, but fails if the policy refuses the orders or if they need an approval. Records a refusal, and
 * requests a missing approval. Reserves nothing.
 * @param asks tells whether to fail if the orders need an approval. If false, such orders pass.
 * @throws PolicyDenial.
 */
export async function allowedVerdict(
  context: OrderContext,
  proposed: readonly ProposedOrder[],
  { asks }: { readonly asks: boolean },
): Promise<Verdict | undefined> {
  const gate = await gateFor(context, proposed);
  if (!gate) return undefined;
  const { PolicyDenial } = await import('./policy/refusal.ts');
  return withPolicy(gate, async () => {
    const verdict = await gate.preview();
    const isOpen = verdict.outcome === 'refused' || (asks && verdict.outcome === 'needs_approval');
    if (isOpen) throw new PolicyDenial(context, verdict);
    return verdict;
  });
}

/** The policy rule that refuses orders or requires an approval for them, and the outcome of that rule. */
export interface PolicyObstacle {
  readonly outcome: 'needs_approval' | 'refused';
  readonly rule: string;
  readonly file: string;
  readonly line: number;
}

/**
 * Finds the policy rule that refuses orders, or that requires an approval for them. Undefined if the policy allows the
 * orders, or if it cannot decide. Reserves nothing.
 */
export async function policyObstacle(
  context: OrderContext,
  proposed: readonly ProposedOrder[],
): Promise<PolicyObstacle | undefined> {
  try {
    const verdict = await (await gateFor(context, proposed))?.settledPreview();
    return verdict && obstacleIn(verdict);
  } catch (error) {
    const { PolicyDenial } = await import('./policy/refusal.ts');
    if (error instanceof PolicyDenial) return obstacleIn(error.verdict);
    if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    return undefined;
  }
}

async function obstacleIn(verdict: Verdict): Promise<PolicyObstacle | undefined> {
  const { against } = await import('./policy/refusal.ts');
  const { outcome, policy: file } = verdict;
  const [first] = against(verdict);
  if (!first || (outcome !== 'refused' && outcome !== 'needs_approval')) return undefined;
  return { outcome, file, rule: first.rule, line: first.line };
}

/** Details for an error: the policy rule that stands against the orders, and its outcome. */
export const obstacleDetails = ({ outcome, rule }: PolicyObstacle) => ({
  policy_rule: rule,
  policy_outcome: outcome,
});

/** Tells the user what to do if a policy rule refuses another order, or requires an approval for it. */
export const obstacleHint = ({ outcome, rule, file, line }: PolicyObstacle): string =>
  outcome === 'refused'
    ? `The policy refuses another one whatever flag is given (${rule}: ${file}, line ${line}); its owner can change that.`
    : `The policy wants an approval for another one (${rule}: ${file}, line ${line}); ordering it asks for that.`;

/**
 * The verdict in the form that people see before they confirm, or before anything is sent. Empty if there is no policy.
 */
export async function policyLines(
  context: OrderContext,
  proposed: readonly ProposedOrder[],
  consent?: Previewed,
): Promise<string[]> {
  return linesOf(await previewPolicy(context, proposed, consent));
}

async function linesOf(verdict: Verdict | undefined): Promise<string[]> {
  if (!verdict) return [];
  const { verdictLines } = await import('./policy/refusal.ts');
  return verdictLines(verdict);
}

/**
 * Prints the verdict for a preview. If the service cannot be reached, the preview continues.
 * @returns the exit code with which sending the orders would end. Undefined if the policy allows the orders.
 */
export async function notePolicy(
  context: OrderContext,
  proposed: readonly ProposedOrder[],
  consent?: Previewed,
): Promise<number | undefined> {
  if (context.previewsReads) return undefined;
  try {
    const verdict = await previewPolicy(context, proposed, consent);
    for (const line of await linesOf(verdict)) context.note(line);
    const isAllowed = verdict?.outcome !== 'refused' && verdict?.outcome !== 'needs_approval';
    return isAllowed ? undefined : exitCodes.policy;
  } catch (error) {
    const isFinal = !(error instanceof ErrandError) || error.category === 'policy' || stopOf(error);
    if (isFinal) throw error;
    context.note(`policy: not checked (${error.message})`);
    return error.exitCode;
  }
}
