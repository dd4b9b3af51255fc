import { operations } from '../../api/operations/index.ts';
import type { Scenario } from '../../api/scenario/scenario.ts';
import { realMs } from '../../platform/clock.ts';
import { parseDuration } from '../../platform/duration.ts';
import { placeRows } from '../bulk/place-rows.ts';
import { runDueTransitions } from '../control/due-transitions.ts';
import { findOrder } from '../orders/records.ts';
import { findReturn } from '../returns/records.ts';
import type { Service } from '../server/service.ts';
import { readDeliveriesOf } from '../webhooks/read.ts';
import { stateOf } from './course.ts';
import type { Played } from './play.ts';
import {
  errorIn,
  fieldOf,
  idIn,
  isSuccess,
  itemsOf,
  keyOf,
  type Reply,
  requestParts,
  type Send,
  type Stage,
} from './stage.ts';

type Step = Scenario['steps'][number];
type Check = Scenario['expect'][number];

/** Result of a step or check of a scenario. */
export interface Outcome {
  readonly section: 'steps' | 'expect';
  /** Zero-based. */
  readonly index: number;
  readonly what: string;
  readonly status: 'held' | 'failed' | 'skipped';
  readonly differences: readonly Difference[];
  /** Duration, ms of real time. */
  readonly durationMs: number;
}

interface Rehearsing {
  readonly service: Service;
  readonly played: Played;
  /** Sends requests as a client would. Faults apply to these requests. */
  readonly send: Send;
  /** Fires a trigger on behalf of a key, bypassing all faults. */
  readonly trigger: (body: object, apiKey: string) => Promise<Reply>;
  readonly advance: (ms: number) => Promise<unknown>;
}

/** Maximum time, in days, by which one step of a scenario may advance the clock. */
const maxDays = 100_000;
/** Time budget, in ms of real time, for placing batch rows. Placing never takes this long. */
const placingBudgetMs = 10 * 60_000;
/** Maximum number of deliveries examined per order. */
const maxDeliveries = 1_000;

/**
 * Runs a scenario's steps in order, then its final checks. Skips everything after a failed step, because further
 * failures would only follow from that failure.
 */
export async function* rehearse(
  { steps, expect }: Pick<Scenario, 'steps' | 'expect'>,
  rehearsing: Rehearsing,
): AsyncGenerator<Outcome> {
  const stage = stageOf(rehearsing);
  let isBroken = false;
  const outcomeOf = async (
    section: Outcome['section'],
    index: number,
    what: string,
    work: () => Promise<Difference[]>,
  ): Promise<Outcome> => {
    const startedAt = realMs();
    const found = isBroken ? [] : await work();
    const status = isBroken ? 'skipped' : found.length > 0 ? 'failed' : 'held';
    return { section, index, what, status, differences: found, durationMs: realMs() - startedAt };
  };
  for (const [index, step] of steps.entries()) {
    const outcome = await outcomeOf('steps', index, stepText(step), () => perform(stage, rehearsing, step));
    yield outcome;
    isBroken ||= outcome.status === 'failed';
  }
  for (const [index, check] of expect.entries()) {
    yield await outcomeOf('expect', index, checkText(check), () => examine(stage, check));
  }
}

const stageOf = ({ service, played, send }: Rehearsing): Stage => ({
  service,
  names: played.names,
  keys: new Map(played.keys.map((key) => [key.name, key])),
  send,
  setSpeed: () => {},
});

function stepText({ as, ...step }: Step): string {
  const named = as === undefined ? '' : ` as ${as}`;
  if (step.order) return `order${named}`;
  if (step.cancel !== undefined) return `cancel ${step.cancel}`;
  if (step.return) return `return ${step.return.order}${named}`;
  if (step.upload) return `upload ${step.upload.rows.length} rows${named}`;
  if (step.trigger !== undefined) return `trigger ${[step.trigger, step.of].filter(Boolean).join(' ')}`;
  return step.advance === undefined ? `${step.request}${named}` : `advance ${step.advance}`;
}

function checkText(check: Check): string {
  const { order, return: returned, wallet, batch, webhooks, request, state } = check;
  const is = state === undefined ? '' : ` is ${state}`;
  if (order !== undefined) return `order ${order}${is}`;
  if (returned !== undefined) return `return ${returned}${is}`;
  if (wallet !== undefined) return `wallet ${wallet}`;
  if (batch !== undefined) return `batch ${batch}`;
  return webhooks === undefined ? (request ?? '') : `webhooks of ${webhooks}`;
}

async function perform(stage: Stage, rehearsing: Rehearsing, step: Step): Promise<Difference[]> {
  if (step.advance !== undefined) {
    await rehearsing.advance(parseDuration(step.advance, 'advance', maxDays));
    return [];
  }
  const reply = await replyTo(stage, rehearsing, step);
  const id = idIn(reply);
  if (id !== undefined && isSuccess(reply)) stage.names.set(step.as, id);
  return compared(stage, step.expect, reply);
}

