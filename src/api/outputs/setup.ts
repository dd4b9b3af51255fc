import { z } from 'zod';
import { sandboxTriggers } from '../control.ts';
import { fulfillmentConcerns, orderStatuses, returnStatuses } from '../enums.ts';
import { errorTypeGroups } from '../error-types.ts';
import { cents, flag, id, nextSteps, own, text, time, url, whole } from './fields.ts';

export const RemovedAccount = own({ short_id: id });

/** An entry of the local address book, with the fields of `Address`. */
export const SavedAddress = own({
  name: text,
  default: flag.optional().describe('in the list alone'),
  first_name: text.optional(),
  last_name: text.optional(),
  address_line1: text.optional(),
  address_line2: text.nullish(),
  city: text.optional(),
  state: text.nullish(),
  postal_code: text.optional(),
  country: text.optional(),
  phone_number: text.nullish(),
});

/** The result of installing or removing an agent's SKILL.md. */
export const SkillFile = own({
  target: text,
  file: text,
  result: z.enum(['installed', 'updated', 'unchanged', 'removed']),
});

const origin = {
  from: z.enum(['flag', 'environment', 'profile', 'command', 'preference', 'default']),
  name: text,
};
const setting = own({ value: text, ...origin });

export const AuthStatus = own({
  profile: setting,
  base_url: setting,
  api_key: setting.nullable().describe('masked; from `command`, its name is the command that printed it'),
  legacy_token: setting.nullable().describe('masked'),
  mode: z.enum(['test', 'live', 'unknown']).nullable(),
  works: flag.nullable().describe('null where it was not tried'),
  response: text.nullable(),
});

/** A key stored in a profile, active or not. */
export const StoredKey = own({
  id: text.describe('names it for auth use; it cannot be turned back into the key'),
  key: text.describe('masked'),
  profile: text,
  service: text,
  in_use: flag,
  mode: z.enum(['test', 'live', 'unknown']),
  stored_at: time.nullable(),
  next: nextSteps,
});

export const Profile = own({
  name: text,
  current: flag,
  base_url: url,
  legacy_base_url: url.optional(),
  allow_plain_http: flag.optional(),
  policy: text.optional(),
  database: text.optional().describe('host, port and name; neither user nor password'),
  api_key: text.nullable().describe('masked'),
  key_command: z.array(text).optional().describe('prints the key when it is needed; none is stored then'),
  legacy_token: text.nullable().describe('masked'),
});

const preference = z.union([text, z.number(), flag]).nullable();

export const Preference = own({
  name: text,
  value: preference.describe('as it is stored; null where it is not'),
  in_use: text.describe('what holds, in words'),
  default: text,
  from: text.describe('a variable, config, or default'),
  description: text,
});
export const PreferenceValue = own({ name: text, value: preference });
export const Folders = own({
  config: text,
  state: text,
  database: own({ address: text, ...origin })
    .nullable()
    .describe('host, port and name; null where the journal is of this machine alone'),
});

export const DoctorFinding = own({
  check: text,
  status: z.enum(['ok', 'trouble', 'skipped', 'info']),
  message: text,
  remedy: text.nullable(),
});

export const SandboxTime = own({ now: time, advanced_ms: z.number() });
export const SandboxSnapshot = own({ name: text, taken_at: time });
export const ScenarioDocument = z
  .looseObject({ version: z.literal(1) })
  .describe('a scenario: `errand schema Scenario -o json` is its JSON Schema');
/** A step or check of a scenario, and its result. */
export const ScenarioCheck = own({
  file: text,
  line: whole,
  where: text.describe('file:line'),
  section: z.enum(['steps', 'expect']),
  check: text,
  status: z.enum(['held', 'failed', 'skipped']),
  why: text.nullable(),
  differences: z.array(
    own({
      field: text,
      expected: z.unknown().describe('any value of the scenario'),
      actual: z.unknown().describe('any value that the sandbox has'),
    }),
  ),
  took_ms: z.number(),
});

