import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Deadline } from '../../../src/platform/clock.ts';
import { ErrandError } from '../../../src/platform/errors.ts';
import { nextPause, poll, watch } from '../../../src/platform/poll.ts';
import { instantClock } from '../../support/caller.ts';

const pace = { minMs: 500, maxMs: 30_000 };
const outage = new ErrandError('unavailable', 'no route to the service');

/** Node 20 has no Array.fromAsync. */
async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const event of events) found.push(event);
  return found;
}

test('a pause grows while nothing changes, and stays within its bounds', () => {
  fc.assert(
    fc.property(fc.nat(10_000), (quiet) => {
      const pause = nextPause(pace, quiet);
      expect(pause).toBeGreaterThanOrEqual(pace.minMs);
      expect(pause).toBeLessThanOrEqual(pace.maxMs);
      expect(nextPause(pace, quiet + 1)).toBeGreaterThanOrEqual(pause);
    }),
  );
});

describe('a poll', () => {
  const signal = new AbortController().signal;

  test('ends with the first value', async () => {
    const clock = instantClock();
    const values = [undefined, undefined, 'there', 'later'];
    const found = await poll(async () => values.shift(), {
      deadline: new Deadline(clock),
      everyMs: 1000,
      signal,
    });
    expect(found).toBe('there');
    expect(clock.slept).toEqual([1000, 1000]);
  });

  test('looks once more when the deadline passes, and then ends without a value', async () => {
    const clock = instantClock();
    let looks = 0;
    const look = async () => {
      looks += 1;
      return undefined;
    };
    expect(await poll(look, { deadline: new Deadline(clock, 2500), everyMs: 1000, signal })).toBeUndefined();
    expect(looks).toBe(4);
    expect(clock.slept).toEqual([1000, 1000, 500]);
  });

  test('throws the reason of the signal', async () => {
    const deadline = new Deadline(instantClock());
    const stopped = AbortSignal.abort(new Error('stopped'));
    await expect(poll(async () => undefined, { deadline, everyMs: 1, signal: stopped })).rejects.toThrow(
      'stopped',
    );
  });
});

describe('a watch', () => {
  /** Watches rounds of events; an error in a round ends it. */
  function watching(rounds: readonly (readonly (string | Error)[])[], timeoutMs?: number) {
    const clock = instantClock();
    const controller = new AbortController();
    const left = [...rounds];
    let hasAnswered = false;
    async function* look() {
      for (const event of left.shift() ?? []) {
        if (event instanceof Error) throw event;
        hasAnswered = true;
        yield event;
      }
    }
    const events = watch({
      check: look,
      isOver: () => left.length === 0,
      hasResponded: () => hasAnswered,
      pace,
      deadline: new Deadline(clock, timeoutMs),
      clock,
      signal: controller.signal,
    });
    return { events, clock, controller };
  }

  test('yields each change, and pauses for longer while there is none', async () => {
    const { events, clock } = watching([['a', 'b'], [], [], ['c']]);
    expect(await all(events)).toEqual(['a', 'b', 'c']);
    expect(clock.slept).toEqual([500, 750, 1125]);
  });

  test('goes on through a blip, and says how long it lasted', async () => {
    const { events } = watching([['a'], [outage], ['b', outage], ['c']]);
    expect(await all(events)).toEqual([
      'a',
      { type: 'gap', message: 'no route to the service' },
      'b',
      'c',
      { type: 'reconnected', gap_ms: 1250 },
    ]);
  });

  test('ends at the deadline', async () => {
    const { events, clock } = watching([[], [], [], []], 1000);
    expect(await all(events)).toEqual([]);
    expect(clock.slept).toEqual([750, 250]);
  });

  test.each([
    ['a refused key', new ErrandError('authentication', 'no such key')],
    ['what is no error of the service', new TypeError('a bug')],
    [
      'what stays as it is, of a service that has never responded',
      new ErrandError('unavailable', 'HTML', { retryable: false }),
    ],
  ])('ends with %s', async (_, error) => {
    const { events } = watching([[error], ['never']]);
    await expect(all(events)).rejects.toBe(error);
  });

  test('ends with the reason of the signal, not with what the interruption broke', async () => {
    const { events, controller } = watching([['a', outage], ['never']]);
    await events.next();
    controller.abort(new Error('stopped'));
    await expect(events.next()).rejects.toThrow('stopped');
  });
});
