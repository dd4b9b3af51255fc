import { isObject, own } from '../../api/json.ts';
import { canonicalJson } from '../../format/canonical.ts';
import type { Approval, ApprovalRequest } from '../../journal/approval-row.ts';
import { UsageError } from '../../platform/errors.ts';
import { signatureBegin } from './ssh-key.ts';

/** More bytes than a request with its signature has. */
export const largestDocument = 256 * 1024;

/** A request with the signature that approves it; the signature alone where no request came with it. */
export type SignedApproval =
  | { readonly request: ApprovalRequest; readonly signature: string }
  | { readonly request?: never; readonly signature: string };

/** An approval as it is carried to another machine. */
export const approvalText = ({ request, signature }: Approval): string =>
  `${canonicalJson({ request, signature })}\n`;

/** What a file or stdin holds: the signature of ssh-keygen, or what `approvalText` made. @throws UsageError naming the file. */
export function readApprovalText(name: string, text: string): SignedApproval {
  if (text.trimStart().startsWith(signatureBegin)) return { signature: `${text.trim()}\n` };
  const value = parsed(text);
  const [request, signature] = [own(value, 'request'), own(value, 'signature')];
  if (typeof signature === 'string' && isRequest(request)) return { request, signature };
  const open = isRequest(value)
    ? 'is a request that nobody has signed: sign it with `ssh-keygen -Y sign -n errand-approval -f KEY`'
    : 'holds no approval: give the signature that ssh-keygen wrote, or what `errand approval export` wrote';
  throw new UsageError(`${name} ${open}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const texts = ['service', 'account', 'profile', 'operation', 'terms', 'asked_by'] as const;
const times = ['asked_at', 'expires_at'] as const;
const longestText = 4096;

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= longestText;
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);

/** Whether what came from elsewhere has the form of a request; whether it is genuine is for its signature to say. */
function isRequest(value: unknown): value is ApprovalRequest {
  if (!isObject(value)) return false;
  const { id, subject, total_cents: total, parts, summary, rules } = value;
  return (
    value.errand_approval === 1 &&
    typeof id === 'string' &&
    /^[0-9a-f]{12}$/.test(id) &&
    ['order', 'upload', 'plan'].some((one) => one === subject) &&
    texts.every((name) => isText(value[name])) &&
    times.every((name) => isText(value[name]) && !Number.isNaN(Date.parse(String(value[name])))) &&
    typeof value.is_rehearsal === 'boolean' &&
    typeof total === 'number' &&
    Number.isSafeInteger(total) &&
    isObject(parts) &&
    Object.values(parts).every(isText) &&
    isObject(summary) &&
    Array.isArray(rules) &&
    rules.every(isText) &&
    isTextOrNull(value.key) &&
    isTextOrNull(value.override)
  );
}
