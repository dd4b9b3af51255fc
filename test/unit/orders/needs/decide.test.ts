import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Attempt, AttemptState } from '../../../../src/journal/attempts.ts';
import {
  type ComparedAttempt,
  type Decision,
  type Door,
  decide,
  type NeedRequest,
  type Statement,
} from '../../../../src/orders/needs/decide.ts';
import { isWithin, windowsFor } from '../../../../src/orders/needs/windows.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const now = Date.parse('2026-06-01T12:00:00Z');
const reference = { namespace: 'shop', text: 'R-1' };

let serial = 0;
/** A single, alike, unreferenced live order from an hour ago whose state was just read. */
const attempt = (change: Partial<ComparedAttempt> = {}): ComparedAttempt => {
  serial += 1;
  return {
    ...{ serial, run: undefined, number: 1, key: `k${serial}`, operation: 'order.create', upload: undefined },
    ...{ orderId: `o${serial}`, state: 'placed', madeAt: now - hour, seenAt: now, reference: undefined },
    likeness: 'alike',
    ...change,
  };
};
const row = (change: Partial<ComparedAttempt> = {}): ComparedAttempt =>
  attempt({ operation: 'bulk.create', upload: 'may.csv', ...change });
const named = (change: Partial<ComparedAttempt> = {}): ComparedAttempt => attempt({ reference, ...change });

const requested = (
  door: Door,
  statement: Statement = {},
  change: Partial<NeedRequest> = {},
): NeedRequest => ({
  ...{
    need: { reference: undefined },
    door,
    statement,
    windows: windowsFor('live'),
    now,
    freshSince: now - minute,
  },
  ...change,
});
const byReference = (door: Door, statement: Statement = {}, change: Partial<NeedRequest> = {}): NeedRequest =>
  requested(door, statement, { need: { reference }, listedAt: now - minute, ...change });

/** Formats a decision as its action and reason. */
const inWords = (decision: Decision): string => {
  if (decision.do === 'send')
    return `send ${decision.number}${decision.after ? ` after ${decision.after.state}` : ''}`;
  if (decision.do === 'look') return `look at ${decision.at}`;
  return decision.do === 'adopt' ? `adopt by ${decision.by}` : `${decision.do}: ${decision.why}`;
};

type Case = readonly [
  what: string,
  request: NeedRequest,
  attempts: readonly ComparedAttempt[],
  decision: string,
];

