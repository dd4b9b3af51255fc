import { systemClock } from '../../platform/clock.ts';
import { readRetryAfter } from '../send.ts';
import type { Transport } from './transport.ts';

/** A rate limit that several processes share. */
export interface RateLimiter {
  /**
   * Resolves when the next request may be sent.
   * @returns an id for the turn.
   * @throws TransportFailure if the rate limiter has ended or is unavailable.
   */
  turn(signal: AbortSignal): Promise<number>;
  /**
   * Reports that the service rejected the request of a turn because of rate limiting.
   * @param requestedMs is the wait that the service asked for.
   */
  refused(turn: number, requestedMs: number | undefined): Promise<void>;
  end(): void;
}

/** Rate limiter of a run; undefined if requests are not limited. */
export interface RateLimiterSlot {
  current: RateLimiter | undefined;
}

/** Sends each request, and each retry, when its turn comes. Without a rate limiter, sends immediately. */
export const pacedTransport = (transport: Transport, slot: RateLimiterSlot): Transport => ({
  async close() {
    slot.current?.end();
    await transport.close();
  },
  async send(request) {
    const { current } = slot;
    if (!current) return transport.send(request);
    const turn = await current.turn(request.signal);
    const response = await transport.send(request);
    if (response.status === tooMany)
      await current.refused(turn, readRetryAfter(response.headers, systemClock.now()));
    return response;
  },
});

const tooMany = 429;