function replyTo(stage: Stage, { trigger }: Rehearsing, step: Step): Promise<Reply> {
  const { names, send } = stage;
  const { apiKey } = keyOf(stage, step.key);
  const post = (target: string, body: unknown): Promise<Reply> =>
    send({ method: 'POST', target, apiKey, body: names.filled(body) });
  if (step.order) {
    const account = step.order.retailer_credentials_id;
    const named =
      account == null ? step.order : { ...step.order, retailer_credentials_id: names.idOf(account) };
    return post(operations['order.create'].path, named);
  }
  if (step.cancel !== undefined)
    return post(operations['order.cancel'].path.replace('{order_id}', names.idOf(step.cancel)), undefined);
  if (step.return) {
    const { order, items, reason, notes } = step.return;
    const id = names.idOf(order);
    const body = {
      order_id: id,
      items: itemsOf(stage, id, items),
      reason,
      ...(notes !== undefined && { notes }),
    };
    return post(operations['return.create'].path, body);
  }
  if (step.upload) return post(operations['bulk.create'].path, step.upload);
  if (step.trigger !== undefined) {
    const { error_type, amount, of } = step;
    const id = of === undefined ? undefined : names.idOf(of);
    return trigger({ event: step.trigger, id, error_type, amount }, apiKey);
  }
  const { method, target } = requestParts(names.filled(step.request ?? ''));
  return send({ method, target, apiKey, body: names.filled(step.body) });
}

/** Compares a response with the expected response. If nothing is expected, any successful response passes. */
function compared({ names }: Stage, expected: Step['expect'], reply: Reply): Difference[] {
  const { status, code, body } = expected ?? {};
  if (status === undefined && code === undefined && !isSuccess(reply)) {
    const { message, field } = errorIn(reply);
    const detail = field.length > 0 ? `${field.join('.')}: ${message}` : message;
    return [{ field: '', expected: 'success', actual: `${reply.status} ${detail}` }];
  }
  return [
    ...(status === undefined ? [] : differences({ status }, { status: reply.status })),
    ...(code === undefined ? [] : differences({ code }, { code: fieldOf(reply.value, 'code') })),
    ...(body === undefined ? [] : differences(names.filled(body), reply.value)),
  ];
}

async function examine(stage: Stage, check: Check): Promise<Difference[]> {
  const { service, names, send } = stage;
  const { store } = service;
  const now = service.clock.now();
  await placeRows(service, now, placingBudgetMs);
  await runDueTransitions(service, now);
  const { apiKey } = keyOf(stage, check.wallet ?? check.key);
  const get = (target: string): Promise<Reply> => send({ method: 'GET', target, apiKey });
  const missing = (what: string): Difference[] => [{ field: '', expected: what, actual: undefined }];
  if (check.order !== undefined) {
    const record = findOrder(store, names.idOf(check.order), null)?.record;
    return record ? ofRecord(stage, check, stateOf(record), record) : missing(`order ${check.order}`);
  }
  if (check.return !== undefined) {
    const id = names.idOf(check.return);
    const found = [...stage.keys.values()]
      .map(({ userId }) => findReturn(store, id, userId)?.record)
      .find((record) => record !== undefined);
    return found ? ofRecord(stage, check, found.status, found) : missing(`return ${check.return}`);
  }
  if (check.webhooks !== undefined) {
    const sent = readDeliveriesOf(store, names.idOf(check.webhooks), maxDeliveries);
    return differences({ events: check.events }, { events: sent.map(({ event }) => event).toReversed() });
  }
  if (check.request !== undefined) {
    const { method, target } = requestParts(names.filled(check.request));
    return compared(stage, check, await send({ method, target, apiKey }));
  }
  const target =
    check.batch === undefined
      ? operations['wallet.get'].path
      : operations['bulk.get'].path.replace('{batch_id}', names.idOf(check.batch));
  return compared(stage, { body: check.body }, await get(target));
}

function ofRecord({ names }: Stage, { state, body }: Check, reached: string, record: object): Difference[] {
  return [
    ...(state === undefined ? [] : differences({ state }, { state: reached })),
    ...(body === undefined ? [] : differences(names.filled(body), record)),
  ];
}

/** A mismatch between expected and actual value. */
interface Difference {
  /** Path such as `items.0.status`. The path is empty if the whole values differ. */
  readonly field: string;
  readonly expected: unknown;
  /** undefined if the field is missing. */
  readonly actual: unknown;
}

/** Maximum number of differences reported per check. */
const maxReported = 20;

/**
 * Compares a value with the expected value. Objects may have additional fields, but arrays must match in every element.
 */
const differences = (expected: unknown, actual: unknown): Difference[] =>
  [...compare(expected, actual, [])].slice(0, maxReported);

function* compare(expected: unknown, actual: unknown, path: readonly string[]): Generator<Difference> {
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    for (const [index, one] of expected.entries())
      yield* compare(one, actual[index], [...path, String(index)]);
    return;
  }
  if (isRecord(expected) && isRecord(actual)) {
    for (const [field, one] of Object.entries(expected))
      yield* compare(one, Object.hasOwn(actual, field) ? actual[field] : undefined, [...path, field]);
    return;
  }
  if (expected === actual) return;
  yield { field: path.join('.'), expected, actual };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
