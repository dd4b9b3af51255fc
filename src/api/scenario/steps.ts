import { z } from 'zod';
import { sandboxTriggers } from '../control.ts';
import { OrderCreate } from '../schemas/order-create.ts';
import { cents, duration, errorType, filled, key, name, returned, upload } from './fields.ts';
import { scenarioOrderStates, scenarioReturnStates } from './words.ts';

const triggers = Object.keys(sandboxTriggers) as [keyof typeof sandboxTriggers];

/** Values that a response must have: of an object these fields, of a list each of its rows, of anything else the same. */
const wanted = z
  .strictObject({
    status: z.int().min(100).max(599).optional(),
    code: filled.optional().describe('the error code of a refusal'),
    body: z.unknown().optional().describe('fields that the response has, among others'),
  })
  .refine((given) => Object.keys(given).length > 0, 'names nothing: give it status, code or body');

const requestLine = z
  .string()
  .regex(/^(?:GET|POST|PUT|DELETE) \/\S*$/, 'write a method and a path, such as GET /orders?limit=1');

const stepKinds = ['order', 'cancel', 'return', 'upload', 'trigger', 'advance', 'request'] as const;

export const ScenarioStep = z
  .strictObject({
    order: OrderCreate().optional().describe('places it'),
    cancel: filled.optional().describe('name or id of an order'),
    return: z.strictObject(returned).optional().describe('requests it'),
    upload: z.strictObject(upload).optional().describe('uploads a table'),
    trigger: z.enum(triggers).optional(),
    of: filled.optional().describe('with trigger: the name or id of what it happens to'),
    error_type: errorType.optional().describe('with trigger failed'),
    amount: cents.optional().describe('with trigger wallet-funded, cents'),
    advance: duration.optional().describe('moves the clock; all that is due by then happens'),
    request: requestLine.optional().describe('anything else of the service; {name} stands for an id'),
    body: z.unknown().optional().describe('with request'),
    key,
    as: name.optional().describe('what later steps call the id in the response'),
    expect: wanted.optional().describe('the response; success where it is left out'),
  })
  .superRefine((step, context) => {
    if (!requireOne(step, stepKinds, 'a step', context)) return;
    belongs(step, context, { of: 'trigger', error_type: 'trigger', amount: 'trigger', body: 'request' });
  });

const checkKinds = ['order', 'return', 'wallet', 'batch', 'webhooks', 'request'] as const;

export const ScenarioCheck = z
  .strictObject({
    order: filled.optional().describe('name or id'),
    return: filled.optional().describe('name or id'),
    batch: filled.optional().describe('name or id'),
    wallet: name.optional().describe('name of its key'),
    webhooks: filled
      .optional()
      .describe('name or id of an order: the events that were sent for it, in order'),
    events: z.array(filled).optional().describe('with webhooks'),
    state: z.enum([...new Set([...scenarioOrderStates, ...scenarioReturnStates])]).optional(),
    request: requestLine.optional(),
    key,
    body: z.unknown().optional().describe('fields that the record has, among others'),
    status: z.int().min(100).max(599).optional().describe('with request'),
    code: filled.optional().describe('with request'),
  })
  .superRefine((check, context) => {
    if (!requireOne(check, checkKinds, 'a check', context)) return;
    belongs(check, context, { events: 'webhooks', status: 'request', code: 'request' });
    if (check.webhooks !== undefined && !check.events)
      context.addIssue({ code: 'custom', path: ['webhooks'], message: 'needs events, a list of names' });
    if (check.state !== undefined && check.order === undefined && check.return === undefined)
      context.addIssue({ code: 'custom', path: ['state'], message: 'belongs to order or return' });
    if (['state', 'body', 'events', 'status', 'code'].every((field) => !Object.hasOwn(check, field)))
      context.addIssue({ code: 'custom', message: 'says nothing that must hold: give it state or body' });
  });

function requireOne(
  given: object,
  kinds: readonly string[],
  what: string,
  context: z.core.$RefinementCtx,
): boolean {
  const found = kinds.filter((kind) => Object.hasOwn(given, kind));
  if (found.length === 1) return true;
  const message =
    found.length === 0
      ? `${what} is one of ${kinds.join(', ')}`
      : `${what} is one of ${kinds.join(', ')}, not ${found.join(' and ')} at once`;
  context.addIssue({ code: 'custom', message });
  return false;
}

function belongs(
  given: object,
  context: z.core.$RefinementCtx,
  rules: Readonly<Record<string, string>>,
): void {
  for (const [field, owner] of Object.entries(rules)) {
    if (!Object.hasOwn(given, field) || Object.hasOwn(given, owner)) continue;
    context.addIssue({ code: 'custom', path: [field], message: `belongs to ${owner}` });
  }
}
