import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { begin, errand } from '../../support/run.ts';
import { cutOff, errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const day = 24 * 3600 * 1000;
const headings = 'product_url,max_price,name,address_line1,city,state,postal_code,country,phone_number,note';

interface Line {
  readonly at: number;
  readonly slug?: string;
  readonly price?: string;
  readonly name?: string;
  readonly phone?: string;
  readonly note?: string;
}

/** Writes a file of orders. @returns its name. */
function write(shop: Shopping, lines: readonly Line[], file = 'orders.csv'): string {
  const rows = lines.map(
    ({ at, slug = 'test-success', price = '$50.00', name = 'Ada Byron', phone = '5125550100', note = '' }) =>
      `${shop.service.product(slug)},${price},${name},${at} Main St,Austin,TX,78701,US,${phone},${note}`,
  );
  writeFileSync(join(shop.workspace.folder, file), [headings, ...rows, ''].join('\n'));
  return file;
}

const upload = (shop: Shopping, ...more: readonly string[]) => shop.run('bulk', 'upload', ...more);
const count = async (shop: Shopping): Promise<number> => (await shop.orders()).length;
const numbers = (count: number): Line[] => Array.from({ length: count }, (_, index) => ({ at: index + 1 }));
const saved = (lines: readonly Line[]): Line[] =>
  lines.map((line) => ({ ...line, name: 'ADA  BYRON', phone: '(512) 555-0100', price: '$51.00' }));

/** Passes days for the service and for the machine, which uses its key meanwhile. */
async function later(shop: Shopping, days: number): Promise<void> {
  for (let passed = 5; passed <= days; passed += 5) {
    shop.service.pass(5 * day);
    shop.later(passed * day);
    expect((await shop.run('wallet')).code).toBe(0);
  }
}

describe('a file that is saved again', () => {
  test('is not ordered again; the message names the orders and the way on', async () => {
    const shop = await shopping();
    expect((await upload(shop, write(shop, numbers(3)))).code).toBe(0);
    shop.service.pass(60_000);
    write(shop, saved(numbers(3)));
    const again = await upload(shop, 'orders.csv', '-o', 'json');
    expect([again.code, again.stdout]).toEqual([5, '']);
    const error = errorOf(again);
    expect(error).toMatchObject({
      code: 'rows_alike',
      outcome: 'not_sent',
      details: {
        new: 0,
        alike: 3,
        rows: [{ row: 2, earlier: [{ upload: 'orders', state: 'placed' }] }, {}, {}],
      },
    });
    expect(error.message).toMatch(
      /^orders\.csv: 3 rows are like earlier orders: 3 of the upload orders; row 2 as order \S+ \(delivered, .* ago\), /,
    );
    expect(error.next.at(-1).command).toBe('errand bulk upload orders.csv -o json --run NAME');
    expect(await count(shop)).toBe(3);
  });

  test('--skip-duplicates orders the others, and the same again orders nothing', async () => {
    const shop = await shopping();
    await upload(shop, write(shop, numbers(2)));
    write(shop, [...saved(numbers(2)), { at: 3 }, { at: 4 }], 'more.csv');
    const stopped = await upload(shop, 'more.csv');
    expect(stopped.code).toBe(5);
    expect(stopped.stderr).toContain('more.csv --skip-duplicates — to order the other 2');
    const others = await upload(shop, 'more.csv', '--skip-duplicates');
    expect(others.code, others.stderr).toBe(0);
    expect(others.stderr).toMatch(/^2 new; 2 left out$/m);
    shop.service.pass(60_000);
    const again = await upload(shop, 'more.csv', '--skip-duplicates');
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringMatching(/^0 new; 2 placed already; 2 left out$/m),
    ]);
    expect(await count(shop)).toBe(4);
    const uploads = JSON.parse((await shop.run('bulk', 'uploads', '-o', 'json')).stdout);
    expect(uploads[0]).toMatchObject({ name: 'more', rows: 2, sent: 2, state: 'sent' });
  });

  test('under another run it is another occasion, which is ordered once as well', async () => {
    const shop = await shopping();
    await upload(shop, write(shop, numbers(2)));
    expect((await upload(shop, 'orders.csv', '--run', 'week 2')).code).toBe(0);
    write(shop, saved(numbers(2)));
    await later(shop, 30);
    const again = await upload(shop, 'orders.csv', '--run', 'week 2');
    expect(again.code, again.stderr).toBe(5);
    expect(again.stderr).toContain('errand bulk upload orders.csv --run NAME');
    expect((await upload(shop, 'orders.csv', '--run', 'week 3')).code).toBe(0);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(6);
  });

  test('asks at any age where it repeats an upload; single rows are another need by then', async () => {
    const shop = await shopping();
    await upload(shop, write(shop, numbers(4)));
    await later(shop, 10);
    write(shop, saved([...numbers(3), { at: 9 }]));
    const whole = await upload(shop, 'orders.csv', '-o', 'json');
    expect(whole.code, whole.stderr).toBe(5);
    expect(errorOf(whole)).toMatchObject({ code: 'rows_repeats', details: { new: 1, repeats: 3 } });
    expect(errorOf(whole).message).toContain('it repeats orders of 10d ago: 3 of 4 rows are placed already');
    expect(errorOf(whole).details.rows).toMatchObject([2, 3, 4].map((row) => ({ row, why: 'repeats' })));
    const shown = (await upload(shop, 'orders.csv')).stderr;
    expect(shown).toMatch(/^ *row 2: repeats$/m);
    expect(shown).not.toMatch(/^ *rows:/m);
    expect((await upload(shop, 'orders.csv', '--skip-duplicates')).code).toBe(0);
    write(shop, [{ at: 1 }, ...[11, 12, 13, 14].map((at) => ({ at }))], 'other.csv');
    const other = await upload(shop, 'other.csv');
    expect(other.code, other.stderr).toBe(0);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(4 + 1 + 5);
  });

  test('is like a single order as well', async () => {
    const shop = await shopping();
    expect((await shop.order()).code).toBe(0);
    const { products, shipping_address: to } = JSON.parse(
      readFileSync(join(shop.workspace.folder, 'order.json'), 'utf8'),
    );
    const cells = [products[0].url, '$50.00', `${to.first_name} ${to.last_name}`, to.address_line1, to.city];
    const more = [to.state, to.postal_code, to.country, to.phone_number, ''];
    writeFileSync(join(shop.workspace.folder, 'one.csv'), `${headings}\n${[...cells, ...more].join(',')}\n`);
    const refused = await upload(shop, 'one.csv');
    expect(refused.code, refused.stderr).toBe(5);
    expect(refused.stderr).toMatch(
      /1 row is like an earlier order: row 2 as order \S+ \(waiting, (?:just now|\ds ago)\)/,
    );
  });
});

