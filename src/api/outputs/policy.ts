import { z } from 'zod';
import {
  cents,
  count,
  facts,
  flag,
  id,
  manyCents,
  nextSteps,
  own,
  policyOutcome,
  sha256,
  text,
  time,
  url,
  whole,
} from './fields.ts';
import { MoneySum, Payer } from './money.ts';

const fingerprint = text.describe('fingerprint of an SSH key: SHA256:…');

export const PolicyFile = own({ file: text, next: nextSteps });

export const PublishedPolicy = own({
  file: text,
  sha256,
  time_zone: text,
  rules: count,
  database: text.describe('host, port and name'),
  published_by: text,
  published_at: time,
  number: count.describe('grows with each publication'),
  signer: fingerprint.nullable().describe('null with --dry-run, which signs nothing'),
  replaced: own({ sha256, published_by: text, published_at: time, number: count, signer: fingerprint })
    .nullable()
    .describe('null where none was signed'),
  next: nextSteps,
});

export const PolicyTrust = own({
  database: text.describe('host, port and name'),
  signer: fingerprint.nullable().describe('the publisher that this machine trusts; null after none'),
  number: count.nullable().describe('of its newest policy that this machine has seen'),
  published_by: text.nullable(),
  published_at: time.nullable(),
  replaced: own({ signer: fingerprint, number: count }).nullable(),
  next: nextSteps,
});

export const PolicyRule = own({
  rule: text,
  applies_to: text.nullable().describe('the retailer or metadata of the orders that it is for; null for all'),
  covers: text.describe('what the value is of, such as each order or a whole upload'),
  value: text,
  line: whole,
  signer: fingerprint.optional().describe('who signed it; not there where it is a file'),
});

export const PolicyUsage = own({
  rule: text,
  applies_to: text.nullable(),
  period: text.describe('a day or a month in the time zone of the policy'),
  resets_at: time,
  limit_cents: manyCents,
  used_cents: manyCents,
  open_cents: manyCents,
  left_cents: manyCents,
  used_share: z.number(),
});

const Finding = own({
  rule: text,
  line: whole,
  applies_to: text.nullable(),
  outcome: policyOutcome,
  message: text,
  limit_cents: manyCents.nullable(),
  used_cents: manyCents.nullable(),
  left_cents: manyCents.nullable(),
  period: text.nullable(),
  resets_at: time.nullable(),
  row: whole.nullable(),
});

export const PolicyVerdict = own({
  outcome: policyOutcome,
  policy: text.nullable().describe('the file; null where no policy applies'),
  orders: count,
  amount_cents: manyCents.describe('ceilings and fees together'),
  rules: z.array(Finding),
  rows: z.array(Finding),
  approval: own({ id: text, state: z.enum(['open', 'approved']) }).optional(),
  next: nextSteps,
});

const requestFields = {
  id: text,
  subject: z.enum(['order', 'upload', 'plan']),
  service: url,
  profile: text,
  operation: text,
  is_rehearsal: flag,
  terms: sha256,
  parts: z.record(text, text),
  total_cents: cents,
  summary: facts,
  key: text.nullable(),
  rules: z.array(text),
  override: text.nullable(),
  asked_by: text,
  asked_at: time,
  expires_at: time,
  database: text.optional(),
};

/** The signed request. */
export const ApprovalRequest = own({ ...requestFields, errand_approval: z.literal(1), account: text });

/** An approval in the form in which another machine receives it. */
export const SignedApproval = own({ request: ApprovalRequest, signature: text });

export const Approval = own({
  ...requestFields,
  state: z.enum(['open', 'approved', 'denied', 'used', 'expired', 'untrusted']),
  decided_at: time.nullable(),
  decided_by: text.nullable(),
  is_signed: flag,
  used_for: z.array(own({ key: text, order_id: id.optional(), cents })),
});

export const SpendGroup = own({
  by: text,
  group: text.nullable(),
  paid_by: Payer,
  currency: text,
  orders: count,
  spent_cents: cents,
  fees_cents: cents,
  refunded_cents: cents,
  credited_cents: cents,
  net_cents: cents,
  held_cents: cents,
  by_rule: z.array(text).describe('amounts that follow from rules alone'),
});

export const BooksFile = own({
  file: text,
  as: z.enum(['hledger', 'beancount', 'ofx', 'csv']),
  orders: count,
  added: count,
  there: count,
  left_out: count,
  differences: z.array(own({ line: whole, message: text })),
  own_entries: count.describe('entries of the file that are not of errand'),
  books_wallet_cents: cents,
  wallet_cents: cents.nullable(),
});

export const Reconciliation = own({
  agrees: flag,
  service: url,
  since: time,
  orders: count,
  incomplete: count,
  sums: z.array(MoneySum),
  elsewhere: own({ orders: count, sums: z.array(MoneySum) }),
  wallet: own({
    balance: cents.nullable(),
    spendable: cents.nullable(),
    set_aside: cents.nullable(),
    held_by_rule: cents,
    difference: cents.nullable(),
    compared_with: time.nullable(),
    expected: cents.nullable(),
    unexplained: cents.nullable(),
  }),
  audit: own({ records: count, intact: flag }),
  findings: z.array(
    own({
      finding: z.enum([
        'chain',
        'in_doubt',
        'unreported',
        'damaged',
        'lost_intent',
        'missing_order',
        'over_ceiling',
        'other_ceiling',
        'other_cost',
        'unknown_cost',
        'refund_due',
        'undone',
        'over_credited',
        'balance',
        'credit_due',
        'same_content',
        'reservation',
        'made_elsewhere',
        'set_aside',
      ]),
      order_id: id.nullable(),
      key: text.nullable(),
      cents: cents.nullable(),
      message: text,
      command: text,
    }),
  ),
  notes: z.array(text),
});
