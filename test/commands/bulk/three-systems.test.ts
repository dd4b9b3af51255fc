import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { makeKey } from '../../support/approval-workspace.ts';
import { begin, type Finished } from '../../support/run.ts';
import { type Shopping, shopping } from '../../support/shopping.ts';
import { zipOf } from '../../support/zip.ts';

/** A row of a CSV, by its headings. */
type Cells = Readonly<Record<string, string>>;

interface Listing {
  readonly url: string;
  readonly retailer: string;
  readonly price: number;
}

/** One day of an operator who orders what three systems export, without a tool between errand and their files. */
class Day {
  readonly shop: Shopping;
  readonly #listings: readonly Listing[];
  /** What the wallet has lost by now, cents. */
  spent = 0;

  private constructor(shop: Shopping, listings: readonly Listing[]) {
    this.shop = shop;
    this.#listings = listings;
  }

  static async begin(): Promise<Day> {
    const shop = await shopping();
    const { stdout } = await shop.run('search', 'tea', '--limit', '100', '-o', 'json');
    const listings: Listing[] = JSON.parse(stdout);
    return new Day(
      shop,
      listings.filter(({ price }) => price < 2000),
    );
  }

  file = (name: string): string => join(this.shop.workspace.folder, name);
  read = (name: string): string => readFileSync(this.file(name), 'utf8');
  write = (name: string, content: string | Buffer): void => writeFileSync(this.file(name), content);
  run = (line: string, ...more: string[]): Promise<Finished> => this.shop.run(...line.split(' '), ...more);

  /** Runs a command that must end with a code. */
  async does(code: number, line: string, ...more: string[]): Promise<Finished> {
    const ended = await this.run(line, ...more);
    expect(ended.code, `${line}: ${ended.stderr}`).toBe(code);
    return ended;
  }

  /** The JSON of a command. */
  async json(line: string, ...more: string[]) {
    return JSON.parse((await this.run(line, ...more, '-o', 'json')).stdout);
  }

  listing(at: number, retailer?: string): Listing {
    const from = this.#listings.filter((one) => retailer === undefined || one.retailer === retailer);
    return from[at % from.length] ?? expect.fail('nothing is listed');
  }

  /** Lets everything arrive that was ordered. */
  async arrives(name: string): Promise<Finished> {
    this.shop.service.pass(60_000);
    return this.run(`bulk watch ${name} --timeout 1m`);
  }

  /** What the reports, the spend, the books and the wallet say, which must be the same to the cent. */
  async sums(names: string): Promise<number> {
    const sum = (rows: readonly Cells[]): number =>
      rows.reduce((cents, row) => cents + Number(row.from_wallet_cents ?? 0), 0);
    const results = [];
    for (const name of names.split(' ')) results.push(...parsed(await this.does(0, `bulk results ${name}`)));
    const { net_cents: net } = (await this.json('spend')).at(-1);
    const { balance } = (await this.shop.service.send('GET', '/wallet/me')).body;
    expect(sum(results)).toBe(net);
    expect(100_000 - balance).toBe(net);
    const books = await this.json(
      'spend export --as hledger --opening-balance $1,000.00 --out books.journal --utc',
    );
    expect(books.books_wallet_cents).toBe(books.wallet_cents);
    expect((await this.json('reconcile')).findings).toEqual([]);
    return net;
  }
}

const parsed = ({ stdout }: Pick<Finished, 'stdout'>): Cells[] => parse(stdout, { columns: true, bom: true });

const places = [
  ['Austin', 'TX', '78701'],
  ['Boston', 'MA', '02134'],
  ['Newark', 'NJ', '07102'],
] as const;
const placeOf = (at: number) => places[at % places.length] ?? places[0];
const centres = ['4100', '4200'] as const;