describe('rows of one file', () => {
  test('may be equal: a household orders both, and the same file again orders none', async () => {
    const shop = await shopping();
    const twice: Line[] = [{ at: 1 }, { at: 1 }, { at: 2, slug: 'test-out-of-stock' }];
    expect((await upload(shop, write(shop, twice), '--batch-size', '1')).code).toBe(0);
    shop.service.pass(60_000);
    const again = await upload(shop, 'orders.csv', '--batch-size', '1');
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringMatching(/^1 new, of them 1 failed before; 2 placed already$/m),
    ]);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(4);
  });
});

describe('rows that failed', () => {
  const failing = (of: readonly Line[], ...at: readonly number[]): Line[] =>
    of.map((line) => (at.includes(line.at) ? { ...line, slug: 'test-out-of-stock' } : line));

  test('are new in the whole file, with those that were corrected; a file of these alone is new', async () => {
    const shop = await shopping();
    await upload(shop, write(shop, failing(numbers(12), 3, 7, 11)));
    shop.service.pass(60_000);
    write(shop, [{ at: 3, slug: 'test-out-of-stock', price: '$60.00' }], 'alone.csv');
    const alone = await upload(shop, 'alone.csv');
    expect(alone.stderr).toMatch(/^1 new, of them 1 failed before$/m);
    shop.service.pass(60_000);
    const lines = failing(numbers(12), 3, 7, 11);
    write(
      shop,
      lines.map((line) => (line.at === 7 ? { ...line, price: '$70.00' } : line)),
    );
    const whole = await upload(shop, 'orders.csv');
    expect(whole.code, whole.stderr).toBe(0);
    expect(whole.stderr).toMatch(/^3 new, of them 3 failed before; 9 placed already$/m);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(12 + 1 + 3);
  });

  test('that the service refused keep their key, and go up in a batch of their own', async () => {
    const shop = await shopping();
    const file = write(shop, [{ at: 1 }, { at: 2, slug: 'test-refused-out-of-stock' }]);
    await upload(shop, file);
    for (const round of [1, 2]) {
      shop.service.pass(60_000);
      const again = await upload(shop, file);
      expect([round, again.code, again.stderr]).toEqual([
        round,
        0,
        expect.stringMatching(/^1 new, of them 1 failed before; 1 placed already$/m),
      ]);
    }
    expect(JSON.parse((await shop.run('bulk', 'list', '-o', 'json')).stdout)).toHaveLength(3);
  });
});

