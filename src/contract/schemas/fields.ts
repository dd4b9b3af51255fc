import { z } from 'zod';
import { limits } from '../limits.ts';

/** Marks what was seen on the wire and not read in the specification: it can drift. The one flag for that. */
export const observed = <S extends z.ZodType>(schema: S): S => schema.meta({ observed: true });

export const uuid = z.guid();
export const timestamp = z.iso.datetime({ offset: true });
export const calendarDate = z.iso.date();
export const cents = z.int();
export const price = z.int().min(limits.maxPriceCents.min);
export const count = z.int().min(0);
export const text = z.string();
export const httpUrl = z.url({ protocol: /^https?$/, error: 'Input should be a valid http or https URL' });
export const metadata = z.record(z.string(), z.unknown());
