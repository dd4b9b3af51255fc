import { readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  describeWithBookkeepers,
  readByBeancount,
  readByHledger,
  readStatement,
} from '../../support/books-programs.ts';
import { hangsAfterMs } from '../../support/limits.ts';
import { errand, type Finished, shell } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const opening = ['--opening-balance', '$100,000.00'];
const formats = ['hledger', 'beancount', 'ofx', 'csv'] as const;
type Format = (typeof formats)[number];

const cents = (amount: string): number => Math.round(Number(amount) * 100);
const sum = (amounts: readonly number[]): number => amounts.reduce((total, one) => total + one, 0);
const wallet = 'Assets:Errand:Wallet';

interface Found {
  readonly ids: readonly string[];
  readonly walletCents: number;
}

const read: Readonly<Record<Format, (file: string) => Found>> = {
  hledger: (file) => ofWallet(readByHledger(file)),
  beancount: (file) => ofWallet(readByBeancount(file)),
  ofx: (file) => {
    const { transactions, balance } = readStatement(file);
    const walletCents = sum(transactions.map(({ TRNAMT = '' }) => cents(TRNAMT)));
    expect(cents(balance)).toBe(walletCents);
    return { ids: transactions.map(({ FITID = '' }) => FITID), walletCents };
  },
  csv: (file) => {
    const rows: Record<string, string>[] = parse(readFileSync(file), { columns: true });
    const balances = new Map<string, number>();
    for (const { id = '', amount = '' } of rows) balances.set(id, (balances.get(id) ?? 0) + cents(amount));
    expect([...balances.values()].filter((rest) => rest !== 0)).toEqual([]);
    const own = rows.filter(({ account }) => account === wallet);
    return {
      ids: own.map(({ id = '' }) => id),
      walletCents: sum(own.map(({ amount = '' }) => cents(amount))),
    };
  },
};

const ofWallet = (found: ReturnType<typeof readByHledger>): Found => ({
  ids: found.map(({ id }) => id),
  walletCents: sum(found.map(({ amounts }) => cents(amounts[wallet] ?? '0'))),
});