/** Six rows of a German ERP: semicolons, Latin 1, comma decimals, dates with dots. */
function erp(day: Day): Buffer {
  const rows = Array.from({ length: 6 }, (_, at) => {
    const { url, price } = day.listing(at);
    const [city, state, zip] = placeOf(at);
    const limit = ((price + 900) / 100).toFixed(2).replace('.', ',');
    return [`B-${at + 1}`, url, 1, limit, 'Zoë Groß', `${at + 1} Main St`, zip, city, state, 'USA'].concat([
      `512555010${at}`,
      centres[at % 2] ?? '',
      `0${at + 1}.12.2026`,
    ]);
  });
  const headings =
    'Bestell-Nr;Artikel-URL;Menge;Höchstpreis;Empfänger;Straße;PLZ;Ort;Bundesstaat;Land;Telefon;Kostenstelle;Lieferdatum';
  return Buffer.from([headings, ...rows.map((row) => row.join(';')), ''].join('\r\n'), 'latin1');
}

const requisitionHeadings =
  'Requisition No,Line,Item Link,Qty,Limit (USD),Ship To Name,Ship To Street,Apt,Ship To City,Ship To State,ZIP Code,Phone,Cost Centre,Needed By';

/** Twelve rows of a procurement system: a title above the headings, amounts with a sign, two lines a requisition. */
function requisitions(day: Day): string[][] {
  return Array.from({ length: 12 }, (_, at) => {
    const { url, price } = day.listing(at + 6);
    const [city, state, zip] = placeOf(at);
    return [
      ...[`R-${50 + Math.floor(at / 2)}`, String(1 + (at % 2)), url, '1'],
      ...[`$${((price + 1200) / 100).toFixed(2)}`, 'Ada Byron', `${at + 1} Cedar Row`, at % 4 ? '' : 'Apt 4'],
      ...[city, state, zip, `(512) 555-02${String(at).padStart(2, '0')}`],
      ...[centres[at % 2] ?? '', '12/24/2026'],
    ];
  });
}
const requisitionFile = (rows: readonly string[][]): string =>
  ['\uFEFFProcurement export', '', requisitionHeadings, ...rows.map((row) => row.join(',')), ''].join('\r\n');

