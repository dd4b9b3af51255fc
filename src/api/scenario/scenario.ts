import { z } from 'zod';
import { productConditions } from '../enums.ts';
import { apiKeyPattern } from '../limits.ts';
import { httpUrl, metadata, uuid } from '../schemas/fields.ts';
import { OrderCreate } from '../schemas/order-create.ts';
import {
  cents,
  errorType,
  filled,
  key,
  list,
  moment,
  most,
  name,
  returned,
  speed,
  text,
  time,
  upload,
} from './fields.ts';
import { checkReferences } from './references.ts';
import { ScenarioCheck, ScenarioStep } from './steps.ts';
import { scenarioOrderEvents, scenarioOrderStates, scenarioReturnStates } from './words.ts';

/** What came into a wallet besides, or left it; cents. */
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
  bullets: z.array(text).max(most.few).optional(),
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
    .max(most.few)
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
    .max(most.many)
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
    .max(most.many)
    .optional(),
});

const ScenarioBatch = z.strictObject({ name: name.optional(), key, created: time.optional(), ...upload });

/** A scenario file: what a sandbox begins with, what is done to it, and what must be true at the end. */
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
    faults: z.array(filled).max(most.few).default([]).describe('as --fault writes them'),
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
