import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeKey, requestIdIn } from '../../support/approval-workspace.ts';
import { embeddedShop, errand } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import type { Workspace } from '../../support/workspace.ts';
import { add, advance, dayFrom, fileOf, ordersIn, place, type Row, rowsOf, run } from './steps.ts';

describe('a standing order', () => {
  test('is bought once for each date, with a reference that follows from it', async () => {
    const workspace = place();
    const { id } = await add(workspace);
    expect(rowsOf(await run(workspace))).toEqual([]);
    await advance(workspace, '1d');
    const first = await run(workspace);
    expect(first.code).toBe(0);
    const reference = `standing/${id}/${dayFrom(1).replaceAll('-', '')}`;
    expect(rowsOf(first)).toMatchObject([{ name: 'coffee', date: dayFrom(1), outcome: 'placed', reference }]);
    expect(rowsOf(await run(workspace))).toEqual([]);
    const found = await errand(workspace, ['order', 'list', '--reference', reference, '-o', 'id']);
    expect(found.stdout.trim()).toBe(rowsOf(first)[0]?.order_id);
    await advance(workspace, '6d', '1d');
    expect(rowsOf(await run(workspace))).toMatchObject([{ date: dayFrom(8), outcome: 'placed' }]);
    expect(await ordersIn(workspace)).toBe(2);
  });

  test('that was missed is reported once', async () => {
    const workspace = place();
    await add(workspace);
    await advance(workspace, '4d');
    const missed = await run(workspace);
    expect(missed.code).toBe(7);
    expect(rowsOf(missed)).toMatchObject([{ outcome: 'missed', order_id: null, exit_code: 7 }]);
    expect(missed.stderr).toContain('it was not bought from');
    expect((await run(workspace)).code).toBe(0);
    expect(await ordersIn(workspace)).toBe(0);
  });

  test('that failed is tried again within its lateness, and a price says how to raise the ceiling', async () => {
    const workspace = place();
    await add(workspace, 'test-price-exceeded');
    await advance(workspace, '1d');
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed' }]);
    await advance(workspace, '1h');
    const waiting = await run(workspace);
    expect(waiting.code).toBe(7);
    expect(rowsOf(waiting)).toMatchObject([
      {
        outcome: 'waiting',
        message: expect.stringContaining(
          'failed: price of $60.00 above the ceiling of $50.00; tried again in',
        ),
      },
    ]);
    expect(waiting.stderr).toContain(`errand standing edit coffee --max-price '$63.00'`);
    await advance(workspace, '6h');
    expect(rowsOf(await run(workspace))).toMatchObject([
      { outcome: 'placed', message: expect.stringContaining('failed: price') },
    ]);
    await advance(workspace, '1h');
    const edited = await errand(workspace, ['standing', 'edit', 'coffee', '--max-price', '$63.00']);
    expect(edited.code, edited.stderr).toBe(0);
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed', max_price: 6300 }]);
    await advance(workspace, '2d');
    const over = await run(workspace);
    expect(rowsOf(over)).toMatchObject([{ outcome: 'failed', exit_code: 7 }]);
  });

  test('whose price is far above the ceiling names a ceiling that covers it', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    await errand(workspace, ['standing', 'edit', 'coffee', '--max-price', '$5']);
    await run(workspace);
    await advance(workspace, '1h');
    const waiting = await run(workspace);
    expect(waiting.stderr).toContain('failed: price of $19.99 above the ceiling of $5.00');
    expect(waiting.stderr).toContain(`errand standing edit coffee --max-price '$20.00'`);
    await errand(workspace, ['standing', 'edit', 'coffee', '--max-price', '$20.00']);
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed' }]);
    await advance(workspace, '1h');
    expect(rowsOf(await run(workspace))).toEqual([]);
  });

  test('that failed and is bought on the second try is not bought beside that', async () => {
    const workspace = place();
    await add(workspace, 'test-out-of-stock');
    await advance(workspace, '1d');
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed' }]);
    await advance(workspace, '1h');
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'waiting' }]);
    const url = `${await embeddedShop()}test-success`;
    await errand(workspace, ['standing', 'edit', 'coffee', '--product', url]);
    const [second] = rowsOf(await run(workspace));
    expect(second).toMatchObject({ outcome: 'placed', date: dayFrom(1) });
    for (const step of ['1h', '6h', '1d']) {
      await advance(workspace, step);
      expect(rowsOf(await run(workspace))).toEqual([]);
    }
    expect(await ordersIn(workspace)).toBe(2);
  });

  test('whose product and address are edited in the file is shown so, and bought so', async () => {
    const workspace = place();
    await add(workspace);
    await advance(workspace, '1d');
    await run(workspace);
    const text = readFileSync(fileOf(workspace), 'utf8');
    writeFileSync(
      fileOf(workspace),
      text.replace('test-success', 'test-slow').replace(/city: .*/, 'city: Dallas'),
    );
    const { stdout } = await errand(workspace, ['standing', 'show', 'coffee', '-o', 'json']);
    const shown: Row = JSON.parse(stdout);
    expect(String(shown.changes)).toMatch(/test-slow/);
    expect(String(shown.changes)).toMatch(/Dallas/);
    await advance(workspace, '6d', '1d');
    const [row] = rowsOf(await run(workspace));
    const got = await errand(workspace, ['order', 'get', String(row?.order_id), '-o', 'json']);
    expect(JSON.parse(got.stdout)).toMatchObject({ shipping_address: { city: 'Dallas' } });
    expect(got.stdout).toContain('test-slow');
  });

  test('that somebody cancelled is not bought again', async () => {
    const workspace = place();
    await add(workspace, 'test-slow');
    await advance(workspace, '1d');
    const [row] = rowsOf(await run(workspace));
    const cancelled = await errand(workspace, ['order', 'cancel', String(row?.order_id)]);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    const again = await run(workspace);
    expect([again.code, rowsOf(again)]).toEqual([0, []]);
    expect(await ordersIn(workspace)).toBe(1);
  });

  test('is not bought while it is paused, on a date that is skipped, or once it is removed', async () => {
    const workspace = place();
    await add(workspace);
    await errand(workspace, ['standing', 'pause', 'coffee']);
    await advance(workspace, '1d');
    expect(rowsOf(await run(workspace))).toEqual([]);
    expect((await errand(workspace, ['standing', 'skip', 'coffee', dayFrom(2)])).code).toBe(2);
    expect((await errand(workspace, ['standing', 'skip', 'coffee', dayFrom(1)])).code).toBe(0);
    await errand(workspace, ['standing', 'resume', 'coffee']);
    expect(rowsOf(await run(workspace))).toEqual([]);
    expect((await errand(workspace, ['standing', 'skip', 'coffee', dayFrom(1), '--undo'])).code).toBe(0);
    // It was due while it was paused.
    expect(rowsOf(await run(workspace))).toEqual([]);
    await errand(workspace, ['standing', 'remove', 'coffee']);
    await advance(workspace, '6d', '1d');
    expect(rowsOf(await run(workspace))).toEqual([]);
    await add(workspace, 'test-success', '--starts', dayFrom(-7));
    expect((await errand(workspace, ['standing', 'remove', 'tea'])).code).toBe(4);
    expect(await ordersIn(workspace)).toBe(0);
  });

  test('that is removed and added again buys no date that was due before, by the clock of the service', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed' }]);
    await advance(workspace, '6d', '1d');
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed', date: dayFrom(7) }]);
    await errand(workspace, ['standing', 'remove', 'coffee']);
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    expect(rowsOf(await run(workspace))).toEqual([]);
    expect(await ordersIn(workspace)).toBe(2);
  });

  test('brings in no past date where its cadence is edited, and shows what is due', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    const shown: Row = JSON.parse(
      (await errand(workspace, ['standing', 'show', 'coffee', '-o', 'json'])).stdout,
    );
    expect(shown.next_dates).toMatchObject([
      { date: dayFrom(0), due: true },
      ...[7, 14, 21, 28].map((days) => ({ date: dayFrom(days), due: false })),
    ]);
    await advance(workspace, '4d');
    await errand(workspace, ['standing', 'edit', 'coffee', '--every', '1d', '--late', '5d']);
    expect(rowsOf(await run(workspace, '--dry-run'))).toEqual([]);
  });

  test('is shown with what the next order does otherwise, and which dates are left out', async () => {
    const workspace = place();
    await add(workspace);
    await advance(workspace, '1d');
    await run(workspace);
    await errand(workspace, ['standing', 'edit', 'coffee', '--max-price', '$60', '--starts', dayFrom(2)]);
    const shown: Row = JSON.parse(
      (await errand(workspace, ['standing', 'show', 'coffee', '-o', 'json'])).stdout,
    );
    expect(shown.changes).toContain('ceiling $50.00, now $60.00');
    expect(shown.changes).toContain(
      `${dayFrom(2)} is not bought: the dates have moved, and ${dayFrom(1)} was bought`,
    );
    await advance(workspace, '1d');
    const covered = await run(workspace);
    expect([covered.code, rowsOf(covered)]).toMatchObject([0, [{ outcome: 'covered', date: dayFrom(2) }]]);
    const listed = await errand(workspace, ['standing', 'list', '-o', 'json']);
    expect(rowsOf(listed)).toMatchObject([{ name: 'coffee', orders: 1, last: { date: dayFrom(1) } }]);
  });

  test('is not bought by a dry run, which says what it would do', async () => {
    const workspace = place();
    await add(workspace);
    await advance(workspace, '1d');
    const dry = await run(workspace, '--dry-run', '--until', dayFrom(16));
    expect(dry.code, dry.stderr).toBe(0);
    expect(rowsOf(dry).map(({ date, outcome }) => [date, outcome])).toEqual([
      ...[
        [dayFrom(1), 'would_place'],
        [dayFrom(8), 'upcoming'],
        [dayFrom(15), 'upcoming'],
      ],
    ]);
    expect(await ordersIn(workspace)).toBe(0);
    expect((await run(workspace, '--until', dayFrom(16))).code).toBe(2);
  });

  test('is held to the policy, and is bought once that allows it', async () => {
    const workspace = place();
    await add(workspace);
    await advance(workspace, '1d');
    const policy = join(workspace.folder, '.config/policy.yaml');
    writeFileSync(policy, 'version: 1\nlimits: { per_order: $20 }\n', { mode: 0o600 });
    const dry = await run(workspace, '--dry-run');
    expect([dry.code, rowsOf(dry)]).toMatchObject([11, [{ outcome: 'refused', exit_code: 11 }]]);
    const refused = await run(workspace);
    expect([refused.code, rowsOf(refused)]).toMatchObject([11, [{ outcome: 'refused', exit_code: 11 }]]);
    writeFileSync(policy, 'version: 1\nlimits: { per_order: $200 }\n', { mode: 0o600 });
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed' }]);
  });

  test('that wants an approval is bought by the run after it was given', async () => {
    const workspace = place();
    await add(workspace);
    const config = join(workspace.folder, '.config');
    copyFileSync(`${makeKey(workspace, 'ada')}.pub`, join(config, 'ada.pub'));
    chmodSync(join(config, 'ada.pub'), 0o600);
    const policy = 'version: 1\napprove: { above: $20 }\napprovers: [ada.pub]\n';
    writeFileSync(join(config, 'policy.yaml'), policy, { mode: 0o600 });
    await advance(workspace, '1d');
    const id = requestIdIn(await run(workspace));
    expect((await run(workspace)).code).toBe(11);
    const approved = await errand(workspace, ['approval', 'approve', id, '--key', 'ada']);
    expect(approved.code, approved.stderr).toBe(0);
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed' }]);
    expect(await ordersIn(workspace)).toBe(1);
  });

  test('that is called by a number is changed, and removed, by that name', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    const text = readFileSync(fileOf(workspace), 'utf8');
    writeFileSync(fileOf(workspace), text.replace('coffee:', '2026:'));
    const skipped = await errand(workspace, ['standing', 'skip', '2026', dayFrom(7)]);
    expect(skipped.code, skipped.stderr).toBe(0);
    writeFileSync(fileOf(workspace), text.replace('coffee:', '2026:'));
    const removed = await errand(workspace, ['standing', 'remove', '2026']);
    expect(removed.code, removed.stderr).toBe(0);
    expect(rowsOf(await run(workspace))).toEqual([]);
    expect(await ordersIn(workspace)).toBe(0);
  });

  test('keeps the comments of a file that people have written', async () => {
    const workspace = place();
    await add(workspace);
    const text = readFileSync(fileOf(workspace), 'utf8').replace(
      '    every',
      '    # not too much\n    every',
    );
    writeFileSync(fileOf(workspace), text);
    await errand(workspace, ['standing', 'edit', 'coffee', '--late', '3d']);
    const changed = readFileSync(fileOf(workspace), 'utf8');
    expect(changed).toContain('# not too much');
    expect(changed).toContain('late: 3d');
  });
});

