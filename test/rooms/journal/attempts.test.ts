import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AttemptClaim, AttemptNeed, AttemptScope, NewAttempt } from '../../../src/journal/attempts.ts';
import { nobody } from '../../../src/journal/audit-entry.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { repairJournal } from '../../../src/journal/repair.ts';
import type { Reserving } from '../../../src/journal/reservations.ts';
import { needOf } from '../../../src/orders/needs/need.ts';
import { referenceOf } from '../../../src/orders/needs/reference.ts';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { baseUrl, intent, openJournal } from '../../support/intents.ts';
import { address, orderBody, rowBody } from '../../support/order-body.ts';
import { isOnPostgres } from '../../support/store.ts';

const now = Date.parse('2026-06-01T12:00:00Z');
const scope: AttemptScope = { service: baseUrl, accounts: ['user 1'], isTest: false };

const need = (urls: string | readonly string[], reference?: string, first_name = 'Ada'): AttemptNeed =>
  needOf(
    {
      products: [urls].flat().map((name) => ({ url: `https://shop.example/p/${name}` })),
      shipping_address: { ...address, first_name },
    },
    reference === undefined ? undefined : referenceOf(reference),
  );

const attempt = (change: Partial<NewAttempt> = {}): NewAttempt => ({
  ...{ run: undefined, number: 1, key: randomUUID(), operation: 'order.create', upload: undefined },
  ...{ orderId: undefined, state: 'intended', madeAt: now, seenAt: undefined },
  ...change,
});

