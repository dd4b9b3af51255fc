import { z } from 'zod';
import {
  cents,
  count,
  facts,
  flag,
  id,
  nextSteps,
  own,
  served,
  sha256,
  text,
  time,
  url,
  whole,
} from './fields.ts';
import { MoneyPart } from './money.ts';

export const CancelledOrder = own({ id, status: z.literal('cancelled') });

/** Proof of a payment by challenge: the Payment-Receipt header. */
export const Receipt = z.looseObject({
  method: text,
  reference: text,
  status: text,
  timestamp: text,
});

export const PaymentReceipt = Receipt.extend({ order_id: id });

export const RetriedOrder = z.looseObject({ order_id: id, request_id: id.describe('of the new order') });

export const SavedLabel = own({ file: text, return_request_id: id, bytes: count });

const step = {
  at: time,
  actor: text,
  command: text,
};

/** Full history of one order. */
export const OrderHistory = own({
  id: id.nullable(),
  key: text.nullable().describe('the idempotency key'),
  reference: text.nullable().describe("the buyer's own name for it, after that of the namespace"),
  attempt: whole.nullable().describe('which attempt for its reference it is, from 1'),
  attempts: z
    .array(
      own({
        attempt: whole,
        order_id: id.nullable(),
        key: text,
        state: text.describe('as it was last known here'),
        made_at: time,
      }),
    )
    .describe('all that are known here for its reference'),
  service: url,
  status: text,
  summary: text,
  products: z.array(text),
  asked: own({
    ...step,
    job: text.nullable(),
    profile: text.nullable(),
    operation: text,
    ceiling_cents: cents.nullable(),
    batch_ceiling_cents: cents.nullable(),
    batch: id.nullable(),
    row: whole.nullable(),
  }).nullable(),
  why: z.array(own({ code: text.nullable(), message: text, hint: text.nullable() })),
  policy: own({
    state: text,
    at: time,
    reserved_cents: cents,
    fee_cents: cents,
    counted_cents: cents,
    override: text.nullable(),
  }).nullable(),
  steps: z.array(
    own({
      ...step,
      number: whole.describe('of its record in the audit chain'),
      step: text,
      outcome: text.nullable(),
      amount_cents: cents.nullable(),
      currency: text.nullable(),
    }),
  ),
  milestones: z.array(served('OrderMilestone')),
  price: own({
    currency: text,
    parts: z.array(own({ part: text, cents })),
    total: cents,
    charged: own({ cents, currency: text }).nullable().describe('where another currency was charged'),
  }).nullable(),
  money: MoneyPart.nullable(),
  returns: z.array(served('ReturnSummary')),
  events: z.array(
    own({
      id: whole,
      event: text.nullable(),
      status: text.nullable(),
      error_type: text.nullable(),
      received_at: time,
      deliveries: count,
    }),
  ),
  open: z.array(own({ what: text, command: text })),
});

/** Record of an intent in the journal. Its body is what was sent, so it may contain an address. */
export const JournalRecord = own({
  key: text,
  base_url: url,
  state: z.enum(['intended', 'responded', 'reported', 'refused', 'forgotten', 'damaged']),
  operation: text,
  profile: text,
  sent_with: text.describe('the API key, masked'),
  key_origin: z.enum(['made', 'chosen']),
  body_hash: text,
  order_id: id.nullable().describe('of what the service made: an order, a batch, a return'),
  code: text.nullable(),
  message: text.nullable(),
  pid: whole,
  process_started: text,
  created_at: time,
  settled_at: time.nullable(),
  payment: own({
    challenge_id: text,
    method: text,
    amount: text.describe("in the currency's minor unit"),
    currency: text,
    expires: text.nullable(),
  }).nullable(),
  body: facts,
});

export const AuditRecord = own({
  number: whole.describe('from 1, without a gap'),
  time: text,
  kind: text,
  actor: text,
  job: text.nullable(),
  command: text,
  profile: text.nullable(),
  service: url.nullable(),
  key: text.nullable(),
  order_id: id.nullable(),
  amount_cents: cents.nullable(),
  currency: text.nullable(),
  detail: z.union([facts, text]).describe('text where it is not what errand wrote'),
  previous: text.describe('the hash of the record before it'),
  hash: text,
});

export const AuditHead = own({ number: count, hash: sha256, next: nextSteps });

export const AuditCheck = own({
  intact: flag,
  records: count,
  head: own({ number: count, hash: text.nullable().describe('null of a record that cannot be read') }),
  findings: z.array(
    own({
      number: whole.nullable(),
      finding: z
        .enum([
          'changed',
          'replaced',
          'missing',
          'misplaced',
          'unreadable',
          'lost',
          'unsigned',
          'policy',
          'reservation',
        ])
        .describe(
          'policy: the published one is not what its publisher signed last; reservation: it is not what the chain says was reserved',
        ),
      message: text,
    }),
  ),
});
