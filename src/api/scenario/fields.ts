import { z } from 'zod';
import { returnReasons } from '../enums.ts';
import { errorTypes } from '../error-types.ts';
import { fullestSandboxWalletCents } from '../limits.ts';

/** At most so many of each: a scenario is read and played as a whole. */
export const most = { few: 50, many: 2_000, text: 20_000 };

export const list = <S extends z.ZodType>(of: S) => z.array(of).max(most.many).default([]);
export const text = z.string().max(most.text);
export const filled = text.min(1);
export const moment = z.iso.datetime({ error: 'write a time in UTC, such as 2026-11-02T09:00:00Z' });
const length = /^(?=\d)(?:\d{1,5}d)?(?:\d{1,5}h)?(?:\d{1,5}m)?(?:\d{1,5}s)?(?:\d{1,5}ms)?$/;
export const duration = z.string().regex(length, 'write a length of time, such as 30s, 2h or 3d');
const ago = z
  .string()
  .refine((given) => given.startsWith('-') && length.test(given.slice(1)))
  .describe('how long before clock.now: -2h');
export const time = z.union([moment, ago], {
  error: 'write a time in UTC, such as 2026-11-02T09:00:00Z, or how long before clock.now, such as -2h',
});
/** What other parts of the scenario refer to. */
export const name = z
  .string()
  .regex(/^[A-Za-z][\w.-]{0,63}$/, 'a name has letters, digits, . _ and -, and begins with a letter');
export const cents = z.int('write whole cents: 1999 for $19.99').min(0).max(fullestSandboxWalletCents);
export const speed = z.number().min(1e-9).max(1000);
export const errorType = z.enum(
  Object.keys(errorTypes) as [keyof typeof errorTypes, ...(keyof typeof errorTypes)[]],
);
export const key = name
  .optional()
  .describe('whose it is: the name of a key; the first one where it is left out');

export const returned = {
  order: filled.describe('name or id of its order'),
  items: z
    .array(z.strictObject({ item: z.int().min(0), quantity: z.int().min(1).default(1) }))
    .min(1)
    .optional()
    .describe('which of its items, counted from 0; one of the first where it is left out'),
  reason: z.enum(returnReasons),
  notes: text.optional(),
};

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export const upload = {
  filename: filled.optional(),
  rows: z.array(z.record(z.string(), cell)).min(1).max(most.many),
  notify_on_complete: z.boolean().optional(),
};