describe('rows that were taken back', () => {
  test('are not bought without --again', async () => {
    const shop = await shopping();
    const file = write(shop, numbers(6));
    await upload(shop, file);
    shop.service.pass(1_000);
    const ids = (await shop.orders()).map(({ id }) => id);
    for (const id of ids.slice(0, 2)) expect((await shop.run('order', 'cancel', id)).code).toBe(0);
    shop.service.pass(60_000);
    const refused = await upload(shop, file, '-o', 'json');
    expect(refused.code, refused.stderr).toBe(5);
    expect(errorOf(refused)).toMatchObject({
      code: 'rows_cancelled',
      details: { new: 0, placed: 4, cancelled: 2 },
    });
    expect(await count(shop)).toBe(6);
    expect((await upload(shop, file, '--skip-duplicates')).code).toBe(0);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(6);
    const again = await upload(shop, file, '--again');
    expect(again.stderr).toMatch(/^2 new, of them 2 cancelled or returned before; 4 placed already$/m);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(8);
  });
});

describe('an upload that was cut short', () => {
  test('goes on with the same rows and keys, and a file of other spelling waits for it', async () => {
    const shop = await shopping();
    const file = write(shop, numbers(6));
    const size = ['--batch-size', '2', '--retries', '0'];
    const lost = await cutOff(shop, () => upload(shop, file, ...size));
    expect(lost.code, lost.stderr).toBe(10);
    write(shop, saved(numbers(6)), 'saved.csv');
    const other = await upload(shop, 'saved.csv', '-o', 'json', ...size);
    expect(other.code, other.stderr).toBe(5);
    expect(errorOf(other)).toMatchObject({ code: 'rows_in_doubt', outcome: 'unknown' });
    expect(errorOf(other).next[0].command).toMatch(/^errand order journal resume /);
    const again = await upload(shop, file, ...size);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toMatch(/^4 new; 2 in doubt, sent again unchanged$/m);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(6);
    expect(JSON.parse((await shop.run('bulk', 'uploads', '-o', 'json')).stdout)).toMatchObject([
      { name: 'orders', rows: 6, sent: 6, state: 'sent' },
    ]);
  });

  test('tries no row again that failed meanwhile; once all of it is sent, the same file does', async () => {
    const shop = await shopping();
    const lines = numbers(4).map((line) => (line.at === 1 ? { ...line, slug: 'test-out-of-stock' } : line));
    const file = write(shop, lines);
    const size = ['--batch-size', '2', '--retries', '0'];
    expect((await cutOff(shop, () => upload(shop, file, ...size))).code).toBe(10);
    shop.service.pass(60_000);
    expect((await shop.run('order', 'journal', 'resume', '--all')).code).toBe(0);
    const rest = await shop.run('bulk', 'resume', 'orders');
    expect([rest.code, rest.stderr]).toEqual([
      0,
      expect.stringMatching(/^2 new; 1 placed already; 1 sent before, not tried again now$/m),
    ]);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(4);
    const again = await upload(shop, file, ...size);
    expect(again.stderr).toMatch(/^1 new, of them 1 failed before; 3 placed already$/m);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(5);
  });

  test('after all of it was sent, before that was reported: the same command reports it, and tries no row again', async () => {
    const shop = await shopping();
    const lines = numbers(4).map((line) => (line.at === 1 ? { ...line, slug: 'test-out-of-stock' } : line));
    const file = write(shop, lines);
    const size = ['--batch-size', '2'];
    const child = begin(shop.workspace, 'errand', ['bulk', 'upload', file, ...size, '--watch', '-o', 'json']);
    const ended = new Promise((resolve) => child.once('close', resolve));
    const states = async () =>
      (await shop.run('order', 'journal', 'list', '-o', 'csv', '--fields', 'state')).stdout;
    await expect.poll(states, { timeout: 60_000 }).toBe('state\nresponded\nresponded\n');
    child.kill('SIGKILL');
    await ended;
    shop.service.pass(60_000);
    const again = await upload(shop, file, ...size);
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringMatching(/^0 new; 3 placed already; 1 sent before, not tried again now$/m),
    ]);
    expect(await states()).toBe('state\n');
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(4);
    const further = await upload(shop, file, ...size);
    expect(further.stderr).toMatch(/^1 new, of them 1 failed before; 3 placed already$/m);
  });

  test('of which nothing came to the service is sent once', async () => {
    const shop = await shopping();
    const file = write(shop, numbers(2));
    lose(shop, 'reset-before', 'reset-before', 'reset-before', 'reset-before');
    expect((await upload(shop, file, '--retries', '0')).code).toBe(10);
    expect((await upload(shop, file)).code).toBe(0);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(2);
  });
});