/** Four rows of a help desk: a workbook with a title in merged cells, dates, dollars and ZIP codes by their format. */
function helpDesk(day: Day): Buffer {
  const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
  const number = (value: number, style: number): string => `<c s="${style}"><v>${value}</v></c>`;
  const headings = ['Ticket', 'Product page', 'Units', 'Max', 'Customer', 'Address', 'City', 'State'].concat([
    'Postal code',
    'Mobile',
    'Cost center',
    'Opened',
  ]);
  const rows = Array.from({ length: 4 }, (_, at) => {
    const { url, price } = day.listing(at, at < 2 ? 'harborgoods' : 'pantryfolk');
    const [city, state, zip] = placeOf(at);
    return [
      ...[text(`T-${at + 1}`), text(url), number(1, 0), number((price + 1000) / 100, 1)],
      ...['Omar Quint', `${at + 1} Oak Blvd`, city, state].map(text),
      ...[number(Number(zip), 2), number(5125550300 + at, 0), number(4100, 0), number(46_357, 3)],
    ].join('');
  });
  const sheet = [text('Help desk'), '', headings.map(text).join(''), ...rows]
    .map((row, at) => `<row r="${at + 1}">${row}</row>`)
    .join('');
  return zipOf({
    '_rels/.rels':
      '<Relationships><Relationship Id="r" Type="http://x/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    'xl/workbook.xml':
      '<workbook xmlns:r="http://r"><sheets><sheet name="Tickets" sheetId="1" r:id="a"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="a" Type="http://x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="s" Type="http://x/styles" Target="styles.xml"/></Relationships>',
    'xl/styles.xml':
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="&quot;$&quot;#,##0.00"/><numFmt numFmtId="165" formatCode="00000"/><numFmt numFmtId="166" formatCode="mm/dd/yyyy"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/></cellXfs></styleSheet>',
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${sheet}</sheetData><mergeCells count="1"><mergeCell ref="A1:F1"/></mergeCells></worksheet>`,
  });
}

/** The flags that the message about a file's headings suggests, as a person would copy them. */
function suggested({ stderr }: Finished): string[] {
  const line = /hint: Perhaps (.*?): look whether each is meant/.exec(stderr)?.[1] ?? '';
  return [...line.matchAll(/--map (?:'([^']*)'|(\S+))/g)].flatMap(([, quoted, plain]) => [
    '--map',
    quoted ?? plain ?? '',
  ]);
}

test('a day of an operator with the files of three systems', async () => {
  const day = await Day.begin();
  const { shop, does } = { shop: day.shop, does: day.does.bind(day) };
  const rows = requisitions(day);
  day.write('erp.csv', erp(day));
  day.write('requisitions.csv', requisitionFile(rows));
  day.write('tickets.xlsx', helpDesk(day));

  // What each heading is, said once and saved.
  const reading: [string, string, ...string[]][] = [
    ['erp.csv', 'erp', '--encoding', 'latin1', '--locale', 'de', '--reference-column', 'Bestell-Nr'],
    ['requisitions.csv', 'procurement', '--reference-column', 'Requisition No,Line'],
    ['tickets.xlsx', 'desk', '--reference-column', 'Ticket'],
  ];
  for (const [file, name, ...flags] of reading) {
    const maps = suggested(await does(2, `bulk validate ${file}`, ...flags));
    const centre =
      file === 'erp.csv' ? 'Kostenstelle' : file === 'tickets.xlsx' ? 'Cost center' : 'Cost Centre';
    const own = ['--map', `${centre}=metadata.cost_centre`, '--namespace', name, '--save-map', name];
    const checked = await does(0, `bulk validate ${file}`, ...flags, ...maps, ...own);
    expect(checked.stderr).toContain('nothing is wrong');
  }

  // A policy, the plans, and a second person's yes.
  const key = makeKey(shop.workspace, 'boss');
  day.write(
    'policy.yaml',
    'version: 1\nlimits: { per_order: $100, per_day: $900 }\napprove: { above: $90, upload_above: $100 }\napprovers: [boss.pub]\n',
  );
  shop.workspace.environment.ERRAND_POLICY = day.file('policy.yaml');
  const files = [
    ['erp.csv', 'erp'],
    ['requisitions.csv', 'procurement', '--batch-size', '2'],
    ['tickets.xlsx', 'desk'],
  ] as const;
  for (const [file, map, ...flags] of files) {
    const plan = await day.run(`bulk plan ${file} --use-map ${map} --out ${map}.plan`, ...flags);
    expect(plan.stderr).toMatch(/^prices today: \$[\d.]+ for \d+ orders$/m);
    expect(plan.stderr).not.toContain('unknown retailer');
    expect(plan.stderr).not.toContain('by metadata.errand_reference');
    const [, id] = /^approve: errand approval show (\S+)$/m.exec(plan.stderr) ?? [];
    expect([plan.code, id === undefined]).toEqual(map === 'desk' ? [0, true] : [11, false]);
    if (id === undefined) continue;
    expect((await day.run(`bulk apply ${map}.plan`)).code).toBe(11);
    await does(0, `approval approve ${id} --key ${key}`);
  }

  // Two are applied; the third is killed on the way, and goes on from another terminal.
  for (const map of ['erp', 'desk']) await does(0, `bulk apply ${map}.plan`);
  const child = begin(shop.workspace, 'errand', ['bulk', 'apply', 'procurement.plan']);
  let made = 0;
  shop.losses.onMoment = (moment) => {
    if (moment === 'work-done' && ++made === 3) child.kill('SIGKILL');
  };
  await new Promise((resolve) => child.once('close', resolve));
  shop.losses.onMoment = () => {};
  await does(0, 'bulk resume requisitions');
  expect((await day.arrives('requisitions erp tickets')).stderr).toContain('22 orders: 22 placed');
  expect(await shop.orders()).toHaveLength(22);
  await day.sums('requisitions erp tickets');

  // The results stand in the order of the file, and every cost centre has its money.
  const results = parsed(await does(0, 'bulk results requisitions'));
  expect(results.map((row) => [row['Requisition No'], row.Line])).toEqual(
    rows.map(([no, line]) => [no, line]),
  );
  await does(0, 'bulk results tickets --xlsx results.xlsx');
  const centresOf = await day.json('bulk report requisitions erp tickets --by metadata.cost_centre');
  expect(centresOf.reduce((cents: number, { net_cents: net }: { net_cents: number }) => cents + net, 0)).toBe(
    await day.sums('requisitions erp tickets'),
  );

  // The same file by mistake.
  const again = await does(0, 'bulk upload erp.csv --use-map erp');
  expect(again.stderr).toContain('0 new; 6 placed already');

  // Two rows of a new file fail; they are corrected in the original, which is sent again.
  const more = rows.map((row, at) => [`S-${at}`, ...row.slice(1)]).slice(0, 4);
  const failing = more.map((row, at) =>
    at < 2 ? row.with(2, shop.service.product('test-out-of-stock')) : row,
  );
  day.write('more.csv', requisitionFile(failing));
  await does(0, 'bulk upload more.csv --use-map procurement --skip-duplicates');
  expect(await day.arrives('more')).toMatchObject({ code: 7 });
  day.write(
    'more.csv',
    requisitionFile(
      failing.map((row, at) =>
        at < 2 ? row.with(2, shop.service.product('test-success')).with(4, '$40.00') : row,
      ),
    ),
  );
  const corrected = await does(0, 'bulk upload more.csv --use-map procurement --skip-duplicates');
  expect(corrected.stderr).toContain('2 new, of them 2 failed before; 2 placed already');
  expect((await day.arrives('more')).code).toBe(0);

  // A row whose order is there says what differs, and what to do.
  day.write('requisitions.csv', requisitionFile(rows.map((row, at) => (at === 0 ? row.with(3, '2') : row))));
  const differs = await does(5, 'bulk upload requisitions.csv --use-map procurement');
  expect(differs.stderr).toMatch(/row 4 as order \S+ .*products\.0\.quantity: requested 2, exists 1/);
  expect(differs.stderr).toContain('once it is cancelled, or all of it returned, --again orders the row');

  // Returns from a file, by reference.
  const back = rows.slice(4, 7).map(([no, line]) => `${no}/${line},damaged`);
  day.write('returns.csv', ['reference,reason', ...back, ''].join('\n'));
  expect((await does(7, 'bulk return returns.csv')).stderr).toContain('--namespace NAME');
  const shown = await does(0, 'bulk return returns.csv --namespace procurement --dry-run');
  expect(shown.stderr).toMatch(/^returns\.csv: 3 rows, 3 units to return, of orders charged \$[\d.]+$/m);
  for (const outcome of ['requested', 'was_requested']) {
    const asked = await day.json('bulk return returns.csv --namespace procurement');
    expect(asked.map((row: { outcome: string }) => row.outcome)).toEqual(Array(3).fill(outcome));
  }

  // One supplier's orders of an upload are cancelled while they are pending, then the rest is undone.
  const late = rows.slice(0, 4).map((row, at) => {
    const { url } = day.listing(at, at % 2 ? 'pantryfolk' : 'harborgoods');
    return [`U-${at}`, ...row.slice(1)].with(2, url).with(6, `${at} Late Road`);
  });
  day.write('late.csv', requisitionFile(late));
  await does(0, 'bulk upload late.csv --use-map procurement');
  const before = (await shop.orders()).length;
  while ((await shop.orders()).length < before + 4) shop.service.pass(100);
  const cancelled = await day.json('bulk cancel late --only pantryfolk');
  expect(cancelled.map(({ row, outcome }: { row: number; outcome: string }) => [row, outcome])).toEqual([
    [5, 'cancelled'],
    [7, 'cancelled'],
  ]);
  const undone = await day.json('undo late');
  expect(undone.map(({ outcome }: { outcome: string }) => outcome)).toEqual(
    Array.from({ length: 4 }, (_, at) => (at % 2 ? 'was_cancelled' : 'cancelled')),
  );

  // Evening: all of it adds up, and nothing in the chain was changed.
  await day.sums('requisitions erp tickets more late');
  await does(0, 'audit verify');
});
