import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { SchemaName } from '../schemas/index.ts';

/** Shape of one of errand's own records. It allows exactly these fields. */
export const own = z.strictObject;

export const text = z.string();
export const flag = z.boolean();
export const whole = z.int();
export const count = z.int().min(0);
/** ISO 8601 in UTC, taken from the local clock. */
export const time = z.iso.datetime();
/** Amount in the minor unit of its currency. If no currency is given, it is in US cents. */
export const cents = z.int();
/** Cents that may exceed the safe integer range. */
export const manyCents = z.number().meta({ type: 'integer' });
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** An id issued by the service. Its format is opaque. */
export const id = z.string();
export const url = z.string();
/** Suggested follow-up commands, ready to type; empty if none is obvious. */
export const nextSteps = z.array(own({ command: text, when: text }));

export const policyOutcome = z.enum(['allowed', 'warned', 'needs_approval', 'refused']);
/** Fields that depend on what the record is about. */
export const facts = z.looseObject({});

/** A record of the service inside one of errand's own records, unchanged. */
export const served = (shape: SchemaName): z.ZodCustom<JsonObject, JsonObject> =>
  z.custom<JsonObject>().meta({ shape });
