import { z } from 'zod';
import { sandboxTriggers } from '../control.ts';
import { productConditions, returnReasons } from '../enums.ts';
import { errorTypes } from '../error-types.ts';
import { apiKeyPattern, maxSandboxWalletCents } from '../limits.ts';
import { httpUrl, metadata, uuid } from '../schemas/fields.ts';
import { OrderCreate } from '../schemas/order-create.ts';
import {
  scenarioAddresses,
  scenarioOrderEvents,
  scenarioOrderStates,
  scenarioReturnStates,
} from './words.ts';

/** Size limits. They are needed because a scenario is read and played as a whole. */
const limits = { few: 50, many: 2_000, text: 20_000 };

const list = <S extends z.ZodType>(of: S) => z.array(of).max(limits.many).default([]);
const text = z.string().max(limits.text);
const filled = text.min(1);
const moment = z.iso.datetime({ error: 'write a time in UTC, such as 2026-11-02T09:00:00Z' });
const length = /^(?=\d)(?:\d{1,5}d)?(?:\d{1,5}h)?(?:\d{1,5}m)?(?:\d{1,5}s)?(?:\d{1,5}ms)?$/;
const duration = z.string().regex(length, 'write a length of time, such as 30s, 2h or 3d');
const ago = z
  .string()
  .refine((given) => given.startsWith('-') && length.test(given.slice(1)))
  .describe('how long before clock.now: -2h');
const time = z.union([moment, ago], {
  error: 'write a time in UTC, such as 2026-11-02T09:00:00Z, or how long before clock.now, such as -2h',
});
/** Name by which other parts of the scenario refer to a record. */
const name = z
  .string()
  .regex(/^[A-Za-z][\w.-]{0,63}$/, 'a name has letters, digits, . _ and -, and begins with a letter');
const cents = z.int('write whole cents: 1999 for $19.99').min(0).max(maxSandboxWalletCents);
const speed = z.number().min(1e-9).max(1000);
const errorType = z.enum(
  Object.keys(errorTypes) as [keyof typeof errorTypes, ...(keyof typeof errorTypes)[]],
);
const key = name.optional().describe('whose it is: the name of a key; the first one where it is left out');

const returned = {
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
const upload = {
  filename: filled.optional(),
  rows: z.array(z.record(z.string(), cell)).min(1).max(limits.many),
  notify_on_complete: z.boolean().optional(),
};

type Kind = 'order' | 'return' | 'batch' | 'account' | 'any';

/**
 * The kind of record that each step creates and names with `as`. Requests and triggers are missing here, because the
 * kind of their records is not known in advance.
 */
const madeBy = { order: 'order', cancel: 'order', return: 'return', upload: 'batch' } as const;

/** Maximum number of known names that an error about an unknown name lists. */
const maxListed = 10;

/**
 * Rejects duplicate ids, and references to names that are not defined before them, because such a scenario cannot be
 * played.
 */
function checkReferences(scenario: Scenario, context: z.core.$RefinementCtx): void {
  const { keys, accounts, orders, returns, batches, steps, expect } = scenario;
  const report = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: 'custom', path, message });

  const unique = (section: string, rows: readonly object[], field: string): void => {
    const seen = new Set<string>();
    for (const [index, row] of rows.entries()) {
      const given: unknown = Reflect.get(row, field);
      if (typeof given !== 'string') continue;
      const id = field === 'id' ? given.toLowerCase() : given;
      if (seen.has(id)) report([section, index, field], `is that of another of the ${section} already`);
      seen.add(id);
    }
  };
  for (const [section, rows] of Object.entries({ keys, accounts, orders, returns }))
    unique(section, rows, 'id');
  unique('keys', keys, 'key');
  unique('accounts', accounts, 'short_id');

  const names = new Map<string, Kind>();
  const call = (kind: Kind, rows: readonly { readonly name?: string | undefined }[]): void => {
    for (const { name } of rows) if (name !== undefined) names.set(name, kind);
  };
  const refer = (kind: Kind, given: string | undefined, path: (string | number)[]): void => {
    if (given === undefined || uuid.safeParse(given).success) return;
    const found = names.get(given);
    if (found !== undefined && (kind === 'any' || found === 'any' || found === kind)) return;
    const known = [...names].flatMap(([name, of]) =>
      kind === 'any' || of === 'any' || of === kind ? [name] : [],
    );
    const listed = known.slice(0, maxListed).join(', ') + (known.length > maxListed ? ' …' : '');
    const what = kind === 'any' ? 'nothing' : `no ${kind}`;
    report(path, `${what} is called "${given}" by then; names are ${listed || 'none'}`);
  };
  const target = (line: string | undefined, path: (string | number)[]): void => {
    for (const [, name = ''] of (line ?? '').matchAll(/\{([^{}]{0,100})\}/g))
      if (!Object.hasOwn(scenarioAddresses, name)) refer('any', name, path);
  };

  call('account', accounts);
  call('order', orders);
  for (const [index, row] of returns.entries()) refer('order', row.order, ['returns', index, 'order']);
  call('return', returns);
  call('batch', batches);
  for (const [index, step] of steps.entries()) {
    const path = ['steps', index];
    refer('order', step.cancel, [...path, 'cancel']);
    refer('order', step.return?.order, [...path, 'return', 'order']);
    const happensTo = step.trigger && sandboxTriggers[step.trigger].target;
    if (happensTo === 'order' || happensTo === 'return') refer(happensTo, step.of, [...path, 'of']);
    target(step.request, [...path, 'request']);
    const [, made = 'any'] = Object.entries(madeBy).find(([kind]) => Object.hasOwn(step, kind)) ?? [];
    if (step.as !== undefined) names.set(step.as, made as Kind);
  }
  const wallets = keys.length > 0 ? keys.map(({ name }) => name) : ['default'];
  for (const [index, check] of expect.entries()) {
    const path = ['expect', index];
    refer('order', check.order, [...path, 'order']);
    refer('return', check.return, [...path, 'return']);
    refer('batch', check.batch, [...path, 'batch']);
    refer('order', check.webhooks, [...path, 'webhooks']);
    target(check.request, [...path, 'request']);
    if (check.wallet !== undefined && !wallets.includes(check.wallet))
      report([...path, 'wallet'], `there is no key "${check.wallet}"; names are ${wallets.join(', ')}`);
  }
}

