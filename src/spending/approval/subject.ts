import { numberIn, objectsIn, own, textIn } from '../../api/json.ts';
import { canonicalJson, sha256 } from '../../format/canonical.ts';
import type { ApprovalRequest } from '../../journal/approval-row.ts';
import { canonicalContent } from '../../journal/content.ts';
import type { Intent } from '../../journal/journal-record.ts';
import { rowsIn } from '../policy/facts.ts';
import { hostOf } from '../policy/policy.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A plan that is approved as a whole, even if its orders are placed in parts. */
export interface ApprovablePlan {
  /** SHA-256 over all orders. It includes the idempotency key of each row, so that no row can be ordered twice. */
  readonly hash: string;
  /**
   * For each order, its need and the number of the attempt at that need. Undefined for a plan that does not state them.
   */
  readonly attempts?: readonly (readonly [need: string, number: number])[] | undefined;
  /** Total of ceilings and fees, in cents. */
  readonly cents: number;
  /** Human-readable summary; contains nothing private. */
  readonly summary: Fields;
}

/** The exact content to which an approval applies. */
export type Subject = Pick<
  ApprovalRequest,
  | 'subject'
  | 'service'
  | 'account'
  | 'profile'
  | 'operation'
  | 'is_rehearsal'
  | 'terms'
  | 'parts'
  | 'summary'
  | 'key'
>;

/**
 * Determines what an approval for intents of one operation covers. For an order, this is everything except the key and
 * the ceiling, which are checked separately. For an upload, it is every row with its key and ceiling. Pure.
 */
export function subjectOf(
  intents: readonly Intent[],
  { isRehearsal, plan }: { readonly isRehearsal: boolean; readonly plan?: ApprovablePlan | undefined },
): Subject {
  const [first] = intents;
  if (!first) throw new TypeError('nothing to approve');
  const { baseUrl: service, account, profile, operation, key } = first;
  const what = plan ? planned(plan) : operation === 'bulk.create' ? rowsOf(intents) : orderOf(first);
  const bound = { service, account, profile, operation, ...what.parts };
  return {
    ...{ service, account, profile, operation, is_rehearsal: isRehearsal },
    subject: what.subject,
    terms: sha256(canonicalJson(bound)),
    parts: what.parts,
    summary: what.summary,
    // If the key is fixed, the service creates only one order even if several machines send it.
    key: what.subject === 'order' ? key : null,
  };
}

type What = Pick<Subject, 'subject' | 'parts' | 'summary'>;

const hash = (value: unknown): string => sha256(canonicalJson([value ?? null]));

function orderOf({ body }: Intent): What {
  const content = canonicalContent('order.create', body);
  const { max_price: _, products, shipping_address: address, ...other } = content;
  const { payment, metadata, ...fields } = other;
  const given = [
    ...Object.keys(fields),
    ...(canonicalJson(payment) === canonicalJson({ mode: 'wallet' }) ? [] : ['payment']),
    ...(canonicalJson(metadata) === '{}' ? [] : ['metadata']),
  ];
  return {
    subject: 'order',
    parts: { products: hash(products), address: hash(address), other: hash(other) },
    summary: {
      products: Array.isArray(products) ? products : [],
      city: textIn(address, 'city') ?? '',
      country: textIn(address, 'country') ?? '',
      ...(given.length > 0 && { with: given.sort() }),
    },
  };
}

/**
 * All rows, with their ceilings and idempotency keys. The result is the same however the rows are split into batches.
 */
function rowsOf(intents: readonly Intent[]): What {
  const rows: string[] = [];
  const ceilings: string[] = [];
  const keys: string[] = [];
  const products = new Map<string, number>();
  const retailers = new Map<string, number>();
  const countries = new Map<string, number>();
  const count = (counts: Map<string, number>, name: string, more = 1): void => {
    counts.set(name, (counts.get(name) ?? 0) + more);
  };
  let highest = 0;
  for (const { key, body, price } of intents.flatMap((intent) => [...rowsIn(intent)])) {
    const { max_price: _, ...content } = canonicalContent('order.create', body);
    const row = hash(content);
    rows.push(row);
    ceilings.push(hash([row, price]));
    keys.push(hash([row, price, key]));
    highest = Math.max(highest, price ?? 0);
    const lines = objectsIn(body, 'products');
    for (const line of lines) count(products, textIn(line, 'url') ?? '', numberIn(line, 'quantity') ?? 1);
    for (const host of new Set(lines.map((line) => hostOf(textIn(line, 'url') ?? ''))))
      count(retailers, host);
    count(countries, textIn(own(content, 'shipping_address'), 'country') ?? '');
  }
  const shown = Object.entries(topEntries(products, maxProducts));
  return {
    subject: 'upload',
    parts: { rows: hash(rows.sort()), ceilings: hash(ceilings.sort()), keys: hash(keys.sort()) },
    summary: {
      file: textIn(intents[0]?.body, 'filename') ?? '',
      orders: rows.length,
      highest_ceiling_cents: highest,
      products: shown.map(([url, quantity]) => ({ url, quantity })),
      ...(products.size > shown.length && { more_products: products.size - shown.length }),
      retailers: topEntries(retailers),
      countries: topEntries(countries),
    },
  };
}

const topEntries = (counts: ReadonlyMap<string, number>, limit = maxNamed): Record<string, number> =>
  Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, limit));

/** Maximum number of entries that are listed for a long table. The most frequent ones are listed. */
const maxNamed = 20;
const maxProducts = 5;

const planned = ({ hash: whole, attempts, summary }: ApprovablePlan): What => ({
  subject: 'plan',
  parts: { plan: whole, ...(attempts && { attempts: hash(attempts.map(canonicalJson).sort()) }) },
  summary: {
    ...summary,
    ...(attempts && { needs: attempts.slice(0, maxNamed).map(attemptText) }),
    ...(attempts && attempts.length > maxNamed && { more_needs: attempts.length - maxNamed }),
  },
});

const attemptText = ([need, number]: readonly [string, number]): string =>
  number === 1 ? need : `${need} (attempt ${number})`;
