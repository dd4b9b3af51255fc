import { objectsIn, own, textIn } from '../../contract/json.ts';
import type { ApprovalRequest } from '../../state/approval-row.ts';
import { canonicalJson, sha256 } from '../../state/canonical.ts';
import { canonicalContent } from '../../state/content.ts';
import type { Intent } from '../../state/journal-record.ts';
import { rowsIn } from '../policy/facts.ts';
import { hostOf } from '../policy/url-forms.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A plan that is approved as a whole, whichever part of it is placed at a time. */
export interface ApprovablePlan {
  /** SHA-256 over all that it orders, with the idempotency key of each row, so that no row can be ordered twice. */
  readonly hash: string;
  /** The whole of it, ceilings and fees, cents. */
  readonly cents: number;
  /** What a person reads of it; nothing in it is private. */
  readonly summary: Fields;
}

/** What an approval is bound to. */
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

/** What an approval of intents of one operation would be bound to: everything but key and ceiling. Pure. */
export function subjectOf(
  intents: readonly Intent[],
  { isRehearsal, plan }: { readonly isRehearsal: boolean; readonly plan?: ApprovablePlan | undefined },
): Subject {
  const [first] = intents;
  if (!first) throw new TypeError('nothing to approve');
  const { baseUrl: service, account, profile, operation, key, keyOrigin } = first;
  const what = plan ? planned(plan) : operation === 'bulk.create' ? rowsOf(intents) : orderOf(first);
  const bound = { service, account, profile, operation, ...what.parts };
  return {
    ...{ service, account, profile, operation, is_rehearsal: isRehearsal },
    subject: what.subject,
    terms: sha256(canonicalJson(bound)),
    parts: what.parts,
    summary: what.summary,
    // A key of the user's own may stand for another order by then.
    key: what.subject === 'order' && keyOrigin === 'made' ? key : null,
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

/** Every row, however they are cut into batches. */
function rowsOf(intents: readonly Intent[]): What {
  const hashes: string[] = [];
  const retailers = new Map<string, number>();
  const countries = new Map<string, number>();
  const count = (counts: Map<string, number>, name: string): void => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  };
  for (const { body } of intents.flatMap((intent) => [...rowsIn(intent)])) {
    const { max_price: _, ...content } = canonicalContent('order.create', body);
    hashes.push(hash(content));
    for (const host of new Set(objectsIn(body, 'products').map((line) => hostOf(textIn(line, 'url') ?? ''))))
      count(retailers, host);
    count(countries, textIn(own(content, 'shipping_address'), 'country') ?? '');
  }
  return {
    subject: 'upload',
    parts: { rows: hash(hashes.sort()) },
    summary: { orders: hashes.length, retailers: mostOf(retailers), countries: mostOf(countries) },
  };
}

const mostOf = (counts: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, mostNamed));

/** Of a long table the most frequent. */
const mostNamed = 20;

const planned = ({ hash: whole, summary }: ApprovablePlan): What => ({
  subject: 'plan',
  parts: { plan: whole },
  summary,
});
