import { describe, expect, test } from 'vitest';
import type { Approval } from '../../../src/journal/approval-row.ts';
import type { Intent } from '../../../src/journal/journal-record.ts';
import { type RequiredCoverage, shortfall } from '../../../src/spending/approval/covers.ts';
import { approvedAttemptKey } from '../../../src/spending/approval/further-attempts.ts';
import { type ApprovablePlan, subjectOf } from '../../../src/spending/approval/subject.ts';
import { intent } from '../../support/intents.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const batch: Intent = { ...intent('batch'), operation: 'bulk.create', body: { rows: [] } };
const plan: ApprovablePlan = { hash: 'a hash', cents: 10_000, summary: { orders: 3 } };

const approval = (given: ApprovablePlan): Approval => ({
  request: {
    errand_approval: 1,
    id: '0123456789ab',
    ...subjectOf([batch], { isRehearsal: false, plan: given }),
    total_cents: given.cents,
    rules: ['approve.above'],
    override: null,
    asked_by: 'ada@laptop',
    asked_at: new Date(now).toISOString(),
    expires_at: new Date(now + 1000).toISOString(),
  },
  state: 'approved',
  decidedAt: new Date(now).toISOString(),
  decidedBy: 'SHA256:…',
  signature: undefined,
});

const wanted = (cents: number, ...keys: string[]): RequiredCoverage => ({
  subject: subjectOf([batch], { isRehearsal: false, plan }),
  verdict: {
    outcome: 'needs_approval',
    policy: 'policy.yaml',
    orders: keys.length,
    amount_cents: cents,
    rules: [],
    rows: [],
  },
  keys: new Set(keys),
  now,
  lifetimeMs: 24 * 3600 * 1000,
});

const use = (key: string, cents: number) => ({ key, cents, orderId: undefined });

test('a plan is used part by part, up to its whole total', () => {
  const approved = approval(plan);
  expect(shortfall(approved, [], wanted(6000, 'a', 'b'))).toBeUndefined();
  const uses = [use('a', 3000), use('b', 3000)];
  expect(shortfall(approved, uses, wanted(4000, 'c'))).toBeUndefined();
  expect(shortfall(approved, uses, wanted(4001, 'c'))).toBe('has $40.00 left, and this takes $40.01');
  // Orders already counted are not counted twice.
  expect(shortfall(approved, uses, wanted(10_000, 'a', 'b', 'c'))).toBeUndefined();
  expect(shortfall(approved, [], wanted(10_001, 'a'))).toBe('covers $100.00, and this takes $100.01');
});

test('a plan that was altered, or shows something else, is another one', () => {
  expect(shortfall(approval({ ...plan, hash: 'another' }), [], wanted(100, 'a'))).toBe('is for another plan');
  expect(shortfall(approval({ ...plan, summary: { orders: 1 } }), [], wanted(100, 'a'))).toBe(
    'is for something else than it shows',
  );
});

describe('the approval of a single order', () => {
  const order: Intent = { ...intent('first'), operation: 'order.create' };
  const subject = subjectOf([order], { isRehearsal: false });
  const approved: Approval = { ...approval(plan), request: { ...approval(plan).request, ...subject } };
  const required = (key: string, more: Partial<RequiredCoverage> = {}): RequiredCoverage => ({
    ...wanted(6000, key),
    ...{ subject, ...more },
  });
  const { key: first } = order;
  const second = approvedAttemptKey(first, 2);

  test('covers its key once', () => {
    expect(shortfall(approved, [], required(first))).toBeUndefined();
    expect(shortfall(approved, [], required('another'))).toMatch(/^is for the idempotency key/);
    expect(shortfall(approved, [use(first, 6000)], required(second))).toMatch(/^was already used for/);
  });

  test('comes back for the next attempt once an order has failed, and until one is live', () => {
    const failed = new Set([first]);
    expect(shortfall(approved, [use(first, 6000)], required(second, { failed }))).toBeUndefined();
    expect(shortfall(approved, [use(first, 6000)], required('another', { failed }))).toMatch(/^is for the/);
    const uses = [use(first, 6000), use(second, 6000)];
    const third = approvedAttemptKey(first, 3);
    expect(shortfall(approved, uses, required(third, { failed }))).toMatch(/^was already used for/);
    expect(shortfall(approved, uses, required(third, { failed: new Set([first, second]) }))).toBeUndefined();
  });

  test('of a reference is bound to no key, since the service is looked at before each attempt', () => {
    const failed = new Set([first]);
    const attempt = required('of attempt 2', { failed, isReferenced: true });
    expect(shortfall(approved, [use(first, 6000)], attempt)).toBeUndefined();
    expect(shortfall(approved, [use(first, 6000)], { ...attempt, failed: new Set() })).toMatch(
      /^was already used/,
    );
  });
});

test('a plan is signed with what is new, and one that says nothing of that as before', () => {
  const [earlier, now] = [
    plan,
    {
      ...plan,
      attempts: [
        ['REQ-1', 1],
        ['REQ-2', 2],
      ] as const,
    },
  ].map((given) => subjectOf([batch], { isRehearsal: false, plan: given }));
  expect(earlier).toMatchObject({ parts: { plan: 'a hash' }, summary: { orders: 3 } });
  expect(Object.keys(earlier?.parts ?? {})).toEqual(['plan']);
  expect(now?.summary).toEqual({ orders: 3, needs: ['REQ-1', 'REQ-2 (attempt 2)'] });
  expect(
    shortfall(approval({ ...plan, attempts: [['REQ-1', 1]] }), [], {
      ...wanted(100, 'a'),
      subject: subjectOf([batch], { isRehearsal: false, plan: { ...plan, attempts: [['REQ-1', 2]] } }),
    }),
  ).toBe('is for other needs, or other attempts at them');
});