describe('what commands say', () => {
  const json = async (workspace: Workspace, ...words: string[]): Promise<Row> => {
    const { stdout, stderr, code } = await errand(workspace, ['standing', ...words, '-o', 'json']);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  };

  test('a date whose order was cancelled is not the next, although it is due once more', async () => {
    const workspace = place();
    await add(workspace, 'test-slow', '--starts', dayFrom(0));
    const [row] = rowsOf(await run(workspace));
    await errand(workspace, ['order', 'cancel', String(row?.order_id)]);
    const edited = await json(workspace, 'edit', 'coffee', '--at', '23:59');
    expect(edited.next_dates).toMatchObject([7, 14, 21, 28, 35].map((days) => ({ date: dayFrom(days) })));
    const shown = await json(workspace, 'show', 'coffee');
    expect(shown.next_dates).toEqual(edited.next_dates);
  });

  test('the command that raises the ceiling comes with the order after one that was too dear, and later is for the dates to come', async () => {
    const workspace = place();
    await add(workspace, 'test-price-exceeded', '--starts', dayFrom(0));
    await run(workspace);
    await advance(workspace, '8h');
    const again = await run(workspace);
    const command = `errand standing edit coffee --max-price '$63.00'`;
    expect(rowsOf(again)).toMatchObject([
      { outcome: 'placed', next: [{ command, when: 'to raise its ceiling, should this one fail as well' }] },
    ]);
    expect(again.stderr).toContain(command);
    await advance(workspace, '2d');
    const over = await run(workspace);
    expect(rowsOf(over)).toMatchObject([
      { outcome: 'failed', next: [{ command, when: 'to raise its ceiling for the dates to come' }, {}] },
    ]);
  });

  test('what is removed is printed', async () => {
    const workspace = place();
    const { id } = await add(workspace);
    expect(await json(workspace, 'remove', 'coffee')).toMatchObject({
      ...{ id, name: 'coffee', state: 'removed', next_dates: [], max_price: 5000 },
    });
    expect(readFileSync(fileOf(workspace), 'utf8')).not.toContain('coffee');
  });

  test('what a schedule says can be taken away', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--count', '2', '--ends', dayFrom(40), '--at', '07:30');
    const edited = await json(workspace, 'edit', 'coffee', '--clear', 'ends,count', '--clear', 'at,late');
    expect(edited).toMatchObject({ ends: null, count: null, at: '00:00', late: '1d' });
    const both = await errand(workspace, [
      'standing',
      'edit',
      'coffee',
      '--clear',
      'ends',
      '--ends',
      dayFrom(9),
    ]);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--clear ends takes away what')]);
  });

  test.each([
    [['edit', 'coffee', '--starts', '9999-12-31'], '--starts takes a date from 2000-01-01 to 2199-12-31'],
    [['edit', 'coffee', '--dates', '1999-12-31'], '--dates takes a date from 2000-01-01 to 2199-12-31'],
    [['run', '--dry-run', '--until', '9999-12-31'], '--until takes a date within ten years from now'],
    [['run', '--dry-run', '--until', '2020-01-01'], '--until takes a date to come'],
    [['edit', 'coffee', '--idempotency-key', 'mine'], "unknown option '--idempotency-key'"],
    [['add', 'tea', '--every', '1w', '--idempotency-key', 'mine'], "unknown option '--idempotency-key'"],
  ])('%j is refused in plain words', async (words, message) => {
    const workspace = place();
    await add(workspace);
    const refused = await errand(workspace, ['standing', ...words]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('a date in doubt whose entry was changed meanwhile', () => {
  /** Adds an entry, and runs it against a service that answers no order. */
  async function inDoubt(fault: string): Promise<Workspace> {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    await errand(workspace, ['sandbox', 'fault', `${fault}@POST /orders`]);
    const lost = await run(workspace, '--retries', '0');
    expect([lost.code, rowsOf(lost)], lost.stderr).toMatchObject([10, [{ outcome: 'unknown' }]]);
    await errand(workspace, ['sandbox', 'fault', '--off']);
    return workspace;
  }

  const edits: readonly (readonly [string, readonly string[]])[] = [
    ['product', ['edit', 'coffee', '--max-price', '$77']],
    ['address', ['edit', 'coffee', '--city', 'Dallas']],
    ['cadence', ['edit', 'coffee', '--every', '3w']],
    ['start', ['edit', 'coffee', '--starts', dayFrom(9)]],
    ['state', ['pause', 'coffee']],
    ['dates', ['skip', 'coffee', dayFrom(0)]],
    ['place in the file', ['remove', 'coffee']],
  ];

  test.each(edits)('is settled by its order, which is there, whatever became of its %s', async (_, words) => {
    const workspace = await inDoubt('truncate');
    const edited = await errand(workspace, ['standing', ...words]);
    expect(edited.code, edited.stderr).toBe(0);
    const dry = await run(workspace, '--dry-run');
    expect([dry.code, rowsOf(dry)]).toMatchObject([10, [{ outcome: 'unknown', exit_code: 10 }]]);
    const settled = await run(workspace);
    expect(settled.code, settled.stderr).toBe(0);
    expect(rowsOf(settled)).toMatchObject([
      { outcome: 'existed', date: dayFrom(0), order_id: expect.any(String) },
    ]);
    expect(rowsOf(await run(workspace))).toEqual([]);
    expect(await ordersIn(workspace)).toBe(1);
    const left = await errand(workspace, ['order', 'journal', 'list', '-o', 'json']);
    expect(rowsOf(left)).toEqual([]);
  });

  test.each(edits)(
    'is reported, and given up once lists show no order, whatever became of its %s',
    async (_, words) => {
      const workspace = await inDoubt('reset-before');
      const edited = await errand(workspace, ['standing', ...words]);
      expect(edited.code, edited.stderr).toBe(0);
      const early = await run(workspace);
      expect([early.code, rowsOf(early)], early.stderr).toMatchObject([10, [{ outcome: 'unknown' }]]);
      expect(early.stderr).toMatch(/errand order journal forget [0-9a-f]{36}/);
      expect(early.stderr).not.toContain('journal resume');
      expect(await ordersIn(workspace)).toBe(0);
      await advance(workspace, '6m');
      const later = await run(workspace);
      expect(later.code, later.stderr).toBe(0);
      expect(later.stderr).toContain('it is given up');
      const left = await errand(workspace, ['order', 'journal', 'list', '-o', 'json']);
      expect(rowsOf(left)).toEqual([]);
      // The entry still has the date where its content alone was changed.
      const isWanted = words.includes('--max-price') || words.includes('--city') || words.includes('--every');
      expect(rowsOf(later)).toMatchObject([{ outcome: isWanted ? 'placed' : 'skipped', date: dayFrom(0) }]);
      expect(await ordersIn(workspace)).toBe(isWanted ? 1 : 0);
    },
  );
});

describe('a schedule that is edited by hand', () => {
  const rewrite = (workspace: Workspace, ...edits: readonly (readonly [RegExp, string])[]): void => {
    const text = readFileSync(fileOf(workspace), 'utf8');
    writeFileSync(
      fileOf(workspace),
      edits.reduce((now, [from, to]) => now.replace(from, to), text),
    );
  };
  const show = async (workspace: Workspace): Promise<Row> =>
    JSON.parse((await errand(workspace, ['standing', 'show', 'coffee', '-o', 'json'])).stdout);

  test('brings in no date that is past, says so, and goes on with the next', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed' }]);
    await advance(workspace, '4d');
    rewrite(workspace, [/every: 1w/, 'every: 1d'], [/late: 2d/, 'late: 6d']);
    const dry = await run(workspace, '--dry-run');
    const left = [1, 2, 3, 4].map((days) => [dayFrom(days), 'skipped']);
    expect(rowsOf(dry).map(({ date, outcome }) => [date, outcome])).toEqual(left);
    const shown = await show(workspace);
    expect(shown.next_dates).toMatchObject(
      [5, 6, 7, 8, 9].map((days) => ({ date: dayFrom(days), due: false })),
    );
    expect(shown.changes).toEqual(
      expect.arrayContaining([expect.stringContaining('the schedule was edited by hand')]),
    );
    const told = await run(workspace);
    expect([told.code, rowsOf(told).map(({ date, outcome }) => [date, outcome])]).toEqual([0, left]);
    expect(rowsOf(await run(workspace))).toEqual([]);
    await advance(workspace, '1d');
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed', date: dayFrom(5) }]);
    expect(await ordersIn(workspace)).toBe(2);
  });

  test.each(['the same', 'another'])(
    'buys nothing once its entry is taken out, and no past date once it is written in again with %s id',
    async (which) => {
      const workspace = place();
      const { id } = await add(workspace, 'test-success', '--starts', dayFrom(0));
      await errand(workspace, ['standing', 'edit', 'coffee', '--every', '1d']);
      expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed', date: dayFrom(0) }]);
      const text = readFileSync(fileOf(workspace), 'utf8');
      writeFileSync(fileOf(workspace), 'version: 1\norders: {}\n');
      await advance(workspace, '1d');
      expect(rowsOf(await run(workspace))).toEqual([]);
      await advance(workspace, '1d');
      writeFileSync(fileOf(workspace), which === 'another' ? text.replace(String(id), 'abcdef012345') : text);
      expect((await show(workspace)).next_dates).toMatchObject(
        [3, 4, 5, 6, 7].map((days) => ({ date: dayFrom(days), due: false })),
      );
      const again = rowsOf(await run(workspace));
      expect(again.filter(({ outcome }) => outcome !== 'skipped')).toEqual([]);
      await advance(workspace, '1d');
      expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed', date: dayFrom(3) }]);
      expect(await ordersIn(workspace)).toBe(2);
    },
  );

  test('is bought from its new start on', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(30));
    rewrite(workspace, [/starts: .*/, `starts: ${dayFrom(1)}`]);
    expect((await show(workspace)).next_dates).toMatchObject(
      [1, 8, 15, 22, 29].map((days) => ({ date: dayFrom(days) })),
    );
    await advance(workspace, '1d');
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed', date: dayFrom(1) }]);
  });

  test('keeps a date that was due before the edit, and was not bought yet', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    rewrite(workspace, [/every: 1w/, 'every: 2w'], [/max_price: 5000/, 'max_price: 6000']);
    expect((await show(workspace)).next_dates).toMatchObject(
      [0, 14, 28, 42, 56].map((days) => ({ date: dayFrom(days), due: days === 0 })),
    );
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed', max_price: 6000 }]);
  });

  test('is told by a machine that has never seen it otherwise, until a command writes it down', async () => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(30));
    rewrite(
      workspace,
      [/every: 1w/, 'every: 1d'],
      [/starts: .*/, `starts: ${dayFrom(-2)}`],
      [/since: .*/, 'since: 2020-01-01T00:00:00Z'],
    );
    const other = place();
    const file = fileOf(workspace);
    const told = await run(other, '--standing', file);
    expect(told.code, told.stderr).toBe(7);
    expect(rowsOf(told).map(({ outcome }) => outcome)).toEqual(['skipped', 'skipped']);
    expect(rowsOf(await run(other, '--standing', file))).toEqual([]);
    expect(await ordersIn(other)).toBe(0);
    const [row] = rowsOf(told);
    const written = await errand(other, ['standing', 'edit', 'coffee', '--late', '2d', '--standing', file]);
    expect(String(Object(row).next[0].command)).toBe(
      `errand standing edit coffee --late 2d --standing ${file}`,
    );
    expect(written.code, written.stderr).toBe(0);
    expect(rowsOf(await run(place(), '--standing', file))).toEqual([]);
  });
});

