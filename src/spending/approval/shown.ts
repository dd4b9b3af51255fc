import { isObject, numberIn, objectsIn, textIn } from '../../api/json.ts';
import type { Output } from '../../api/outputs/index.ts';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import type { Approval, ApprovalRequest } from '../../journal/approval-row.ts';
import type { Approvals } from '../../journal/approvals.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { loadPolicy } from '../policy/load.ts';
import type { Policy } from '../policy/policy.ts';
import { usableUntil } from './covers.ts';
import { failedKeys } from './further-attempts.ts';
import { isByApprover } from './ssh.ts';

/**
 * `used` follows from the orders placed, and `expired` from the time. `untrusted` means that the request was approved,
 * but with a key that the current policy does not contain.
 */
export type ShownState = Approval['state'] | 'used' | 'expired' | 'untrusted';

/** An approval as shown to users. Omits the account fingerprint. */
export type ShownApproval = Output<'Approval'>;

/**
 * The policy with which approvals are shown. Undefined if the policy cannot be loaded, because approvals are shown in
 * that case too.
 */
export async function policyToShow(context: OrderContext): Promise<Policy | undefined> {
  try {
    return await loadPolicy(context);
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    context.note(`warning: ${error.message}`);
    return undefined;
  }
}

/** @throws StorageError. */
export async function shownApproval(
  context: OrderContext,
  approvals: Approvals,
  approval: Approval,
  policy: Policy | undefined,
): Promise<ShownApproval> {
  const { request, decidedAt, decidedBy, signature } = approval;
  const { account: _, errand_approval: _form, ...shown } = request;
  const uses = approvals.usesOf(request.id);
  return {
    ...shown,
    state: await stateAt(context, approvals, approval, policy),
    decided_at: decidedAt ?? null,
    decided_by: decidedBy ?? null,
    is_signed: signature !== undefined,
    used_for: uses.map(({ orderId, ...use }) => ({
      ...use,
      ...(orderId !== undefined && { order_id: orderId }),
    })),
  };
}

/**
 * The current state of an approval. The approval of a plan counts as used once all orders of the plan are placed. Any
 * other approval counts as used once its order is placed, unless the order failed.
 * @throws StorageError.
 */
export async function stateAt(
  context: OrderContext,
  approvals: Approvals,
  approval: Approval,
  policy: Policy | undefined,
): Promise<ShownState> {
  const { request, state } = approval;
  const uses = approvals.usesOf(request.id);
  const failed = await failedKeys(await context.journal(), request, uses);
  const maxUses =
    request.subject === 'plan' ? (numberIn(request.summary, 'orders') ?? Number.POSITIVE_INFINITY) : 1;
  if (uses.length - failed.size >= maxUses) return 'used';
  if (state === 'denied') return state;
  const until = usableUntil(request, policy?.approvalMs ?? Number.POSITIVE_INFINITY);
  if (until <= context.clock.now()) return 'expired';
  return state === 'approved' && policy && !isByApprover(policy, approval) ? 'untrusted' : state;
}

const subjects = { order: 'an order', upload: 'an upload', plan: 'a plan' } as const;

/**
 * The facts that a person needs to decide on a request. Pure.
 * @param address are the lines of the address, if known.
 */
export function requestLines(request: ApprovalRequest, address: readonly string[] = []): string[] {
  const { id, subject, total_cents: total, service, profile, asked_by: by, asked_at: at, rules } = request;
  return [
    `approval ${id}: ${subjects[subject]}, at most ${formatMoney(total)} with fees`,
    ...(address.length > 0 ? withoutPlace(request.summary) : summaryLines(request.summary)),
    ...address,
    `at ${service}, profile ${profile}${request.is_rehearsal ? ' (a rehearsal: no money moves)' : ''}`,
    `asked by ${by} at ${at}, for ${rules.join(', ')}`,
    ...(request.override === null ? [] : [`it overrules the policy: ${request.override}`]),
    `it can be used until ${request.expires_at}`,
  ].map((line, index) => (index === 0 ? line : `  ${line}`));
}

/**
 * One-line summary for a table cell, such as `shop.example/item x 2, with payment`. It starts with the host, because a
 * table may cut off the end. Pure.
 */
export function briefOf(summary: unknown): string {
  const { file, orders, with: fields } = Object(summary);
  const [first, ...more] = objectsIn(summary, 'products');
  return typeof file === 'string' && typeof orders === 'number'
    ? `${file}, ${orders === 1 ? '1 order' : `${orders} orders`}`
    : [
        first ? `${bare(textIn(first, 'url') ?? '')} x ${numberIn(first, 'quantity') ?? 1}` : '',
        ...(more.length > 0 ? [`and ${more.length} more`] : []),
        ...(Array.isArray(fields) ? [`with ${fields.join(', ')}`] : []),
      ].join(', ');
}

const bare = (url: string): string => url.replace(/^https?:\/\/(?:www\.)?/, '');

const withoutPlace = ({ city: _, country: _country, ...summary }: ApprovalRequest['summary']): string[] =>
  summaryLines(summary);

/** One line per product, then the destination, then the remaining fields. */
export function summaryLines(summary: ApprovalRequest['summary']): string[] {
  const { products: _, city, country, needs, more_needs: others, ...more } = summary;
  const lines = objectsIn(summary, 'products').map((line) => {
    const { url, quantity: _quantity, ...options } = line;
    const given = Object.keys(options).length === 0 ? '' : `  ${JSON.stringify(options)}`;
    return `${numberIn(line, 'quantity') ?? 1} x ${textIn(line, 'url') ?? String(url)}${given}`;
  });
  const place = [city, country].filter((part) => typeof part === 'string' && part !== '');
  return [
    ...lines,
    ...(place.length > 0 ? [`to ${place.join(', ')}`] : []),
    ...Object.entries(more).map(([name, value]) =>
      name.endsWith('_cents') && typeof value === 'number'
        ? `${spoken(name.slice(0, -'_cents'.length))}: ${formatMoney(value)}`
        : `${spoken(name)}: ${plain(value)}`,
    ),
    ...(Array.isArray(needs)
      ? [`needs: ${plain(needs)}${typeof others === 'number' ? `, and ${countText(others)} more` : ''}`]
      : []),
  ];
}

const spoken = (name: string): string => name.replaceAll('_', ' ');

function plain(value: unknown): string {
  if (Array.isArray(value)) return value.map(plain).join(', ');
  if (!isObject(value)) return String(value);
  return Object.entries(value)
    .map(([name, count]) => `${name} ${plain(count)}`)
    .join(', ');
}
