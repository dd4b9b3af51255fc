import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { SchemaName } from '../schemas/index.ts';

/** A record of errand's own: it has these fields and no others. */
export const own = z.strictObject;

export const text = z.string();
export const flag = z.boolean();
export const whole = z.int();
export const count = z.int().min(0);
/** ISO 8601 in UTC, by the clock of this machine. */
export const time = z.iso.datetime();
/** An amount in the minor unit of its currency; US cents where there is none beside it. */
export const cents = z.int();
/** Cents that may be more than a safe integer. */
export const manyCents = z.number().meta({ type: 'integer' });
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
/** An id of the service. Its form is the service's affair. */
export const id = z.string();
export const url = z.string();
/** Commands that go on from here, in words to type; none where none is obvious. */
export const nextSteps = z.array(own({ command: text, when: text }));

export const policyOutcome = z.enum(['allowed', 'warned', 'needs_approval', 'refused']);
/** Fields that depend on what the record is about. */
export const facts = z.looseObject({});

/** A record of the service inside one of errand's own, as it came. */
export const served = (shape: SchemaName): z.ZodCustom<JsonObject, JsonObject> =>
  z.custom<JsonObject>().meta({ shape });