describeWithBookkeepers('the books of 500 orders', () => {
  let workspace: Workspace;

  const out = (as: Format): string => join(workspace.folder, `books.${as}`);
  const write = async (as: Format, ...args: string[]) => {
    const command = ['spend', 'export', '--as', as, '--out', out(as), ...args, '-o', 'json'];
    const finished: Finished = await errand(workspace, command);
    expect(finished).toMatchObject({ code: 0 });
    return JSON.parse(finished.stdout);
  };
  const balance = async (): Promise<number> =>
    JSON.parse((await errand(workspace, ['wallet', '-o', 'json'])).stdout).balance;
  const must = async (line: string): Promise<string> => {
    const finished = await shell(workspace, line);
    expect(finished, `${line}\n${finished.stderr}`).toMatchObject({ code: 0 });
    return finished.stdout.trim();
  };

  beforeAll(async () => {
    workspace = makeWorkspace();
    await must("errand sandbox trigger wallet-funded --amount '$99,000'");
    const shop = (await must('errand sandbox products -o id | head -1')).replace(/[^/]+$/, '');
    const found = async (word: string, currency: string): Promise<string[]> =>
      JSON.parse(
        await must(`errand search ${word} --limit 20 -o json --query "[?currency_code=='${currency}'].url"`),
      ).slice(0, 3);
    const slugs = [
      'success',
      'out-of-stock',
      'cancelled-by-retailer',
      'two-packages',
      'price-exceeded',
      'slow',
    ];
    const dollars = [...slugs.map((slug) => `${shop}test-${slug}`), ...(await found('coffee', 'USD'))];
    const euros = await found('tee', 'EUR');
    const urls = [...dollars, ...euros];
    const rows = Array.from({ length: 496 }, (_, row) => {
      const url = urls[row % urls.length] ?? '';
      const to = euros.includes(url) ? 'Berlin,,10115,DE' : 'Austin,TX,78701,US';
      const hostile = `"PO-${row}; ""x"" |\u2028 \\","team ${row % 5}, date:2020-99-99 [=1/1] </MEMO>&"`;
      return `${url},${1 + (row % 3)},18000,Ada Byron,1 Main St,${to},5125550100,${hostile}`;
    });
    const headings =
      'product_url,quantity,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number,po_number,metadata.team';
    writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
    const batch = await must('errand bulk upload orders.csv -o id');
    // By then every row is due.
    await must('errand sandbox advance 30s');
    const status = (): Promise<string> => must(`errand bulk get ${batch} -o json --query status`);
    await vi.waitFor(async () => expect(await status()).toBe('"completed"'), hangsAfterMs);
    const slow = `errand order create --product ${shop}test-slow --max-price '$180' --ship-to home --new -o id`;
    for (let n = 0; n < 4; n += 1) await must(`${slow} | errand order cancel -`);
    await must('errand sandbox advance 1h');
  });
  afterAll(() => workspace.remove());

  test('every way that an order can end is among them', async () => {
    const ended = JSON.parse(await must("errand order list --all -o json --query '[].status'")) as string[];
    expect(ended).toHaveLength(500);
    expect(new Set(ended)).toEqual(
      new Set(['order_placed', 'order_failed', 'cancelled', 'cancelled_by_retailer']),
    );
  });

  test.each(formats)('%s reads them, and they come to what the wallet holds', async (as) => {
    const made = await write(as, ...opening);
    const found = read[as](out(as));
    expect(found.walletCents).toBe(await balance());
    expect(new Set(found.ids).size).toBe(made.added);
    expect(found.ids).toHaveLength(made.added);
    expect(made).toMatchObject({ orders: 500, there: 0, books_wallet_cents: made.wallet_cents });
  });

  test('what is there already is not written again, and what is new is added', async () => {
    const before = Object.fromEntries(formats.map((as) => [as, readFileSync(out(as), 'utf8')]));
    for (const as of formats) {
      expect(await write(as, ...opening)).toMatchObject({ added: 0 });
      expect(readFileSync(out(as), 'utf8')).toBe(before[as]);
    }
    // Adds four transactions: two credited returns and another order.
    const orders = (await must('errand order list --status order_placed --limit 2 -o id')).split('\n');
    for (const order of orders) await must(`errand return create --order ${order} --reason not_delivered`);
    await must(
      "errand order create --product $(errand sandbox products -o id | head -1) --max-price '$50' --ship-to home --new",
    );
    await must('errand sandbox advance 1h');
    for (const as of formats) {
      expect(await write(as)).toMatchObject({ added: 4, there: expect.any(Number) });
      const found = read[as](out(as));
      expect(found.walletCents).toBe(await balance());
      expect(new Set(found.ids).size).toBe(found.ids.length);
      expect(await write(as)).toMatchObject({ added: 0, there: found.ids.length });
    }
    const [hledger, beancount] = [read.hledger(out('hledger')), read.beancount(out('beancount'))];
    expect(hledger.ids.toSorted()).toEqual(beancount.ids.toSorted());
    for (const as of ['hledger', 'beancount', 'csv'] as const)
      expect(readFileSync(out(as), 'utf8').startsWith(before[as] ?? '?')).toBe(true);
  });

  test('killed at any moment, the file is what it was or what it was to be', async () => {
    const file = join(workspace.folder, 'killed.journal');
    const before = `${await must('errand spend export --as hledger --since 2000-01-01 --until 2000-01-01')}\n`;
    writeFileSync(file, before);
    const fast = readFileSync(out('hledger'), 'utf8').length;
    const seen = new Set<boolean>();
    for (const ms of [150, 250, 300, 350, 400, 450, 500, 550, 600, 700]) {
      await shell(
        workspace,
        `timeout -s KILL ${ms / 1000} errand spend export --as hledger --out ${file} -o json`,
      );
      const text = readFileSync(file, 'utf8');
      seen.add(text === before);
      if (text === before) continue;
      expect(text.length).toBeGreaterThan(fast / 2);
      expect(readByHledger(file).length).toBeGreaterThan(800);
    }
    expect(seen.has(true)).toBe(true);
    await must(
      `errand spend export --as hledger --out ${file} ${opening.map((word) => `'${word}'`).join(' ')}`,
    );
    expect(
      readByHledger(file)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(read.hledger(out('hledger')).ids.toSorted());
  });

  test('days of their own, written one by one, come to the same books', async () => {
    const file = join(workspace.folder, 'days.journal');
    const day = (await must('errand spend --by day -o json --query "[0].group"')).replaceAll('"', '');
    const only = ['spend', 'export', '--as', 'hledger', '--out', file, '-o', 'json'];
    const none = await errand(workspace, [...only, '--until', '2020-01-01']);
    expect(JSON.parse(none.stdout)).toMatchObject({ added: 0 });
    expect(readByHledger(file)).toEqual([]);
    await errand(workspace, [...only, '--since', day, '--until', day]);
    await errand(workspace, only);
    expect(
      readByHledger(file)
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(
      read
        .hledger(out('hledger'))
        .ids.filter((id) => !id.startsWith('opening'))
        .toSorted(),
    );
  });
});

describeWithBookkeepers('a file of books', () => {
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = makeWorkspace();
    await errand(workspace, ['wallet']);
  });
  afterAll(() => workspace.remove());

  const at = (name: string): string => join(workspace.folder, name);
  const to = (name: string, as = 'hledger', ...args: string[]) =>
    errand(workspace, ['spend', 'export', '--as', as, '--out', at(name), ...args]);

  test('a link leads to its file, whose mode stays', async () => {
    await to('real.journal');
    const made = readFileSync(at('real.journal'), 'utf8');
    symlinkSync(at('real.journal'), at('link.journal'));
    utimesSync(at('real.journal'), 1, 1);
    expect(await to('link.journal', 'hledger', '--opening-balance', '$1')).toMatchObject({ code: 0 });
    expect(readFileSync(at('real.journal'), 'utf8').startsWith(made)).toBe(true);
    expect(readByHledger(at('link.journal'))).toMatchObject([{ amounts: { [wallet]: '1.00' } }]);
    expect(statSync(at('real.journal')).mtimeMs).toBeGreaterThan(1000);
  });

  test('what is not its own is never touched', async () => {
    writeFileSync(at('mine.journal'), '2026-01-01 lunch\n  a  1\n  b\n');
    writeFileSync(at('binary'), Buffer.from([0xff, 0xfe, 0x00]));
    await to('books.beancount', 'beancount');
    const asOther = makeWorkspace();
    for (const [name, as, message] of [
      ['mine.journal', 'hledger', 'was not written by spend export'],
      ['mine.journal', 'ofx', 'was not written by spend export'],
      ['mine.journal', 'csv', 'does not begin with the headings that spend export --as csv writes'],
      ['books.beancount', 'hledger', 'was not written by spend export'],
      ['binary', 'beancount', 'is not UTF-8 text'],
      ['.', 'beancount', 'is not a file'],
      ['none/books', 'beancount', 'its folder is not there'],
      ['binary/books', 'beancount', 'its folder is a file'],
    ] as const) {
      const refused = await to(name, as);
      expect([refused.code, refused.stdout, refused.stderr]).toEqual([
        2,
        '',
        expect.stringContaining(message),
      ]);
    }
    const other = await errand(asOther, [
      'spend',
      'export',
      '--as',
      'beancount',
      '--out',
      at('books.beancount'),
    ]);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('belongs to another wallet')]);
    asOther.remove();
    expect(readFileSync(at('mine.journal'), 'utf8')).toMatch(/^2026-01-01 lunch\n/);
  });

  test('it stays as it is where the orders cannot be read to their end', async () => {
    await to('kept.journal', 'hledger', '--opening-balance', '$3');
    const before = readFileSync(at('kept.journal'), 'utf8');
    const far = { ERRAND_BASE_URL: 'http://127.0.0.1:9', ERRAND_API_KEY: 'xx_test_0123456789abcdef' };
    const failed = await errand({ ...workspace, environment: { ...workspace.environment, ...far } }, [
      ...['spend', 'export', '--as', 'hledger', '--out', at('kept.journal'), '--retries', '0'],
    ]);
    expect(failed.code).toBe(9);
    expect(readFileSync(at('kept.journal'), 'utf8')).toBe(before);
    expect(readdirSync(workspace.folder).filter((name) => name.includes('kept'))).toEqual(['kept.journal']);
  });

  test('one opening balance, once', async () => {
    await to('once.journal', 'hledger', '--opening-balance', '$5.00');
    expect(await to('once.journal', 'hledger', '--opening-balance-cents', '500')).toMatchObject({ code: 0 });
    const other = await to('once.journal', 'hledger', '--opening-balance', '$6.00');
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('begins with $5.00')]);
    expect(readByHledger(at('once.journal'))).toHaveLength(1);
  });

  test.each([
    [[], '--as is missing: one of hledger, beancount, ofx, csv'],
    [['--as', 'ledger'], '--as takes one of hledger, beancount, ofx, csv, not "ledger"'],
    [['--as', 'csv', '-o', 'json'], '--as says the format on stdout'],
    [['--as', 'csv', '--opening-balance', '1000'], '--opening-balance'],
  ])('%j is refused', async (args, message) => {
    const refused = await errand(workspace, ['spend', 'export', ...args]);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain(message);
  });
});