/** Active faults, as written for `sandbox serve --fault`, and the seed for their random choices. */
export const SandboxFaults = own({ faults: z.array(text), seed: z.number().int() });

/**
 * Effect of a trigger. For an order or return, it is the new status. For the wallet, it is the amount that was credited
 * or debited, and the new balance.
 */
export const TriggeredEvent = own({
  event: z.enum(Object.keys(sandboxTriggers)),
  id: text.optional().describe('of its target, or the code of a device'),
  status: z.enum([...new Set([...orderStatuses, ...returnStatuses])]).optional(),
  amount: cents.optional(),
  balance: cents.optional(),
  email: text.optional().describe('of who claimed the sandbox'),
});

const operationWords = {
  name: text,
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
  path: text,
  summary: text,
  auth: z.enum(['none', 'bearer', 'payment', 'basic']),
  retry: z.enum(['safe', 'idempotency_key', 'never']),
  moves_money: flag,
};
const errorCodeWords = {
  code: text,
  status: whole,
  hint: text,
  observed: flag.optional(),
  legacy: flag.optional().describe('no longer returned'),
};

/** A row of the contract: an operation, shape, enum, limit, event or error. */
export const ContractRow = z.union([
  own({ name: text, kind: text, summary: text }),
  own({ ...operationWords, observed: flag }),
  own({ name: text, used_by: text }),
  own({ name: text, values: z.array(text) }),
  own({ name: text, values: z.record(text, text) }),
  own({
    name: text,
    min: z.number().optional(),
    max: z.number().optional(),
    default: z.number().optional(),
    value: z.number().optional(),
  }),
  own({ name: text, sent_when: text }),
  own({ ...errorCodeWords, kind: z.literal('code') }),
  own({
    code: text,
    kind: z.literal('error_type'),
    group: z.enum(errorTypeGroups),
    relaxed_by: z.enum(fulfillmentConcerns).optional(),
    hint: text,
    observed: flag.optional(),
  }),
]);

/** One operation, with everything that the contract says about it. */
export const ContractOperation = own({
  ...operationWords,
  surface: z.enum(['current', 'legacy']),
  challenge_cents: whole.optional(),
  observed: flag.optional(),
  parameters: z.array(
    own({
      name: text,
      in: z.enum(['path', 'query']),
      required: flag,
      type: z.enum(['string', 'integer', 'number', 'boolean', 'date-time', 'uuid', 'strings']),
      description: text,
      nullable: flag.optional(),
      min: z.number().optional(),
      max: z.number().optional(),
      minLength: whole.optional(),
      maxLength: whole.optional(),
      values: z.array(text).optional(),
      grows: flag.optional().describe('the service may take more values than these'),
      valuesFrom: text.optional().describe('the endpoint that lists the values'),
      default: z.union([text, z.number(), flag]).optional(),
      observed: flag.optional(),
    }),
  ),
  rules: z.array(z.record(text, z.array(text))).optional(),
  body: own({ shape: text, required: flag }).optional(),
  response: own({
    status: whole,
    type: z.enum(['json', 'csv', 'none']),
    shape: text.optional(),
    rows: text.optional(),
  }),
  errors: z.array(own(errorCodeWords)),
});

export const JsonSchema = z.looseObject({}).describe('a JSON Schema');

/** Any JSON that a service may send. */
export const AnyJson = z.unknown().describe('whatever the service responds with');

export const ContractDrift = own({
  operation: text,
  part: z.enum(['operation', 'parameter', 'body', 'response']),
  field: text,
  observed: flag,
  change: z.enum(['removed', 'tightened', 'changed', 'loosened', 'added']),
  aspect: text,
  contract: z.union([text, z.number(), flag]).nullable(),
  service: z.union([text, z.number(), flag]).nullable(),
});

/** A command's output, described in words. Aliases such as `order.ls` refer to it too. */
export const PublishedOutput = own({ name: text, aliases: z.array(text), prints: text });