const triggers = Object.keys(sandboxTriggers) as [keyof typeof sandboxTriggers];

/**
 * Values that a response is expected to have. An object lists required fields. A list must match element by element.
 * Any other value must be equal.
 */
const expected = z
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

const ScenarioStep = z
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
    expect: expected.optional().describe('the response; success where it is left out'),
  })
  .superRefine((step, context) => {
    if (!requireOne(step, stepKinds, 'a step', context)) return;
    belongs(step, context, { of: 'trigger', error_type: 'trigger', amount: 'trigger', body: 'request' });
  });

const checkKinds = ['order', 'return', 'wallet', 'batch', 'webhooks', 'request'] as const;

const ScenarioCheck = z
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

/** Amount in cents of a further credit to the wallet, or debit if negative. */
const amount = z.int('write whole cents: 1999 for $19.99').min(-1e12).max(1e12);

const ScenarioKey = z.strictObject({
  name,
  key: z
    .string()
    .regex(apiKeyPattern, 'a key has the form sbx_test_…')
    .optional()
    .describe('random where it is left out'),
  id: uuid.optional().describe('of its user'),
  email: z.email().optional(),
  balance: cents.optional().describe('what its wallet opens with, cents; $1,000 where it is left out'),
  created: time.optional(),
  used: time.optional().describe('when it was last used: it expires 7 days after'),
  lasting: z.boolean().optional().describe('never expires'),
  funded: list(z.strictObject({ at: time, amount })),
  claimed: z.strictObject({ by: z.email(), at: time }).optional(),
  webhook: httpUrl.optional().describe('where its events are sent from clock.now on'),
});

const ScenarioListing = z.strictObject({
  name: name.optional(),
  retailer: filled.describe('which of the retailers sells it: its kind decides what the listing has'),
  title: filled,
  price: z.int('write whole cents: 1999 for $19.99').min(1).max(1e9),
  price_at_checkout: z
    .int('write whole cents: 1999 for $19.99')
    .min(1)
    .max(1e9)
    .optional()
    .describe('what an order is charged; the price where it is left out'),
  currency: z.enum(['USD', 'EUR', 'GBP']).optional(),
  brand: filled.optional(),
  description: filled.optional(),
  bullets: z.array(text).max(limits.few).optional(),
  stars: z.number().min(0).max(5).optional(),
  reviews: z.int().min(0).optional(),
  available: z.boolean().default(true),
  stock: z.int().min(0).max(1e6).optional().describe('the most that one order can buy'),
  shipping: z.int().min(0).max(1e6).default(0).describe('cents'),
  gift: z.boolean().default(true).describe('whether it can be ordered as a gift'),
  outcome: filled
    .optional()
    .describe('what an order of it rehearses: a scenario of `errand sandbox products`'),
  variants: z
    .array(
      z.strictObject({
        choices: z.record(filled, filled),
        price: z.int().min(1).max(1e9).optional(),
        available: z.boolean().default(true),
      }),
    )
    .max(60)
    .default([]),
  offers: z
    .array(
      z.strictObject({
        seller: filled,
        price: z.int().min(1).max(1e9),
        condition: z.enum(productConditions).default('New'),
        ratings: z.int().min(0).default(0),
        positive: z.int().min(0).max(100).optional(),
      }),
    )
    .max(limits.few)
    .default([])
    .describe('other sellers of it, at the large marketplace'),
});