describe('rows with a reference', () => {
  const named = (shop: Shopping, lines: readonly (Line & { readonly count?: number })[]) => {
    const rows = lines.map(
      ({ at, slug = 'test-success', price = '$50.00', count = 1 }) =>
        `REQ-${at},${shop.service.product(slug)},${price},Ada Byron,${at} Main St,Austin,TX,78701,US,5125550100,${count}`,
    );
    writeFileSync(
      join(shop.workspace.folder, 'named.csv'),
      [`errand_reference,${headings.replace('note', 'quantity')}`, ...rows, ''].join('\n'),
    );
    return 'named.csv';
  };

  test.each([3, 25])('are found at the service by another machine, %i of them', async (rows) => {
    const shop = await shopping();
    await shop.run('sandbox', 'trigger', 'wallet-funded', '--amount', '$20,000');
    const lines = numbers(rows).map((line) =>
      line.at === 2 ? { ...line, slug: 'test-out-of-stock' } : line,
    );
    expect((await upload(shop, named(shop, lines))).code).toBe(0);
    shop.service.pass(60_000);
    const there = anotherMachine(shop);
    named(
      shop,
      lines.map((line) => (line.at === 2 ? { at: 2, price: '$51.00' } : line)),
    );
    const again = await there('bulk', 'upload', join(shop.workspace.folder, 'named.csv'));
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toMatch(
      new RegExp(`^1 new, of them 1 failed before; ${rows - 1} placed already$`, 'm'),
    );
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(rows + 1);
    const here = await upload(shop, 'named.csv');
    expect(here.stderr).toMatch(new RegExp(`^0 new; ${rows} placed already$`, 'm'));
    expect(await count(shop)).toBe(rows + 1);
  });

  test('that differ from their live orders are listed with both and not sent, while the others are', async () => {
    const shop = await shopping();
    await upload(shop, named(shop, numbers(2)));
    shop.service.pass(60_000);
    named(shop, [{ at: 1, count: 3 }, { at: 2, price: '$60.00' }, { at: 3 }]);
    const other = await upload(shop, 'named.csv');
    expect(other.code, other.stderr).toBe(5);
    expect(other.stderr).toMatch(/^1 new; 1 placed already; 1 not sent$/m);
    expect(other.stderr).toMatch(/row 2 as order \S+ \(delivered, .*\): .*quantity: requested 3, exists 1/);
    shop.service.pass(60_000);
    expect(await count(shop)).toBe(3);
  });

  test('that two machines send before the service has made an order of either are ordered once', async () => {
    const shop = await shopping();
    const there = anotherMachine(shop);
    const file = join(shop.workspace.folder, named(shop, numbers(2)));
    expect((await upload(shop, file)).code).toBe(0);
    expect((await there('bulk', 'upload', file)).code).toBe(0);
    shop.service.pass(60_000);
    for (const run of [there, shop.run]) {
      const again = await run('bulk', 'upload', file);
      expect(again.stderr).toMatch(/^0 new; 2 placed already$/m);
    }
    expect(await count(shop)).toBe(2);
  });

  test('under a run are other occasions, each of them ordered once', async () => {
    const shop = await shopping();
    const file = named(shop, numbers(2));
    for (const run of [[], ['--run', 'may'], ['--run', 'may'], ['--run', 'june']]) {
      expect((await upload(shop, file, ...run)).code).toBe(0);
      shop.service.pass(60_000);
    }
    expect(await count(shop)).toBe(6);
  });

  test('that were added to a file that was ordered without them are asked about', async () => {
    const shop = await shopping();
    expect((await upload(shop, write(shop, numbers(2)))).code).toBe(0);
    shop.service.pass(60_000);
    const asked = await upload(shop, named(shop, numbers(2)));
    expect(asked.code, asked.stderr).toBe(5);
    expect(asked.stderr).toContain('2 rows are like earlier orders: 2 of the upload orders;');
  });

  test('are not sent without a look', async () => {
    const shop = await shopping('503@GET /orders');
    const failed = await upload(shop, named(shop, numbers(2)), '--retries', '0');
    expect(failed.code, failed.stderr).toBe(9);
    expect(JSON.parse((await shop.run('bulk', 'list', '-o', 'json')).stdout)).toEqual([]);
  });
});

/** A machine with a journal of its own that orders with the same key. */
function anotherMachine(shop: Shopping) {
  const { ERRAND_BASE_URL = '', ERRAND_API_KEY = '' } = shop.workspace.environment;
  const there = makeWorkspace({ ERRAND_NO_INPUT: '1', ERRAND_BASE_URL, ERRAND_API_KEY });
  onTestFinished(() => there.remove());
  return (...args: readonly string[]) => errand(there, args);
}