describeWithBookkeepers('books that somebody else has had', () => {
  let workspace: Workspace;
  const whole: Record<string, string> = {};
  beforeAll(async () => {
    workspace = makeWorkspace();
    const bought = await shell(
      workspace,
      "errand order create --product $(errand sandbox products -o id | head -1) --max-price '$50' --ship-to home --po-number 7 --watch --timeout 10m",
    );
    expect(bought).toMatchObject({ code: 0 });
    for (const as of formats) {
      const args = ['spend', 'export', '--as', as, '--out', at(as), '--opening-balance', '$1,000'];
      expect(await errand(workspace, args)).toMatchObject({ code: 0 });
      whole[as] = readFileSync(at(as), 'utf8');
    }
  });
  afterAll(() => workspace.remove());

  const at = (as: string): string => join(workspace.folder, `had.${as}`);
  const again = (as: string, text: string) => {
    writeFileSync(at(as), text);
    return errand(workspace, ['spend', 'export', '--as', as, '--out', at(as), '-o', 'json']);
  };

  test.each(formats)('%s that is cut off in an entry is refused with its line, and left', async (as) => {
    const text = whole[as] ?? '';
    const cut = text.slice(0, text.lastIndexOf('.fee.wallet.') + 24);
    const refused = await again(as, cut);
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toMatch(
      /had\.\w+, line \d+: .*(?:incomplete|ends in the middle).*remove it, and run again/,
    );
    expect(readFileSync(at(as), 'utf8')).toBe(cut);
  });

  test.each(['hledger', 'beancount'] as const)('%s cut off right after an id', async (as) => {
    const text = whole[as] ?? '';
    const refused = await again(as, text.slice(0, text.indexOf('\n', text.lastIndexOf('errand-id')) + 1));
    expect(refused.stderr).toMatch(/the fee of order \S+ is incomplete: it has no amounts/);
  });

  test.each(formats)('%s says what its entries hold, changed by hand or not', async (as) => {
    const changed = await again(as, (whole[as] ?? '').replaceAll('19.99', '25.99'));
    expect(changed.code).toBe(7);
    const made = JSON.parse(changed.stdout);
    expect(made).toMatchObject({ added: 0, there: 3 });
    expect(made.books_wallet_cents).toBe(made.wallet_cents - 600);
    const named =
      /^the charge of order \S+ brings Assets:Errand:Wallet -\$25\.99 where errand wrote -\$19\.99$/;
    expect(made.differences).toEqual([{ line: expect.any(Number), message: expect.stringMatching(named) }]);
    const shown = await errand(workspace, ['spend', 'export', '--as', as, '--out', at(as)]);
    expect([shown.code, shown.stderr]).toEqual([
      7,
      expect.stringMatching(/had\.\w+, line \d+: the charge of order \S+ brings/),
    ]);
    expect(shown.stdout).toContain('wallet by these entries');
    expect(readFileSync(at(as), 'utf8')).toContain('25.99');
    if (as !== 'ofx') expect(read[as](at(as)).walletCents).toBe(made.books_wallet_cents);
  });

  test.each(['hledger', 'beancount', 'csv', 'ofx'] as const)(
    '%s in the line ends of Windows is added to, and stays so',
    async (as) => {
      const windows = (whole[as] ?? '').replaceAll('\n', '\r\n');
      expect(JSON.parse((await again(as, windows)).stdout)).toMatchObject({
        added: 0,
        there: 3,
        differences: [],
      });
      expect(readFileSync(at(as), 'utf8')).toBe(windows);
      const none = await errand(workspace, [
        ...['spend', 'export', '--as', as, '--until', '2000-01-01', '--opening-balance', '$1,000'],
      ]);
      const opened = none.stdout.replaceAll('\n', '\r\n');
      expect(JSON.parse((await again(as, opened)).stdout)).toMatchObject({ added: 2, there: 1 });
      const text = readFileSync(at(as), 'utf8');
      expect(text.match(/(?<!\r)\n/g)).toBeNull();
      expect(read[as](at(as)).walletCents).toBe(97_901);
    },
  );

  test('a CSV that a spreadsheet has saved is read as it is', async () => {
    const quoted = (whole.csv ?? '').replaceAll(/^.*$/gm, (line) =>
      line === '' ? '' : `"${line.replaceAll('"', '').split(',').join('","')}"`,
    );
    const saved = `\ufeff${quoted.replaceAll('\n', '\r\n').replaceAll('1000.00', '1000')}`;
    expect(JSON.parse((await again('csv', saved)).stdout)).toMatchObject({
      added: 0,
      there: 3,
      differences: [],
    });
    const semicolons = await again('csv', (whole.csv ?? '').replaceAll(',', ';'));
    expect([semicolons.code, semicolons.stderr]).toEqual([
      2,
      expect.stringContaining(
        'does not begin with the headings that spend export --as csv writes, with commas',
      ),
    ]);
  });

  test('entries of one\u2019s own are told, and not counted', async () => {
    const own = `${whole.hledger}2026-11-01 mine\n    Assets:Errand:Wallet  5.00 USD\n    Income:Gift\n\naccount Income:Gift\n`;
    const made = JSON.parse((await again('hledger', own)).stdout);
    expect(made).toMatchObject({ added: 0, own_entries: 1, differences: [] });
    const shown = await errand(workspace, ['spend', 'export', '--as', 'hledger', '--out', at('hledger')]);
    expect(shown.stderr).toContain('1 entry of your own moves Assets:Errand:Wallet too');
    expect(read.hledger(at('hledger')).walletCents).toBe(made.books_wallet_cents + 500);
  });
});
