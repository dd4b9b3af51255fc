import { z } from 'zod';
import { cents, flag, id, own, text } from './fields.ts';

export const Payer = z.enum(['wallet', 'card', 'connect', 'retailer_account', 'challenge']);

/** Totals of orders, for one payer and one currency. */
export const MoneySum = own({
  payer: Payer,
  currency: text,
  held: cents,
  charged: cents,
  fee: cents,
  refunded: cents,
  credited: cents,
  net: cents.describe('charged and fee less refunded and credited'),
});

const line = {
  cents: cents.describe('with its sign'),
  currency: text,
  payer: Payer,
  note: text,
  return_id: id.nullable(),
};

/** Costs of an order, as `order explain` prints them. */
export const MoneyPart = own({
  payer: Payer,
  lines: z.array(
    own({
      ...line,
      what: z.enum(['hold', 'charge', 'fee', 'refund', 'credit']),
      basis: z
        .enum(['observed', 'by_rule'])
        .describe('by_rule: no record shows it; it follows from how the service works'),
    }),
  ),
  sums: z.array(MoneySum),
  due: z.array(own({ ...line, cents: cents.optional(), what: z.enum(['refund', 'credit']) })),
  is_open: flag,
  is_complete: flag,
});