describe('a file that is put back', () => {
  test.each([
    ['edited', ['edit', 'coffee', '--every', '1mo', '--starts', dayFrom(20)]],
    ['removed', ['remove', 'coffee']],
  ])('buys nothing that was due while it was %s', async (_, words) => {
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(0));
    await errand(workspace, ['standing', 'edit', 'coffee', '--every', '1d', '--late', '4d']);
    await run(workspace);
    const before = readFileSync(fileOf(workspace));
    await errand(workspace, ['standing', ...words]);
    await run(workspace);
    await advance(workspace, '2d');
    await run(workspace);
    writeFileSync(fileOf(workspace), before);
    const after = await run(workspace);
    expect(rowsOf(after).map(({ date, outcome }) => [date, outcome])).toEqual([
      [dayFrom(1), 'skipped'],
      [dayFrom(2), 'skipped'],
    ]);
    await advance(workspace, '1d');
    expect(rowsOf(await run(workspace))).toMatchObject([{ outcome: 'placed', date: dayFrom(3) }]);
    expect(await ordersIn(workspace)).toBe(2);
  });
});

describe('the file', () => {
  test('is not used where others may change it', async () => {
    const workspace = place();
    await add(workspace);
    chmodSync(fileOf(workspace), 0o666);
    const refused = await run(workspace);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('can be changed by other users (mode 0666)');
  });

  test('that is wrong is refused with its line and column, and bought from no more', async () => {
    const workspace = place();
    await add(workspace);
    writeFileSync(
      fileOf(workspace),
      readFileSync(fileOf(workspace), 'utf8').replace('every: 1w', 'every: 1x'),
    );
    const refused = await run(workspace);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(
      /standing\.yaml, line 7, column 12: orders\.coffee\.every takes a cadence/,
    );
  });

  test.each([
    [['--every', '1x'], '--every takes a cadence such as 1d, 2w or 1mo, not "1x"; nothing was changed'],
    [['--every', '1w', '--time-zone', 'Mars/Phobos'], '--time-zone takes a time zone'],
  ])('is not written by wrong flags: %j', async (flags, message) => {
    const workspace = place();
    const refused = await errand(workspace, [
      ...['standing', 'add', 'tea', '--product', `${await embeddedShop()}test-success`],
      ...['--max-price', '$50', '--ship-to', 'home', ...flags],
    ]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(message);
  });

  test('loses no entry where several commands write it at once', async () => {
    const workspace = place();
    await add(workspace);
    const url = `${await embeddedShop()}test-success`;
    const names = ['a', 'b', 'c', 'd'];
    const made = await Promise.all(
      names.map((name) =>
        errand(workspace, [
          ...['standing', 'add', name, '--product', url, '--max-price', '$50', '--ship-to', 'home'],
          ...['--every', '1w'],
        ]),
      ),
    );
    expect(made.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const listed = await errand(workspace, ['standing', 'list', '--offline', '-o', 'id']);
    expect(listed.stdout.trim().split('\n').toSorted()).toEqual(['a', 'b', 'c', 'coffee', 'd']);
  });
});

describe('two machines', () => {
  /** Machines with a state each that use one served sandbox with one key. */
  async function machines(count: number) {
    const host = place();
    const { url } = await serveAt(host);
    const minted = await errand(host, ['sandbox', 'mint', '--base-url', url, '-o', 'json']);
    const { api_key: key }: { api_key: string } = JSON.parse(minted.stdout);
    const made = Array.from({ length: count }, () =>
      place({
        ERRAND_BASE_URL: url,
        ERRAND_API_KEY: key,
        ERRAND_DATABASE_URL: host.environment.ERRAND_DATABASE_URL ?? '',
      }),
    );
    for (const { environment } of made)
      if (!environment.ERRAND_DATABASE_URL) delete environment.ERRAND_DATABASE_URL;
    return { url, made, host };
  }

  const addTo = (workspace: Workspace, url: string, name = 'coffee', starts = dayFrom(0)) =>
    errand(workspace, [
      ...['standing', 'add', name, '--product', `${url}/shop/test-success`, '--max-price', '$50'],
      ...['--first-name', 'Ada', '--last-name', 'Example', '--address-line1', '100 Congress Avenue'],
      ...['--city', 'Austin', '--state', 'TX', '--postal-code', '78701', '--country', 'US'],
      ...['--phone-number', '5125550100', '--every', '1w', '--starts', starts],
    ]);

  test('whose common file was edited on each otherwise are told so, and neither buys a second', async () => {
    const { url, made } = await machines(2);
    const [first, second] = made;
    if (!first || !second) return expect.fail('there is no machine');
    await addTo(first, url);
    const other = join(second.folder, 'standing.yaml');
    copyFileSync(fileOf(first), other);
    chmodSync(other, 0o600);
    const edit = (workspace: Workspace, price: string, ...more: string[]) =>
      errand(workspace, ['standing', 'edit', 'coffee', '--max-price', price, ...more]);
    expect((await edit(first, '$60')).code).toBe(0);
    expect((await edit(second, '$70', '--standing', other)).code).toBe(0);
    expect(rowsOf(await run(first))).toMatchObject([{ outcome: 'placed', max_price: 6000 }]);
    const differs = await run(second, '--standing', other);
    expect([differs.code, rowsOf(differs)]).toMatchObject([5, [{ outcome: 'conflict' }]]);
    expect(differs.stderr).toContain('another machine has another file');
    expect(differs.stderr).toContain('errand standing edit coffee --follows');
    expect(await ordersIn(first)).toBe(1);
  });

  test('share one order that is removed on one of them: neither buys more', async () => {
    const { url, made } = await machines(2);
    const [first, second] = made;
    if (!first || !second) return expect.fail('there is no machine');
    await addTo(first, url);
    const file = fileOf(first);
    expect(rowsOf(await run(second, '--standing', file))).toMatchObject([{ outcome: 'placed' }]);
    await errand(first, ['standing', 'remove', 'coffee']);
    expect(rowsOf(await run(first))).toEqual([]);
    expect(rowsOf(await run(second, '--standing', file))).toEqual([]);
    await addTo(first, url, 'coffee', dayFrom(-7));
    expect(rowsOf(await run(second, '--standing', file))).toEqual([]);
    expect(await ordersIn(first)).toBe(1);
  });

  test('settle what is in doubt, although the file says again what it said when nothing was due', async () => {
    const { url, made, host } = await machines(1);
    const [machine] = made;
    if (!machine) return expect.fail('there is no machine');
    const fault = (...words: string[]) =>
      errand(host, ['sandbox', 'fault', ...words, '--base-url', url, '-o', 'json']);
    await addTo(machine, url, 'far', dayFrom(30));
    const before = readFileSync(fileOf(machine));
    expect((await run(machine)).code).toBe(0);
    await addTo(machine, url);
    await fault('truncate@POST /orders');
    expect((await run(machine, '--retries', '0')).code).toBe(10);
    await fault('--off');
    writeFileSync(fileOf(machine), before);
    const settled = await run(machine);
    expect([settled.code, rowsOf(settled)], settled.stderr).toMatchObject([0, [{ outcome: 'existed' }]]);
  });

  test('that share the file buy each date once', async () => {
    const { url, made } = await machines(3);
    const [first, ...others] = made;
    if (!first) return expect.fail('there is no machine');
    const added = await addTo(first, url);
    expect(added.code, added.stderr).toBe(0);
    const file = fileOf(first);
    const runs = await Promise.all([first, ...others].map((machine) => run(machine, '--standing', file)));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    const placed = runs.flatMap(rowsOf).filter(({ outcome }) => outcome === 'placed');
    expect(placed.length).toBeLessThanOrEqual(1);
    expect(await ordersIn(first)).toBe(1);
  });

  test('whose files differ under one id are told so, and the older one when it is edited', async () => {
    const { url, made } = await machines(2);
    const [first, second] = made;
    if (!first || !second) return expect.fail('there is no machine');
    await addTo(first, url);
    expect(rowsOf(await run(first))).toMatchObject([{ outcome: 'placed' }]);
    const text = readFileSync(fileOf(first), 'utf8').replace('max_price: 5000', 'max_price: 6000');
    const other = join(second.folder, 'standing.yaml');
    writeFileSync(other, text, { mode: 0o600 });
    const changesOn = async (workspace: Workspace, ...words: string[]): Promise<unknown> =>
      JSON.parse((await errand(workspace, ['standing', 'show', 'coffee', '-o', 'json', ...words])).stdout)
        .changes;
    const another = expect.stringContaining('a run orders nothing, since another machine has another file');
    expect(await changesOn(second, '--standing', other)).toContainEqual(another);
    expect(await changesOn(first)).not.toContainEqual(another);
    const differs = await run(second, '--standing', other);
    expect([differs.code, rowsOf(differs)]).toMatchObject([5, [{ outcome: 'conflict', exit_code: 5 }]]);
    const [, version] = /--follows ([0-9a-f]{12})/.exec(differs.stderr) ?? [];
    expect(version).toBeDefined();
    const edited = await errand(second, [
      'standing',
      'edit',
      'coffee',
      '--follows',
      String(version),
      '--standing',
      other,
    ]);
    expect(edited.code, edited.stderr).toBe(0);
    expect(await changesOn(second, '--standing', other)).not.toContainEqual(another);
    expect((await run(second, '--standing', other)).code).toBe(0);
    // The machine that ran with the older version knows it.
    writeFileSync(fileOf(first), text, { mode: 0o600 });
    expect((await run(first)).code).toBe(0);
    expect(await ordersIn(first)).toBe(1);
  });
});

describe('several standing orders', () => {
  test('are each tried, and the exit code says what went wrong with them together', async () => {
    const workspace = place();
    const shop = await embeddedShop();
    const add = (name: string, price: string, ...more: string[]) =>
      errand(workspace, [
        ...[
          'standing',
          'add',
          name,
          '--product',
          `${shop}test-success`,
          '--max-price',
          price,
          '--ship-to',
          'home',
        ],
        ...['--dates', dayFrom(0), '--late', '2d', ...more],
      ]);
    for (const [name, price] of [
      ['dear', '$90'],
      ['dearer', '$95'],
      ['cheap', '$20'],
    ] as const)
      expect((await add(name, price)).code).toBe(0);
    writeFileSync(join(workspace.folder, '.config/policy.yaml'), 'version: 1\nlimits: { per_order: $50 }\n', {
      mode: 0o600,
    });
    const refused = await run(workspace);
    expect(refused.code).toBe(11);
    expect(rowsOf(refused).map(({ name, outcome }) => [name, outcome])).toEqual([
      ['dear', 'refused'],
      ['dearer', 'refused'],
      ['cheap', 'placed'],
    ]);
    const text = readFileSync(fileOf(workspace), 'utf8').replace('max_price: 9500', 'max_price: -1');
    writeFileSync(fileOf(workspace), text);
    const mixed = await run(workspace);
    expect(mixed.code).toBe(7);
    expect(rowsOf(mixed).map(({ name, exit_code: code }) => [name, code])).toEqual([
      ['dear', 11],
      ['dearer', 2],
    ]);
  });
});

describe('with a live key', () => {
  const live = {
    ERRAND_API_KEY: 'zk_live_0123456789abcdef0123456789abcdef',
    ERRAND_BASE_URL: 'http://127.0.0.1:9',
  };

  const adding = (workspace: Workspace) =>
    errand(workspace, [
      ...['standing', 'add', 'coffee', '--product', 'https://shop.example/a', '--max-price', '$50'],
      ...['--first-name', 'Ada', '--last-name', 'Example', '--address-line1', '100 Congress Avenue'],
      ...['--city', 'Austin', '--state', 'TX', '--postal-code', '78701', '--country', 'US'],
      ...['--phone-number', '5125550100', '--every', '1w'],
    ]);

  test('adding takes a typed yes, or a policy', async () => {
    const server = createServer((_, response) => void response.writeHead(401).end('{}'));
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const workspace = place({
      ...live,
      ERRAND_BASE_URL: `http://127.0.0.1:${Object(server.address()).port}`,
    });
    const refused = await adding(workspace);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('somebody has to type yes at a terminal, or a policy has to hold');
    mkdirSync(join(workspace.folder, '.config'), { recursive: true, mode: 0o700 });
    writeFileSync(join(workspace.folder, '.config/policy.yaml'), 'version: 1\n', { mode: 0o600 });
    expect((await adding(workspace)).code).toBe(2);
    writeFileSync(join(workspace.folder, '.config/policy.yaml'), 'version: 1\nlimits: { per_day: $200 }\n');
    const added = await adding(workspace);
    expect(added.code, added.stderr).toBe(0);
    expect(readFileSync(fileOf(workspace), 'utf8')).toContain('live: policy');
  });
});

describe('a run with nothing that may be due', () => {
  test('makes no request, and knows so without reading the file as YAML', async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"orders":[],"total":0}');
    });
    onTestFinished(() => void server.close());
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const workspace = place();
    await add(workspace, 'test-success', '--starts', dayFrom(30));
    const url = `http://127.0.0.1:${Object(server.address()).port}`;
    const elsewhere = {
      ...workspace,
      environment: { ...workspace.environment, ERRAND_BASE_URL: url, ERRAND_API_KEY: 'sbx_test_x' },
    };
    for (let runs = 0; runs < 3; runs += 1) expect((await run(elsewhere)).code).toBe(0);
    expect(requests).toEqual([]);
    await errand(elsewhere, ['standing', 'edit', 'coffee', '--starts', dayFrom(1)]);
    requests.length = 0;
    await run(elsewhere);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toContain('metadata_key=errand_standing');
  });
});