const cases: readonly Case[] = [
  // Without a reference and without attempts.
  ['nothing is known', requested('script'), [], 'send 1'],
  // A live attempt, by door.
  ['terminal, alike', requested('terminal'), [attempt()], 'ask: alike'],
  ['script, alike', requested('script'), [attempt()], 'refuse: alike'],
  ['library, alike', requested('library'), [attempt()], 'refuse: alike'],
  ['MCP, alike', requested('mcp'), [attempt()], 'refuse: alike'],
  ['upload, alike', requested('upload'), [row()], 'refuse: alike'],
  ['plan, alike', requested('plan'), [row()], 'refuse: alike'],
  ['retry, alike', requested('retry'), [row()], 'refuse: alike'],
  ['other doors, alike', requested('other'), [attempt()], 'refuse: alike'],
  ['alike with a reference of its own', requested('script'), [named()], 'refuse: alike'],
  ['unlike', requested('script'), [attempt({ likeness: 'unlike' })], 'send 1'],
  // Explicit statements.
  ['--new', requested('script', { isNew: true }), [attempt()], 'send 1'],
  ['--new, in doubt', requested('script', { isNew: true }), [attempt({ state: 'intended' })], 'send 1'],
  ['MCP, new', requested('mcp', { isNew: true }), [attempt()], 'send 1'],
  [
    'MCP, new, in doubt',
    requested('mcp', { isNew: true }),
    [attempt({ state: 'intended' })],
    'refuse: in_doubt',
  ],
  ['upload --skip-duplicates', requested('upload', { skipDuplicates: true }), [row()], 'adopt by likeness'],
  ['upload --run, alike in no run', requested('upload', { run: 'june' }), [row()], 'send 1'],
  [
    'upload --run, alike in another run',
    requested('upload', { run: 'june' }),
    [row({ run: 'may' })],
    'send 1',
  ],
  [
    'upload --run, alike in that run',
    requested('upload', { run: 'may' }),
    [row({ run: 'may' })],
    'refuse: alike',
  ],
  [
    'upload --run, the same row of that run',
    requested('upload', { run: 'may' }, { key: 'r1' }),
    [row({ run: 'may', key: 'r1' })],
    'adopt by key',
  ],
  [
    'the same row of the same upload',
    requested('upload', {}, { key: 'r1' }),
    [row({ key: 'r1' })],
    'adopt by key',
  ],
  ['agreed to', requested('terminal', { agreed: new Set(['k']) }), [attempt({ key: 'k' })], 'send 1'],
  [
    'agreed to, and one that came since',
    requested('terminal', { agreed: new Set(['k']) }),
    [attempt({ key: 'k' }), attempt()],
    'ask: alike',
  ],
  ['a key of the caller', requested('script', {}, { hasOwnKey: true }), [attempt()], 'send 1'],
  // Windows.
  ['single, 12 h ago', requested('script'), [attempt({ madeAt: now - 12 * hour })], 'refuse: alike'],
  ['single, longer ago', requested('script'), [attempt({ madeAt: now - 12 * hour - 1 })], 'send 1'],
  ['from the future', requested('script'), [attempt({ madeAt: now + day })], 'refuse: alike'],
  ['row, 6 d ago', requested('upload'), [row({ madeAt: now - 6 * day })], 'refuse: alike'],
  ['row, longer ago', requested('upload'), [row({ madeAt: now - 6 * day - 1 })], 'send 1'],
  [
    'a single order after a row of 6 d ago',
    requested('script'),
    [row({ madeAt: now - 6 * day })],
    'refuse: alike',
  ],
  [
    'a row after a single order of 6 d ago',
    requested('upload'),
    [attempt({ madeAt: now - 6 * day })],
    'refuse: alike',
  ],
  [
    'in doubt, long ago',
    requested('script'),
    [attempt({ state: 'intended', madeAt: now - 300 * day })],
    'refuse: in_doubt',
  ],
  [
    'test key, ten minutes ago',
    requested('script', {}, { windows: windowsFor('test') }),
    [attempt({ madeAt: now - 10 * minute })],
    'refuse: alike',
  ],
  [
    'test key, longer ago',
    requested('script', {}, { windows: windowsFor('test') }),
    [attempt({ madeAt: now - 11 * minute })],
    'send 1',
  ],
  [
    'test key, rows',
    requested('upload', {}, { windows: windowsFor('test') }),
    [row({ madeAt: now - 5 * day })],
    'refuse: alike',
  ],
  [
    'in process',
    requested('library', {}, { windows: windowsFor('in_process') }),
    [attempt({ madeAt: now })],
    'send 1',
  ],
  [
    'in process, in doubt',
    requested('library', {}, { windows: windowsFor('in_process') }),
    [attempt({ state: 'intended' })],
    'refuse: in_doubt',
  ],
  [
    'a window of the user',
    requested('script', {}, { windows: windowsFor('live', 2 * hour) }),
    [attempt({ madeAt: now - 3 * hour })],
    'send 1',
  ],
  [
    'no window',
    requested('script', {}, { windows: windowsFor('live', 0) }),
    [attempt({ madeAt: now })],
    'send 1',
  ],
  // Attempts to look up first.
  ['its state was read before', requested('script'), [attempt({ seenAt: now - hour })], 'look at attempts'],
  ['its state was never read', requested('script'), [attempt({ seenAt: undefined })], 'look at attempts'],
  [
    'in doubt, not looked at',
    requested('script'),
    [attempt({ state: 'intended', seenAt: undefined })],
    'look at attempts',
  ],
  [
    'unknown, not looked at',
    requested('script'),
    [attempt({ state: 'unknown', seenAt: undefined })],
    'look at attempts',
  ],
  ['unknown, not found', requested('script'), [attempt({ state: 'unknown' })], 'refuse: unknown'],
  [
    'unknown, not found, on a terminal',
    requested('terminal'),
    [attempt({ state: 'unknown' })],
    'refuse: unknown',
  ],
  [
    'unknown, not found, --new',
    requested('script', { isNew: true }),
    [attempt({ state: 'unknown' })],
    'send 1',
  ],
  [
    'unknown from before the window',
    requested('script'),
    [attempt({ state: 'unknown', madeAt: now - day, seenAt: undefined })],
    'send 1',
  ],
  [
    'never sent',
    requested('script'),
    [attempt({ state: 'unsent', seenAt: undefined, orderId: undefined })],
    'send 1',
  ],
  // Ended attempts.
  ['failed', requested('script'), [attempt({ state: 'failed' })], 'send 2 after failed'],
  [
    'failed before the window',
    requested('script'),
    [attempt({ state: 'failed', madeAt: now - day })],
    'send 1',
  ],
  [
    'refused at creation',
    requested('script'),
    [attempt({ state: 'failed', orderId: undefined })],
    'send 1 after failed',
  ],
  ['failed, and live since', requested('script'), [attempt({ state: 'failed' }), attempt()], 'refuse: alike'],
  [
    'cancelled, typed again',
    requested('terminal'),
    [attempt({ state: 'cancelled' })],
    'send 2 after cancelled',
  ],
  [
    'cancelled, by a script',
    requested('script'),
    [attempt({ state: 'cancelled' })],
    'send 2 after cancelled',
  ],
  ['cancelled, by the library', requested('library'), [attempt({ state: 'cancelled' })], 'refuse: cancelled'],
  ['cancelled, by MCP', requested('mcp'), [attempt({ state: 'cancelled' })], 'refuse: cancelled'],
  ['cancelled, in a file', requested('upload'), [row({ state: 'cancelled' })], 'refuse: cancelled'],
  ['cancelled, by retry', requested('retry'), [row({ state: 'cancelled' })], 'refuse: cancelled'],
  [
    'cancelled, --again',
    requested('upload', { again: true }),
    [row({ state: 'cancelled' })],
    'send 2 after cancelled',
  ],
  ['returned, typed again', requested('terminal'), [attempt({ state: 'returned' })], 'refuse: returned'],
  [
    'returned, --again',
    requested('script', { again: true }),
    [attempt({ state: 'returned' })],
    'send 2 after returned',
  ],
  [
    'returned, --new',
    requested('script', { isNew: true }),
    [attempt({ state: 'returned' })],
    'send 2 after returned',
  ],
  [
    'returned, bought again, failed',
    requested('script'),
    [attempt({ state: 'returned' }), attempt({ state: 'failed', madeAt: now - minute })],
    'send 3 after failed',
  ],
  [
    'returned, and a request that was rejected since',
    requested('script'),
    [attempt({ state: 'returned' }), attempt({ state: 'failed', orderId: undefined, madeAt: now - minute })],
    'refuse: returned',
  ],
  [
    'failed, bought again, returned',
    requested('script'),
    [attempt({ state: 'failed' }), attempt({ state: 'returned', madeAt: now - minute })],
    'refuse: returned',
  ],
  // Overlapping products.
  ['overlap on a terminal', requested('terminal'), [attempt({ likeness: 'overlap' })], 'ask: overlaps'],
  ['overlap in a script', requested('script'), [attempt({ likeness: 'overlap' })], 'refuse: overlaps'],
  [
    'overlap in a file',
    requested('upload', { skipDuplicates: true }),
    [row({ likeness: 'overlap' })],
    'refuse: overlaps',
  ],
  [
    'overlap from before the window',
    requested('script'),
    [attempt({ likeness: 'overlap', madeAt: now - day })],
    'send 1',
  ],
  ['overlap that failed', requested('script'), [attempt({ likeness: 'overlap', state: 'failed' })], 'send 1'],
  ['overlap, --new', requested('script', { isNew: true }), [attempt({ likeness: 'overlap' })], 'send 1'],
  // By reference.
  ['reference, no look yet', byReference('script', {}, { listedAt: undefined }), [], 'look at reference'],
  [
    'reference, a look too long ago',
    byReference('script', {}, { listedAt: now - hour - 1 }),
    [],
    'look at reference',
  ],
  [
    'reference, listed nowhere',
    byReference('other', {}, { listedAt: undefined, isUnlisted: true }),
    [],
    'send 1',
  ],
  ['reference, nothing there', byReference('script'), [], 'send 1'],
  ['terminal, reference', byReference('terminal'), [named()], 'adopt by reference'],
  ['script, reference', byReference('script'), [named()], 'adopt by reference'],
  ['library, reference', byReference('library'), [named()], 'adopt by reference'],
  ['MCP, reference', byReference('mcp'), [named()], 'refuse: exists'],
  ['upload, reference', byReference('upload'), [named()], 'adopt by reference'],
  ['standing order, reference', byReference('standing'), [named()], 'adopt by reference'],
  [
    'script, other content',
    byReference('script'),
    [named({ likeness: 'unlike', differs: true })],
    'refuse: differs',
  ],
  ['upload, other content', byReference('upload'), [named({ differs: true })], 'refuse: differs'],
  ['MCP, other content', byReference('mcp'), [named({ differs: true })], 'refuse: differs'],
  ['script, 30 days ago', byReference('script'), [named({ madeAt: now - 30 * day })], 'adopt by reference'],
  ['script, longer ago', byReference('script'), [named({ madeAt: now - 30 * day - 1 })], 'refuse: old'],
  ['upload, a year ago', byReference('upload'), [named({ madeAt: now - 365 * day })], 'adopt by reference'],
  ['its state was read before', byReference('script'), [named({ seenAt: now - hour })], 'look at attempts'],
  ['in doubt by reference', byReference('script'), [named({ state: 'intended' })], 'refuse: in_doubt'],
  [
    'in doubt by reference, other content',
    byReference('script'),
    [named({ state: 'intended', differs: true })],
    'refuse: in_doubt',
  ],
  [
    'in doubt by reference, not looked at',
    byReference('script'),
    [named({ state: 'intended', seenAt: undefined })],
    'look at attempts',
  ],
  ['unknown by reference', byReference('script'), [named({ state: 'unknown' })], 'refuse: unknown'],
  [
    'unknown by reference, --again',
    byReference('script', { again: true }),
    [named({ state: 'unknown' })],
    'send 1',
  ],
  ['unknown row', requested('upload'), [attempt({ state: 'unknown' })], 'refuse: unknown'],
  ['unknown row, --again', requested('upload', { again: true }), [attempt({ state: 'unknown' })], 'send 1'],
  [
    'unknown, single, --again',
    requested('script', { again: true }),
    [attempt({ state: 'unknown' })],
    'refuse: unknown',
  ],
  ['two live', byReference('script'), [named(), named()], 'refuse: two_live'],
  [
    'one live, known twice',
    byReference('script'),
    [named({ orderId: 'O1' }), named({ orderId: 'o1', seenAt: now + 1 })],
    'adopt by reference',
  ],
  [
    'one order, known as live and as ended',
    byReference('script'),
    [named({ orderId: 'o1', state: 'failed' }), named({ orderId: 'o1' })],
    'adopt by reference',
  ],
  ['failed by reference', byReference('script'), [named({ state: 'failed' })], 'send 2 after failed'],
  [
    'failed by reference, other content',
    byReference('upload'),
    [named({ state: 'failed', likeness: 'unlike' })],
    'send 2 after failed',
  ],
  [
    'failed by reference, a year ago',
    byReference('upload'),
    [named({ state: 'failed', madeAt: now - 365 * day })],
    'send 2 after failed',
  ],
  [
    'refused at creation by reference',
    byReference('upload'),
    [named({ state: 'failed', orderId: undefined })],
    'send 1 after failed',
  ],
  [
    'two failed',
    byReference('script'),
    [named({ state: 'failed' }), named({ state: 'failed', number: 2 })],
    'send 3 after failed',
  ],
  [
    'cancelled by reference, typed again',
    byReference('script'),
    [named({ state: 'cancelled' })],
    'send 2 after cancelled',
  ],
  [
    'cancelled by reference, in a file',
    byReference('upload'),
    [named({ state: 'cancelled' })],
    'refuse: cancelled',
  ],
  [
    'cancelled by reference, and a row that was rejected since',
    byReference('upload'),
    [named({ state: 'cancelled' }), named({ state: 'failed', orderId: undefined, madeAt: now - minute })],
    'refuse: cancelled',
  ],
  [
    'cancelled by reference, standing order',
    byReference('standing'),
    [named({ state: 'cancelled' })],
    'refuse: cancelled',
  ],
  ['returned by reference', byReference('script'), [named({ state: 'returned' })], 'refuse: returned'],
  [
    'returned by reference, --again',
    byReference('upload', { again: true }),
    [named({ state: 'returned' })],
    'send 2 after returned',
  ],
  [
    'cancelled, bought again',
    byReference('upload'),
    [named({ state: 'cancelled' }), named({ number: 2 })],
    'adopt by reference',
  ],
  // A reference against attempts without one, or with another one.
  [
    'another reference, alike',
    byReference('script'),
    [attempt({ reference: { ...reference, text: 'R-2' } })],
    'send 1',
  ],
  [
    'another reference, alike, in a file',
    byReference('upload'),
    [row({ reference: { ...reference, text: 'R-2' } })],
    'send 1',
  ],
  ['single order beside an unreferenced one', byReference('script'), [attempt()], 'send 1'],
  ['library beside an unreferenced one', byReference('library'), [attempt()], 'send 1'],
  ['upload beside an unreferenced one', byReference('upload'), [row()], 'refuse: alike'],
  ['upload beside an unreferenced one, --run', byReference('upload', { run: 'may' }), [row()], 'send 1'],
  [
    'upload beside an unreferenced one, skipped',
    byReference('upload', { skipDuplicates: true }),
    [row()],
    'adopt by likeness',
  ],
  ['plan beside an unreferenced one', byReference('plan'), [row()], 'refuse: alike'],
  ['MCP beside an unreferenced one', byReference('mcp'), [attempt()], 'refuse: alike'],
  ['MCP beside an unreferenced one, new', byReference('mcp', { isNew: true }), [attempt()], 'send 1'],
  [
    'MCP beside an unreferenced one in doubt, new',
    byReference('mcp', { isNew: true }),
    [attempt({ state: 'intended' })],
    'refuse: in_doubt',
  ],
  [
    'MCP beside an old unreferenced one in doubt',
    byReference('mcp'),
    [attempt({ state: 'intended', madeAt: now - 30 * day })],
    'refuse: in_doubt',
  ],
  [
    'MCP, alike under the reference of another namespace, new',
    byReference('mcp', { isNew: true }),
    [named({ reference: { namespace: 'other', text: 'R-1' } })],
    'send 1',
  ],
  [
    'the same in another namespace',
    byReference('script'),
    [attempt({ reference: { ...reference, namespace: 'other' } })],
    'refuse: other_namespace',
  ],
  [
    'the same in another namespace, asked',
    byReference('terminal'),
    [attempt({ reference: { ...reference, namespace: 'other' } })],
    'ask: other_namespace',
  ],
  [
    'another namespace, unlike',
    byReference('script'),
    [attempt({ reference: { ...reference, namespace: '' }, likeness: 'unlike' })],
    'send 1',
  ],
];