describe('the table of attempts', () => {
  let folder: string;
  let journal: Journal;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errand-attempts-'));
    journal = await openJournal(folder, () => now);
  });
  afterEach(async () => {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const write = async (of: AttemptNeed, change: Partial<NewAttempt> = {}, at = scope): Promise<number> => {
    const [serial] = await (await journal.attempts()).claim(at, [of], () => attempt(change));
    return serial ?? 0;
  };
  const found = async (of: AttemptNeed, at = scope) => {
    const [related = []] = await (await journal.attempts()).related(at, [of]);
    return related.map(({ key, likeness }) => [key, likeness]);
  };

  test('finds what is akin to an attempt by its content, its reference or a name', async () => {
    const own = await write(need('a', 'R-1'), { key: 'own' });
    await write(need('a'), { key: 'alike' });
    await write(need('b', 'R-1'), { key: 'same reference' });
    await write(need('c', 'R-2'), { key: 'named' });
    await write(need(['a', 'c']), { key: 'overlapping' });
    await write(need('a'), { key: 'of another account' }, { ...scope, accounts: ['user 2'] });
    const attempts = await journal.attempts();
    const akin = await attempts.akin(scope, [own], [[own, referenceOf('R-2')]]);
    const shown = akin.get(own)?.map(({ key, likeness }) => [key, likeness]) ?? [];
    expect(shown.sort()).toEqual([
      ['alike', 'alike'],
      ['named', 'unlike'],
      ['same reference', 'unlike'],
    ]);
    expect(await attempts.akin(scope, [], [])).toEqual(new Map());
  });

  test('gives back what was written', async () => {
    const made = attempt({
      run: 'may',
      number: 3,
      upload: 'may.csv',
      orderId: 'o1',
      state: 'placed',
      seenAt: now + 1,
    });
    const [serial] = await (await journal.attempts()).claim(scope, [need('mug', ' R-1 ')], () => made);
    expect(await (await journal.attempts()).related(scope, [need('mug')])).toStrictEqual([
      [{ ...made, serial, reference: { namespace: '', text: 'R-1' }, likeness: 'alike' }],
    ]);
  });

  test('finds what is alike, what overlaps, and what has the same reference', async () => {
    await write(need('mug'), { key: 'mug' });
    await write(need('tea'), { key: 'tea' });
    await write(need(['mug', 'tea']), { key: 'both' });
    await write(need('pot', 'R-1'), { key: 'pot' });
    await write(need('mug', undefined, 'Anne'), { key: 'of another' });
    expect(await found(need('mug'))).toStrictEqual([
      ['mug', 'alike'],
      ['both', 'overlap'],
    ]);
    expect(await found(need(['tea', 'mug']))).toStrictEqual([
      ['mug', 'overlap'],
      ['tea', 'overlap'],
      ['both', 'alike'],
    ]);
    expect(await found(need('tea', 'R-1'))).toStrictEqual([
      ['tea', 'alike'],
      ['both', 'overlap'],
      ['pot', 'unlike'],
    ]);
    expect(await found(need('pot', 'R-1'))).toStrictEqual([['pot', 'alike']]);
    expect(await found(need('cup', 'r-1'))).toStrictEqual([]);
  });

  test('keeps services, accounts, and live and test apart; an account may have had other names', async () => {
    await write(need('mug'), { key: 'own' });
    await write(need('mug'), { key: 'test' }, { ...scope, isTest: true });
    await write(need('mug'), { key: 'service' }, { ...scope, service: 'https://other.example' });
    await write(need('mug'), { key: 'fingerprint' }, { ...scope, accounts: ['a-fingerprint'] });
    expect(await found(need('mug'))).toStrictEqual([['own', 'alike']]);
    expect(await found(need('mug'), { ...scope, accounts: ['user 1', 'a-fingerprint'] })).toStrictEqual([
      ['own', 'alike'],
      ['fingerprint', 'alike'],
    ]);
  });

  test('accounts have a user once it is known, and an intent is overtaken by an account that came since', async () => {
    const attempts = await journal.attempts();
    await write(need('a'), { orderId: 'order 1' });
    await write(need('b'), { orderId: 'order 2' });
    const [first] = await attempts.accounts(scope);
    expect(first).toMatchObject({ account: 'user 1', userId: undefined });
    expect(await attempts.newestOrder({ id: first?.id ?? 0 })).toBe('order 2');
    await attempts.identify(scope, '17');
    expect(await attempts.accounts(scope)).toStrictEqual([{ ...first, userId: '17' }]);
    expect(await attempts.accounts({ ...scope, isTest: true })).toStrictEqual([]);

    const other: AttemptScope = { ...scope, accounts: ['user 2'], newestAccount: 0 };
    let count = 0;
    const claim = (at: AttemptScope) => {
      count += 1;
      const decide = () => attempt();
      return journal.record(intent(`k${count}`), undefined, undefined, {
        scope: at,
        needs: [need('c')],
        decide,
      });
    };
    expect(await claim(other)).toStrictEqual({ isOvertaken: true });
    expect(journal.list(true)).toStrictEqual([]);
    expect(await found(need('c'), { ...scope, accounts: ['user 1', 'user 2'] })).toStrictEqual([]);
    const known: AttemptScope = { ...other, newestAccount: first?.id ?? 0 };
    expect(await claim(known)).toStrictEqual({ mayBeSent: false });
    expect(await claim(known)).toStrictEqual({ mayBeSent: false });
  });

  test('what is written in a claim is not related to the needs that follow in it', async () => {
    const seen: number[] = [];
    const decide = (related: readonly unknown[], at: number) => {
      seen.push(related.length);
      return at === 1 ? undefined : attempt();
    };
    const serials = await (await journal.attempts()).claim(
      scope,
      [need('mug'), need('mug'), need('mug')],
      decide,
    );
    expect(seen).toStrictEqual([0, 0, 0]);
    expect(serials.map((one) => typeof one)).toStrictEqual(['number', 'undefined', 'number']);
    expect(await found(need('mug'))).toHaveLength(2);
  });

  test('a claim that fails writes nothing', async () => {
    const decide = (_: readonly unknown[], at: number) => {
      if (at === 1) throw new Error('no');
      return attempt();
    };
    await expect((await journal.attempts()).claim(scope, [need('mug'), need('tea')], decide)).rejects.toThrow(
      'no',
    );
    expect(await found(need('mug'))).toStrictEqual([]);
  });

  test('keeps what becomes of an attempt', async () => {
    const serial = await write(need('mug'), { key: 'a-long-key-1' });
    await write(need('mug'), { key: 'another-key-1' });
    await (await journal.attempts()).change([
      { serial, state: 'placed', orderId: 'o1', madeAt: now + 5, seenAt: now + 9 },
    ]);
    await (await journal.attempts()).change([{ serial, state: 'cancelled' }]);
    const [known] = await (await journal.attempts()).ofKey(scope, 'a-long-key-1');
    expect(known).toMatchObject({
      serial,
      state: 'cancelled',
      orderId: 'o1',
      madeAt: now + 5,
      seenAt: now + 9,
    });
    expect(await (await journal.attempts()).ofKey(scope, 'none')).toStrictEqual([]);
  });

  test('of processes that race for the same, one sees none before it', async () => {
    const others = await Promise.all(Array.from({ length: 6 }, () => openJournal(folder, () => now)));
    const [both, first, second] = [need(['mug', 'tea'], 'R-1'), need('mug', 'R-1'), need('tea', 'R-1')];
    const counts: number[] = [];
    await Promise.all(
      others.map(async (other, at) =>
        (await other.attempts()).claim(scope, [[both, first, second][at % 3] ?? both], (related) => {
          counts.push(related.length);
          return attempt();
        }),
      ),
    );
    for (const other of others) await other.close();
    expect(counts.toSorted()).toStrictEqual([0, 1, 2, 3, 4, 5]);
  });

  test('a file of several thousand rows against itself', async () => {
    const rows = Array.from({ length: 2500 }, (_, at) => need(`p${at}`, `R-${at}`));
    const serials = await (await journal.attempts()).claim(scope, rows, (_, at) =>
      attempt({ key: `row ${at}` }),
    );
    expect(new Set(serials).size).toBe(2500);
    const again = await (await journal.attempts()).related(scope, rows);
    expect(again.map(([one]) => [one?.key, one?.serial])).toStrictEqual(
      rows.map((_, at) => [`row ${at}`, serials[at]]),
    );
  });

  test('is swept of what ended long ago and has no reference, and of nothing else', async () => {
    const old = now - 401 * 24 * 3600 * 1000;
    const ended = { state: 'failed', madeAt: old } as const;
    await write(need(['mug', 'tea']), { ...ended, key: 'old' });
    await write(need('mug'), { ...ended, key: 'recent', madeAt: now - 399 * 24 * 3600 * 1000 });
    await write(need('mug', 'R-1'), { ...ended, key: 'named' });
    for (const state of ['placed', 'intended', 'unknown'] as const)
      await write(need('mug'), { key: state, state, madeAt: old });
    for (let count = 0; count < 64; count += 1) await journal.record(intent(`k${count}`, count));
    expect((await found(need('mug'))).map(([key]) => key)).toStrictEqual([
      ...['recent', 'named', 'placed', 'intended', 'unknown'],
    ]);
    // The parts of an order of several products go with it.
    expect(await found(need('tea'))).toStrictEqual([]);
  });

  describe('what was recorded before there were attempts', () => {
    const fingerprint: AttemptScope = { ...scope, accounts: ['user 1', 'a-fingerprint'], isTest: true };
    const order = (key: string, name: string) => ({
      ...intent(key),
      body: { ...orderBody(`https://shop.example/p/${name}`), idempotency_key: key },
    });
    const known = async (of: AttemptNeed) => {
      const [related = []] = await (await journal.attempts()).related(fingerprint, [of]);
      return related.map(({ key, state, orderId, upload }) => [key, state, orderId, upload]);
    };

    test('is unknown until it is looked at, unless it was refused', async () => {
      for (const [key, name] of Object.entries({
        made: 'mug',
        refused: 'tea',
        doubtful: 'pot',
        given: 'cup',
      }))
        await journal.record(order(key, name));
      await journal.respond('made', baseUrl, 'o1');
      await journal.refuse('refused', baseUrl, { code: 'no', message: 'no' });
      await journal.forget('given', baseUrl);
      expect(await known(need('mug'))).toStrictEqual([['made', 'unknown', 'o1', undefined]]);
      expect(await known(need('tea'))).toStrictEqual([]);
      expect(await known(need('pot'))).toStrictEqual([['doubtful', 'intended', undefined, undefined]]);
      expect(await known(need('cup'))).toStrictEqual([['given', 'unknown', undefined, undefined]]);
      expect(await found(need('mug'), { ...scope, isTest: true })).toStrictEqual([]);
    });

    test('has an attempt for each row of a batch', async () => {
      const rows = ['mug', 'tea'].map((name) => ({
        ...rowBody(`https://shop.example/p/${name}`),
        idempotency_key: `row ${name}`,
      }));
      await journal.record({
        ...intent('b1'),
        operation: 'bulk.create',
        body: { filename: 'may.csv', rows },
      });
      await journal.respond('b1', baseUrl, 'batch 1');
      expect(await known(need('tea'))).toStrictEqual([['row tea', 'unknown', undefined, 'b1']]);
    });

    test('is brought in once, however many come first', async () => {
      await journal.record(order('made', 'mug'));
      const others = await Promise.all(Array.from({ length: 3 }, () => openJournal(folder, () => now)));
      await Promise.all(others.map((other) => other.attempts()));
      for (const other of others) await other.close();
      expect(await known(need('mug'))).toHaveLength(1);
      await journal.record(order('later', 'mug'));
      expect(await known(need('mug'))).toHaveLength(1);
    });
  });

  describe('an attempt that goes with an intent', () => {
    const claim = (change: Partial<NewAttempt> = {}): AttemptClaim => ({
      scope,
      needs: [need('mug')],
      decide: (related) => (related.length > 0 ? undefined : attempt({ key: 'k1', ...change })),
    });
    const state = async () => {
      const known = await (await journal.attempts()).ofKey(scope, 'k1');
      return known.map((one) => [one.state, one.orderId]);
    };
    beforeEach(async () => void (await journal.attempts()));

    test('is written with it, and follows it to its order', async () => {
      expect(await journal.record(intent('k1'), undefined, undefined, claim())).toStrictEqual({
        mayBeSent: false,
      });
      expect(await state()).toStrictEqual([['intended', undefined]]);
      await journal.respond('k1', baseUrl, 'o1');
      expect(await state()).toStrictEqual([['placed', 'o1']]);
    });

    test('fails where the service refuses it, and is unknown where it is given up', async () => {
      await journal.record(intent('k1'), undefined, undefined, claim());
      await journal.refuse('k1', baseUrl, { code: 'no', message: 'no' });
      expect(await state()).toStrictEqual([['failed', undefined]]);
      await journal.record(intent('k1'), undefined, undefined, { ...claim(), decide: () => undefined });
      expect(journal.find('k1', baseUrl)?.state).toBe('refused');
      await journal.record(intent('k1'), undefined, undefined, {
        ...claim(),
        decide: () => attempt({ key: 'k1' }),
      });
      await journal.forget('k1', baseUrl);
      expect(await state()).toStrictEqual([
        ['failed', undefined],
        ['unknown', undefined],
      ]);
    });

    test('is not written where something came in between, and neither is the intent', async () => {
      await write(need('mug'));
      const recorded = await journal.record(intent('k1'), undefined, undefined, claim());
      expect(recorded).toStrictEqual({ isOvertaken: true });
      expect([journal.find('k1', baseUrl), await state()]).toStrictEqual([undefined, []]);
    });

    test('says nothing of its need where the policy refuses the intent', async () => {
      const refusing: Reserving = {
        orders: [
          {
            ...{
              key: 'k1',
              baseUrl,
              account: 'a-fingerprint',
              intent: 'k1',
              cents: 1,
              feeCents: 0,
              isRehearsal: false,
            },
            facts: { retailers: [], metadata: [], products: [], address: '' },
          },
        ],
        since: 0,
        admit: () => {
          throw new Error('refused');
        },
      };
      await expect(journal.record(intent('k1'), undefined, refusing, claim())).rejects.toThrow('refused');
      expect(await state()).toStrictEqual([]);
    });
  });

  test.skipIf(isOnPostgres)('a repaired journal has the attempts of the old one', async () => {
    await write(need('mug', 'R-1'), { key: 'kept', state: 'placed' });
    await write(need(['mug', 'tea']), { key: 'both' });
    await journal.close();
    await repairJournal(folder, { stamp: 'old', now: () => now, origin: () => nobody });
    journal = await openJournal(folder, () => now);
    expect(await found(need('mug'))).toStrictEqual([
      ['kept', 'alike'],
      ['both', 'overlap'],
    ]);
  });

  test.skipIf(isOnPostgres)('and where its secret is lost, what its records and references say', async () => {
    const body = { ...orderBody('https://shop.example/p/mug'), idempotency_key: 'recorded' };
    await journal.record({ ...intent('recorded'), body });
    await write(need('mug', 'R-1'), { key: 'recorded', state: 'placed', orderId: 'o1', number: 2 });
    await write(need('tea', 'R-2'), { key: 'of another machine', state: 'placed', orderId: 'o2' });
    await journal.close();
    const file = new (loadSqlite())(join(folder, 'journal.db'));
    file.exec('DELETE FROM attempt_settings');
    file.close();
    await repairJournal(folder, { stamp: 'old', now: () => now, origin: () => nobody });
    journal = await openJournal(folder, () => now);
    const [related = []] = await (await journal.attempts()).related(scope, [need('mug', 'R-2')]);
    expect(related.map(({ key, state, number, likeness }) => [key, state, number, likeness])).toStrictEqual([
      ['recorded', 'placed', 2, 'alike'],
      ['of another machine', 'unknown', 1, 'unlike'],
    ]);
  });
});
