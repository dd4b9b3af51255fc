import type { Output } from '../../api/outputs/index.ts';
import { defineCommand } from '../../cli/define.ts';
import { formatMoney } from '../../format/money.ts';
import type { Column } from '../../format/result.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { isIdPart, WrittenEntries } from '../../spending/accounting/entries.ts';
import type { AccountingFormat } from '../../spending/accounting/files.ts';
import { readLedgerFile, replaceLedgerFile } from '../../spending/accounting/files.ts';
import {
  differenceNotes,
  differencesIn,
  existingEntries,
  leftOutNote,
  othersNote,
} from '../../spending/accounting/ledger.ts';
import { Collection, entriesOf, openingEntry } from '../../spending/accounting/order-entries.ts';
import { datesIn } from '../../spending/policy/policy.ts';
import { agentOrderNotes } from '../../spending/report/agent-orders.ts';
import { readRetailers, readWallet } from '../../spending/report/read.ts';
import { spanOf } from '../../spending/report/tally.ts';
import { reportZone } from '../../spending/report/time-zone.ts';
import { ordersOf, spanOptions } from './orders.ts';

const formats = ['hledger', 'beancount', 'ofx', 'csv'] as const;

const columns: readonly Column[] = [
  { name: 'file', path: 'file' },
  { name: 'entries added', path: 'added', kind: 'count' },
  { name: 'there already', path: 'there', kind: 'count' },
  { name: 'wallet by these entries', path: 'books_wallet_cents', kind: 'money' },
  { name: 'wallet at the service', path: 'wallet_cents', kind: 'money' },
];

export const exportAccounting = defineCommand({
  name: 'export',
  summary: 'Balanced entries of every order for hledger, beancount, OFX or a CSV',
  description:
    'Prices in their parts, fees, refunds and return credits. With --out, only missing entries are added, so you can run it every night; a credit that grew or was reversed becomes a new entry. Orders paid by a retailer account, a card, connect or in another currency are booked to separate accounts; OFX is a wallet statement and omits them. Purchases and fees have the date of the order, refunds and credits the date when the order last changed at the service. A file that is cut off is refused; an entry that somebody has changed is named, and left as it is.',
  options: {
    as: { kind: 'choice', values: formats, description: 'the program that reads it' },
    out: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'file to create, or to add missing entries to (default: all entries to stdout)',
    },
    openingBalance: { kind: 'money', description: 'what the wallet held before the first of these orders' },
    ...spanOptions,
  },
  examples: [
    {
      command: 'errand spend export --as hledger --out books.journal',
      note: 'then: hledger -f books.journal bal',
    },
    {
      command: "errand spend export --as beancount --opening-balance '$1,000.00' --out books.beancount",
      note: "so that the wallet's account is its balance",
    },
    {
      command: 'errand spend export --as csv --since 2026-11 --until 2026-11',
      note: 'one month, for a spreadsheet',
    },
  ],
  output: [
    { record: 'BooksFile', when: 'with --out' },
    { text: 'the entries in the format of --as', when: 'without it' },
  ],
  operations: ['order.list', 'wallet.get', 'retailer.list'],
  exitCodes: { 7: 'written, but an amount of an order is unknown or an entry was changed' },
  writesCsv: ({ as, out }) => as === 'csv' && out === undefined,
  related: ['spend show', 'wallet', 'audit log'],
  async run(context, { as, out, openingBalance, timeZone: zoneGiven, since, until }) {
    if (as === undefined) throw new UsageError(`--as is missing: one of ${formats.join(', ')}`);
    const { format: requested, fields, query } = context.output;
    if (out === undefined && (fields || query || (requested !== 'table' && requested !== 'csv')))
      throw new UsageError(`--as says the format on stdout; -o, --fields and --query go with --out`);
    const { timeZone, note } = await reportZone(context, zoneGiven);
    const span = spanOf({ since, until }, timeZone, context.serviceClock.now());
    const file = out === undefined ? undefined : readLedgerFile(out);
    const { id, feeCents, balance } = await readWallet(context);
    const wallet = isIdPart(id) ? id : 'wallet';
    const accounting = { wallet, now: context.serviceClock.now() };
    const format = await formatNamed(as, wallet, context);
    const found =
      out === undefined || file?.text === undefined
        ? undefined
        : existingEntries(out, file.text, format, wallet);
    const written = new WrittenEntries();
    for (const entry of found?.entries ?? []) written.take(entry);
    const there = written.ids.size;
    const differences = differencesIn(found?.entries ?? []);
    if (openingBalance !== undefined && written.opening !== undefined && written.opening !== openingBalance)
      throw new UsageError(
        `--opening-balance: ${out} begins with ${formatMoney(written.opening)}; leave it out, or begin another file`,
      );
    const retailers = await readRetailers(await context.client());
    const dateAt = datesIn(timeZone);
    const collection = new Collection(format, written);
    let [orders, incomplete] = [0, 0];
    for await (const order of ordersOf(context, span)) {
      const lacking = entriesOf(order, { written, feeCents, retailers, dateAt });
      orders += 1;
      if (!lacking.isComplete) incomplete += 1;
      for (const entry of lacking.entries) collection.add(entry);
    }
    if (openingBalance !== undefined && written.opening === undefined) {
      const at = Math.min(
        collection.firstAt ?? accounting.now,
        span.since ? Date.parse(span.since) : accounting.now,
      );
      collection.add(openingEntry(openingBalance, at, dateAt(at)));
    }
    const { count } = collection;
    const exitCode = incomplete > 0 || differences.length > 0 ? 7 : 0;
    const notes = [
      ...(await agentOrderNotes(context, span)),
      ...(incomplete > 0
        ? [`${incomplete} of ${orders} orders do not say all their amounts; what they say is written`]
        : []),
      ...(collection.leftOut > 0 ? [leftOutNote(collection.leftOut)] : []),
      ...differenceNotes(out ?? '', differences),
      ...(found && found.others > 0 ? [othersNote(found.others)] : []),
      note,
    ];
    const held = { ...accounting, balance: balance ?? written.walletCents };
    const text = format.assemble(held, file?.text, collection.rendered());
    if (out === undefined || file === undefined) {
      await context.log(notes);
      return { kind: 'stream', chunks: text, isCsv: as === 'csv', exitCode: () => exitCode };
    }
    if (count > 0 || file.text === undefined) await replaceLedgerFile(file, text);
    const record: Output<'BooksFile'> = {
      ...{ file: out, as, orders, added: count, there, left_out: collection.leftOut },
      differences: differences.map(({ line, message }) => ({ line, message })),
      ...{ own_entries: found?.others ?? 0, books_wallet_cents: written.walletCents },
      wallet_cents: balance ?? null,
    };
    return { kind: 'record', record, columns, id: 'file', hints: notes, exitCode };
  },
});

async function formatNamed(
  as: (typeof formats)[number],
  wallet: string,
  { output: { rawCsv = false } }: Context,
): Promise<AccountingFormat> {
  switch (as) {
    case 'hledger':
      return (await import('../../spending/accounting/hledger.ts')).hledger;
    case 'beancount':
      return (await import('../../spending/accounting/beancount.ts')).beancount;
    case 'ofx':
      return (await import('../../spending/accounting/ofx.ts')).ofx;
    case 'csv':
      return (await import('../../spending/accounting/csv.ts')).csvAccounting(wallet, rawCsv);
  }
}
