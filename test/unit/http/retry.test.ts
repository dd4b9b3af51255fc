import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AttemptResult,
  defaultRetries,
  maxRetryAfterMs,
  nextAttempt,
  readRetryAfter,
} from '../../../src/http/send.ts';

const policies = ['safe', 'idempotency_key', 'never'] as const;
const anyPolicy = fc.constantFrom(...policies);
const temporaryStatus = fc.constantFrom(429, 500, 502, 503, 504);
const refusal = fc.integer({ min: 400, max: 499 }).filter((status) => status !== 429);
const lost = fc.record({
  sent: fc.constantFrom('not_sent' as const, 'unknown' as const),
  isPermanent: fc.constant(false),
});
const anyTried: fc.Arbitrary<AttemptResult> = fc.oneof(
  fc.record({
    status: fc.oneof(temporaryStatus, refusal),
    retryAfterMs: fc.option(fc.nat(200_000), { nil: undefined }),
  }),
  lost,
);
const anyRandom = fc.double({ min: 0, max: 1, noNaN: true }).map((value) => () => value);

describe('whether a request is sent again', () => {
  test('a refusal ends it, whatever the operation', () => {
    fc.assert(
      fc.property(anyPolicy, refusal, anyRandom, (retry, status, random) => {
        expect(nextAttempt({ retry }, { status }, 1, 0, {}, random)).toBe('stop');
      }),
    );
  });

  test('what must not happen twice is sent again only if it surely was not sent', () => {
    fc.assert(
      fc.property(anyTried, anyRandom, (tried, random) => {
        const next = nextAttempt({ retry: 'never' }, tried, 1, 0, {}, random);
        expect(next === 'stop').toBe(!('sent' in tried && tried.sent === 'not_sent'));
      }),
    );
  });

  test('reads and keyed orders go on after any loss and any temporary response', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('safe', 'idempotency_key'),
        fc.oneof(lost, fc.record({ status: temporaryStatus })),
        (retry, tried) => {
          expect(nextAttempt({ retry }, tried, 1, 0, {}, () => 0.5)).toBeTypeOf('number');
        },
      ),
    );
  });

  test('what cannot mend itself ends it', () => {
    expect(nextAttempt({ retry: 'safe' }, { sent: 'not_sent', isPermanent: true }, 1, 0, {}, () => 0)).toBe(
      'stop',
    );
  });

  test('the number of retries is kept, an order having one more than a read', () => {
    const attempts = (retry: (typeof policies)[number], retries?: number): number => {
      let attempt = 1;
      while (
        nextAttempt({ retry }, { sent: 'not_sent', isPermanent: false }, attempt, 0, { retries }, () => 0) !==
        'stop'
      )
        attempt += 1;
      return attempt;
    };
    expect(policies.map((policy) => attempts(policy))).toEqual(
      policies.map((policy) => defaultRetries[policy] + 1),
    );
    expect(attempts('safe')).toBe(4);
    expect(attempts('idempotency_key')).toBe(5);
    expect(attempts('safe', 0)).toBe(1);
    expect(attempts('idempotency_key', 7)).toBe(8);
  });
});

describe('the wait before the next try', () => {
  test('never ends at or after the deadline', () => {
    fc.assert(
      fc.property(
        anyPolicy,
        anyTried,
        fc.integer({ min: 1, max: 20 }),
        fc.nat(10_000),
        anyRandom,
        (retry, tried, attempt, left, random) => {
          const now = 1_000_000;
          const next = nextAttempt(
            { retry },
            tried,
            attempt,
            now,
            { retries: 20, deadline: now + left },
            random,
          );
          if (next !== 'stop') expect(next).toBeLessThan(left);
        },
      ),
    );
  });

  test('is at least what the service asks for, and at most a minute', () => {
    fc.assert(
      fc.property(
        fc.nat(200_000),
        fc.integer({ min: 1, max: 20 }),
        anyRandom,
        (retryAfterMs, attempt, random) => {
          const next = nextAttempt(
            { retry: 'safe' },
            { status: 429, retryAfterMs },
            attempt,
            0,
            { retries: 20 },
            random,
          );
          if (retryAfterMs > maxRetryAfterMs) expect(next).toBe('stop');
          else expect(next).toBeGreaterThanOrEqual(retryAfterMs);
          if (next !== 'stop') expect(next).toBeLessThanOrEqual(maxRetryAfterMs);
        },
      ),
    );
  });

  test('doubles its bound each time up to eight seconds, and is spread over all of it', () => {
    const wait = (attempt: number, random: number) =>
      nextAttempt({ retry: 'safe' }, { status: 503 }, attempt, 0, { retries: 99 }, () => random);
    expect([1, 2, 3, 4, 5, 6, 7, 40].map((attempt) => wait(attempt, 1))).toEqual([
      250, 500, 1000, 2000, 4000, 8000, 8000, 8000,
    ]);
    expect(wait(5, 0)).toBe(0);
    expect(wait(5, 0.5)).toBe(2000);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-21T10:00:00Z');

  test.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['a part of a second', { 'retry-after': '0.5' }, 500],
    ['a date', { 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT' }, 30_000],
    ['a date that has passed', { 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT' }, 0],
    [
      "a date against the response's own clock",
      { 'retry-after': 'Sat, 21 Nov 2026 12:00:05 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' },
      5000,
    ],
    ['nothing', {}, undefined],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['a year, say', { 'retry-after': '2026-11-21' }, undefined],
  ])('is read from %s', (_, headers, expected) => {
    expect(readRetryAfter(headers, now)).toBe(expected);
  });
});