test.each(cases)('%s', (_, order, attempts, decision) => {
  expect(inWords(decide(order, attempts))).toBe(decision);
});

test('whoever is asked, or refused, is told of every attempt that stands in the way', () => {
  const [one, other] = [attempt(), attempt()];
  expect(decide(requested('script'), [one, other, attempt({ state: 'failed' })])).toStrictEqual({
    do: 'refuse',
    why: 'alike',
    attempts: [one, other],
  });
});

describe('of attempts at random', () => {
  const states: readonly AttemptState[] = [
    'intended',
    'placed',
    'failed',
    'cancelled',
    'returned',
    'unknown',
    'unsent',
  ];
  const doors: readonly Door[] = [
    'terminal',
    'script',
    'library',
    'mcp',
    'upload',
    'plan',
    'retry',
    'standing',
    'other',
  ];
  const one: fc.Arbitrary<ComparedAttempt> = fc
    .record({
      state: fc.constantFrom(...states),
      likeness: fc.constantFrom<Attempt['likeness']>('alike', 'overlap', 'unlike'),
      reference: fc.constantFrom(
        undefined,
        reference,
        { ...reference, namespace: '' },
        { ...reference, text: 'R-2' },
      ),
      madeAt: fc.integer({ min: -40 * 24, max: 1 }).map((hours) => now + hours * hour),
      seenAt: fc.constantFrom(undefined, now - day, now),
      upload: fc.constantFrom(undefined, 'may.csv', 'june.csv'),
      run: fc.constantFrom(undefined, 'may'),
      number: fc.integer({ min: 1, max: 3 }),
      differs: fc.boolean(),
    })
    .chain((some) =>
      fc.boolean().map((isListed) => attempt({ ...some, ...(!isListed && { orderId: undefined }) })),
    );
  const orders = fc.record({ door: fc.constantFrom(...doors), isNamed: fc.boolean(), again: fc.boolean() });

  test('nothing is sent while a live one stands, unless another is meant', () => {
    fc.assert(
      fc.property(orders, fc.array(one, { maxLength: 6 }), ({ door, isNamed, again }, attempts) => {
        const order = isNamed ? byReference(door, { again }) : requested(door, { again });
        if (decide(order, attempts).do !== 'send') return;
        const unit = ['upload', 'plan', 'retry'].includes(door) ? 'row' : 'single';
        const stands = attempts.filter(
          (it) =>
            it.state === 'placed' &&
            (isNamed
              ? it.reference?.text === reference.text && it.reference.namespace === reference.namespace
              : it.likeness === 'alike' && isWithin(it, unit, order.windows, now)),
        );
        expect(stands).toStrictEqual([]);
      }),
      { numRuns: 5000 },
    );
  });

  test('what is in doubt is never sent beside', () => {
    fc.assert(
      fc.property(orders, fc.array(one, { maxLength: 6 }), ({ door, isNamed, again }, attempts) => {
        const doubtful = attempt({ state: 'intended', orderId: undefined, ...(isNamed && { reference }) });
        const order = isNamed ? byReference(door, { again }) : requested(door, { again });
        expect(decide(order, [...attempts, doubtful]).do).not.toBe('send');
      }),
      { numRuns: 2000 },
    );
  });

  test('a look at all of it is enough', () => {
    fc.assert(
      fc.property(orders, fc.array(one, { maxLength: 6 }), ({ door, isNamed, again }, attempts) => {
        const order = isNamed ? byReference(door, { again }) : requested(door, { again });
        const seen = attempts.map((it) => ({ ...it, seenAt: now }));
        expect(decide(order, seen).do).not.toBe('look');
      }),
      { numRuns: 2000 },
    );
  });
});
