import { jsonIn, own } from '../../api/json.ts';
import { canonicalJson } from '../../format/canonical.ts';
import { type Approval, type ApprovalRequest, isRequest } from '../../journal/approval-row.ts';
import type { Approvals } from '../../journal/approvals.ts';
import { ErrandError, type ErrorFacts, UsageError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { readBytes } from '../../run/read-document.ts';
import type { Policy } from '../policy/policy.ts';
import { signatureBegin } from './approvers.ts';
import { distrust, signedBy } from './ssh.ts';

const carried = new WeakMap<OrderContext, Promise<string>>();

/**
 * Imports the approval given by `--approval FILE` into the journal. Does this once per run, even if the approval was
 * used here before.
 * @returns the approval's id.
 * @throws UsageError if the file contains no approval; ErrandError policy if the approval is not signed by an approver.
 */
export function carriedApproval(
  context: OrderContext,
  policy: Policy,
  file: string | undefined,
): Promise<string | undefined> {
  if (file === undefined) return Promise.resolve(undefined);
  const known = carried.get(context) ?? take(context, policy, file);
  carried.set(context, known);
  return known;
}

async function take(context: OrderContext, policy: Policy, file: string): Promise<string> {
  const bytes = await readBytes(context, '--approval', file, {
    bytes: largestDocument,
    holds: 'one approval',
  });
  const given = readApprovalText(file === '-' ? 'stdin' : file, bytes.toString('utf8'));
  if (given.request === undefined)
    throw new UsageError(
      `${file} is a signature alone; --approval takes what \`errand approval export\` writes of an approved one`,
    );
  const { request } = await saveSigned(context, policy, given);
  return request.id;
}

/** Size limit of a signed request, in bytes. No real request is that large. */
export const largestDocument = 256 * 1024;

/** A request with its approval signature, or just the signature. */
type SignedApproval =
  | { readonly request: ApprovalRequest; readonly signature: string }
  | { readonly request?: never; readonly signature: string };

/** Serializes an approval for transfer to another machine. */
export const approvalText = ({ request, signature }: Approval): string =>
  `${canonicalJson({ request, signature })}\n`;

/**
 * Parses the content of a file or stdin. The content is either a signature from ssh-keygen, or the output of
 * `approvalText`.
 * @throws UsageError naming the file.
 */
export function readApprovalText(name: string, text: string): SignedApproval {
  if (text.trimStart().startsWith(signatureBegin)) return { signature: `${text.trim()}\n` };
  const value = jsonIn(text);
  const [request, signature] = [own(value, 'request'), own(value, 'signature')];
  if (typeof signature === 'string' && isRequest(request)) return { request, signature };
  const open = isRequest(value)
    ? 'is a request that nobody has signed: sign it with `ssh-keygen -Y sign -n errand-approval -f KEY`'
    : 'holds no approval: give the signature that ssh-keygen wrote, or what `errand approval export` wrote';
  throw new UsageError(`${name} ${open}`);
}

interface SignedRequest {
  readonly request: ApprovalRequest;
  readonly signature: string;
}

/**
 * Stores a signed approval in the journal. @throws ErrandError policy if the approval was not signed by an approver,
 * has expired, or was denied here.
 */
export async function saveSigned(
  context: OrderContext,
  policy: Policy,
  { request, signature }: SignedRequest,
): Promise<Approval> {
  if (policy.approvers.length === 0)
    throw notApproved(
      `${policy.file} names no approvers, so that nobody's signature counts; approval ${request.id} is approved at a terminal, where it was asked for`,
    );
  const signed = await signedBy(context, policy, request, signature);
  if ('problem' in signed) throw notApproved(`approval ${request.id} ${signed.problem}`);
  const approvals = await (await context.journal()).reservations.approvals();
  const known = approvals.list().find((one) => one.request.id === request.id);
  if (known?.state === 'denied') throw notApproved(`approval ${request.id} was denied by ${known.decidedBy}`);
  // Only the first valid approval counts, so another signature changes nothing.
  if (known?.state === 'approved' && (await distrust(context, policy, known)) === undefined)
    return approvals.approve(request, known.decidedBy ?? signed.by, known.signature);
  return approvals.approve(request, signed.by, signature);
}

/**
 * Builds the error for an approval that cannot be used.
 * @param what describes the problem, as a sentence.
 */
export const notApproved = (what: string, facts: ErrorFacts = {}): ErrandError =>
  new ErrandError('policy', what, {
    code: 'approval_refused',
    outcome: 'not_sent',
    retryable: false,
    ...facts,
  });

/**
 * Opens the approvals in the local journal. If a process claimed an approval for `terms` but ended before it sent
 * anything, that approval becomes usable again.
 */
export async function openApprovals(
  { journal }: Pick<OrderContext, 'journal'>,
  terms: string,
): Promise<Approvals> {
  const { reservations } = await journal();
  const approvals = await reservations.approvals();
  const isPerhapsUnsent = approvals
    .withTerms(terms)
    .some(({ request }) => approvals.usesOf(request.id).some(({ orderId }) => orderId === undefined));
  if (isPerhapsUnsent) await reservations.giveBackAbandoned();
  return approvals;
}
