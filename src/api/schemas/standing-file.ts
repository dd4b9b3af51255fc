import { z } from 'zod';
import { OrderCreate } from './order-create.ts';

const date = z.iso.date().describe('such as 2026-12-01');
const version = z.string().regex(/^[0-9a-f]{12}$/);

/** Shape of a file of standing orders. The code that reads the file checks what a shape cannot express. */
export const fileOfStandingOrders = () => {
  const { idempotency_key: _, ...order } = OrderCreate().shape;
  return z.strictObject({
    version: z.literal(1),
    orders: z
      .record(
        z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/),
        z.strictObject({
          id: z
            .string()
            .regex(/^[0-9a-f]{12}$/)
            .describe('random; the references of its orders contain it'),
          every: z
            .string()
            .regex(/^[1-9]\d{0,2}(d|w|mo)$/)
            .optional()
            .describe('1d, 2w or 1mo; the 31st is the last day of a shorter month'),
          starts: date.optional().describe('first date, with every'),
          dates: z.array(date).min(1).optional().describe('the dates, in place of every'),
          at: z
            .string()
            .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
            .default('00:00')
            .describe('local time of day; one that does not exist is the next that does'),
          time_zone: z.string().default('UTC').describe('such as Europe/Berlin'),
          ends: date.optional().describe('last date'),
          count: z.int().min(1).max(9999).optional().describe('number of dates, from starts'),
          late: z.string().default('1d').describe('how late a date is still bought: 2d'),
          skip: z.array(date).optional().describe('dates on which nothing is bought'),
          paused: z.boolean().optional(),
          live: z
            .union([z.boolean(), z.literal('policy')])
            .optional()
            .describe('whether it may spend real money; policy: while a policy with a limit holds'),
          since: z.iso.datetime().optional().describe('no date that was due before is bought'),
          since_schedule: version
            .optional()
            .describe('short hash of the schedule that since is of; commands write it'),
          former: z.array(version).optional().describe('versions of the entry before this one'),
          order: z.strictObject(order).describe('what is bought, as in an order file'),
        }),
      )
      .optional(),
  });
};