const ScenarioAccount = z.strictObject({
  name: name.optional(),
  key,
  id: uuid.optional(),
  short_id: filled.max(64).optional(),
  forwarding_email: z.email().optional(),
  email: z.email(),
  retailer: filled.optional(),
  password: filled.optional(),
  totp_secret: filled.optional(),
  retailer_config: metadata.optional(),
  created: time.optional(),
  updated: time.optional(),
  forwarded: time.optional().describe('when its first forwarded message arrived'),
});

const ScenarioOrder = z.strictObject({
  name: name.optional(),
  key,
  id: uuid.optional(),
  created: time.optional(),
  speed: speed.optional().describe('divides each delay of its life: 0.0001 makes hours of seconds'),
  order: OrderCreate(),
  state: z.enum(scenarioOrderStates).optional().describe('where it stands at clock.now'),
  error_type: errorType.optional().describe('with state order_failed: why'),
  events: z
    .array(z.strictObject({ at: time, event: z.enum(scenarioOrderEvents), error_type: errorType.optional() }))
    .max(limits.many)
    .optional()
    .describe('what was done to it, besides what happened by itself; without it, what its state takes'),
});

const ScenarioReturn = z.strictObject({
  name: name.optional(),
  id: uuid.optional(),
  created: time.optional(),
  speed: speed.optional(),
  ...returned,
  state: z.enum(scenarioReturnStates).optional().describe('where it stands at clock.now'),
  events: z
    .array(z.strictObject({ at: time, event: z.enum(['approved', 'denied', 'credited']) }))
    .max(limits.many)
    .optional(),
});

const ScenarioBatch = z.strictObject({ name: name.optional(), key, created: time.optional(), ...upload });

/** A scenario file: the initial state of the sandbox, the steps to perform, and the final assertions. */
export const Scenario = z
  .strictObject({
    version: z.literal(1),
    description: text.optional(),
    seed: z
      .union(
        [
          z
            .int()
            .min(0)
            .max(2 ** 31 - 1),
          z.string().regex(/^[0-9a-f]{64}$/),
        ],
        {
          error: 'write a whole number from 0 to 2147483647',
        },
      )
      .default(1)
      .describe('same seed, same ids, prices and outcomes'),
    clock: z
      .strictObject({
        now: moment
          .optional()
          .describe("the sandbox's time when it begins; that of the machine where it is left out"),
        frozen: z.boolean().optional().describe('only advancing moves it'),
        speed: z.number().min(1).max(1000).optional().describe('divides each delay of the life of an order'),
      })
      .default({}),
    faults: z.array(filled).max(limits.few).default([]).describe('as --fault writes them'),
    keys: list(ScenarioKey),
    listings: list(ScenarioListing),
    accounts: list(ScenarioAccount),
    orders: list(ScenarioOrder),
    returns: list(ScenarioReturn),
    batches: list(ScenarioBatch),
    ids: z
      .record(z.string().regex(/^[a-z_]{1,40}$/), z.int().min(0))
      .default({})
      .describe('how many ids of each kind were given out, so that the next are those that would have come'),
    steps: list(ScenarioStep).describe('what sandbox test does, one after the other'),
    expect: list(ScenarioCheck).describe('what must be true at the end'),
  })
  .superRefine((scenario, context) => {
    const { keys, accounts, orders, returns, batches, steps, listings } = scenario;
    const sections = { keys, accounts, orders, returns, batches, listings };
    const seen = new Set<string>();
    const take = (given: string | undefined, path: (string | number)[]): void => {
      if (given === undefined) return;
      if (seen.has(given))
        context.addIssue({ code: 'custom', path, message: `"${given}" names something else already` });
      seen.add(given);
    };
    for (const [section, rows] of Object.entries(sections))
      for (const [index, row] of rows.entries()) take(row.name, [section, index, 'name']);
    for (const [index, step] of steps.entries()) take(step.as, ['steps', index, 'as']);
    const known = new Set(keys.map((one) => one.name));
    const keyed = { accounts, orders, batches, steps, expect: scenario.expect };
    for (const [section, rows] of Object.entries(keyed))
      for (const [index, row] of rows.entries())
        if (row.key !== undefined && !known.has(row.key))
          context.addIssue({
            code: 'custom',
            path: [section, index, 'key'],
            message: `there is no key "${row.key}"; keys: names ${[...known].join(', ') || 'none'}`,
          });
    for (const [index, { state, error_type: errorType }] of orders.entries())
      if (errorType !== undefined && state !== 'order_failed')
        context.addIssue({
          code: 'custom',
          path: ['orders', index, 'error_type'],
          message: 'belongs to state order_failed',
        });
    if (scenario.clock.frozen && scenario.clock.now === undefined)
      context.addIssue({
        code: 'custom',
        path: ['clock', 'frozen'],
        message: 'needs clock.now: a clock that stands still stands at a time',
      });
    checkReferences(scenario, context);
  });

export type Scenario = z.output<typeof Scenario>;
