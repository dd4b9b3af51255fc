import type { ErrorType } from '../../api/error-types.ts';
import { textIn } from '../../api/json.ts';
import { keyMode } from '../../config/keys.ts';
import { InterruptedError } from '../../http/errors.ts';
import { paceFor, stateOf, untilValues, verdictOf } from '../../orders/watch-policy.ts';
import { Deadline, systemClock } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import { watch } from '../../platform/poll.ts';
import { aFunction, aSignal, aTime, checkOptions, type Rule } from './checks.ts';
import { partsOf } from './client-parts.ts';
import type { Client } from './client-types.ts';
import type { OrderResponse } from './wire.ts';

export interface WaitOptions {
  /** What to wait for: `placed`, the default, or `delivered`. */
  readonly until?: 'placed' | 'delivered' | undefined;
  /** Ends the wait. The order itself continues. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait at most, in ms. Without this option, there is no limit. */
  readonly timeoutMs?: number | undefined;
  /**
   * Time between two reads, in ms. By default, this is at least half a second with a test key. With a live key it is at
   * least two minutes, because a live order takes minutes to be placed.
   */
  readonly intervalMs?: number | undefined;
  /** Called with the order as first read, and then whenever its state has changed. A promise that it returns is awaited. */
  readonly onUpdate?: ((order: OrderResponse) => void) | undefined;
}

/** The order that was waited for has failed or was cancelled. */
export class OrderFailedError extends ErrandError {
  override readonly name = 'OrderFailedError';
  /** As last read. */
  readonly order: OrderResponse;

  constructor(order: OrderResponse, type: string | undefined) {
    const why = type === undefined ? '' : `: ${type}`;
    super('ended_badly', `the order ${order.id} is ${order.status}${why}`, { code: type, retryable: false });
    this.order = order;
  }

  /** Why the order failed. Undefined if the service does not say. */
  get type(): ErrorType | (string & {}) | undefined {
    return this.facts.code;
  }
}

/**
 * Reads an order repeatedly until it is placed or delivered. Continues after network outages.
 * @throws OrderFailedError if the order failed or was cancelled; ErrandError `deadline` if the time runs out first;
 * InterruptedError, with the signal's reason as its cause; UsageError; ServiceError if the order cannot be read.
 */
export async function waitFor(
  client: Client,
  orderId: string,
  options: WaitOptions = {},
): Promise<OrderResponse> {
  const parts = partsOf(client);
  checkOptions('waitFor', options, rules);
  const { until = 'placed', timeoutMs, intervalMs, onUpdate } = options;
  // Whoever closes the client, or aborts its calls, waits for nothing any more.
  const signal = AbortSignal.any(options.signal ? [options.signal, parts.signal] : [parts.signal]);
  const isRehearsal = keyMode(parts.apiKey) !== 'live';
  const pace =
    intervalMs === undefined ? paceFor(isRehearsal, timeoutMs) : { minMs: intervalMs, maxMs: intervalMs };
  let last: OrderResponse | undefined;
  async function* changes(): AsyncGenerator<OrderResponse> {
    const { body } = await client.call('order.get', { path: { order_id: orderId } }, { signal });
    if (last === undefined || stateOf(last) !== stateOf(body)) yield body;
    last = body;
  }
  const isOver = (): boolean => last !== undefined && verdictOf(last, until) !== 'waiting';
  const deadline = new Deadline(systemClock, timeoutMs);
  const hasResponded = (): boolean => last !== undefined;
  try {
    for await (const event of watch({
      check: changes,
      isOver,
      hasResponded,
      pace,
      deadline,
      clock: systemClock,
      signal,
    }))
      if ('id' in event) await onUpdate?.(event);
  } catch (error) {
    if (!signal.aborted || error instanceof ErrandError) throw error;
    throw new InterruptedError('interrupted', `waiting for the order ${orderId} was stopped; it goes on`, {
      cause: signal.reason,
    });
  }
  if (last && isOver()) {
    if (verdictOf(last, until) === 'reached') return last;
    throw new OrderFailedError(last, textIn(last.job_result, 'error_type'));
  }
  const message = `the order ${orderId} is ${last?.status ?? 'unread'} after ${(timeoutMs ?? 0) / 1000} s; it goes on`;
  throw new ErrandError('deadline', message, { code: 'wait_timeout', retryable: true });
}

const oneOf = (values: readonly string[]): Rule => ({
  takes: values.join(' or '),
  is: (value) => values.some((one) => one === value),
});

const rules = {
  until: oneOf(untilValues),
  signal: aSignal,
  timeoutMs: aTime('a number of milliseconds, at least 1'),
  intervalMs: aTime('a number of milliseconds, at least 1'),
  onUpdate: aFunction('a function'),
};
